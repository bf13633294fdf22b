//! JUnit: read back by a parser; calls are cases, attempts before a success are flaky failures.

use crate::common;
use quick_junit::{FlakyOrRerun, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

fn junit(arguments: &[&str]) -> Report {
    let arguments = [&["analyze", "--format", "junit"], arguments].concat();
    let ran = common::run_in(&common::repo(""), &arguments);
    Report::deserialize_from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{}", ran.stdout))
}

fn suite<'r>(report: &'r Report, name: &str) -> &'r TestSuite {
    report.test_suites.iter().find(|suite| suite.name.as_str() == name).unwrap_or_else(|| panic!("no suite {name}"))
}

fn case<'s>(suite: &'s TestSuite, name: &str) -> &'s TestCase {
    suite.test_cases.iter().find(|case| case.name.as_str() == name).unwrap_or_else(|| panic!("no case {name}"))
}

#[test]
fn counts_add_up() {
    for folder in ["samples", "tests/captures", "tests/cases"] {
        let report = junit(&[folder]);
        let json = common::json(&common::report(&common::logs_in(folder)));
        assert_eq!(report.test_suites.len() as u64, json["totals"]["runs"].as_u64().unwrap() + 1, "{folder}");
        assert_eq!(report.tests, report.test_suites.iter().map(|suite| suite.test_cases.len()).sum::<usize>());
        let failures = |suite: &TestSuite| {
            suite.test_cases.iter().filter(|case| matches!(case.status, TestCaseStatus::NonSuccess { .. })).count()
        };
        for suite in &report.test_suites {
            assert_eq!(suite.failures, failures(suite), "{folder}: {}", suite.name.as_str());
        }
    }
}

#[test]
fn a_failed_call_fails_with_its_class_and_its_earlier_attempts() {
    let report = junit(&["samples/spend-cap-retried.jsonl"]);
    let suite = suite(&report, "run-d76a85de37");
    let case = case(suite, "run-d76a85de37-c001");
    assert_eq!(case.time, Some(Duration::from_millis(1283)));
    let TestCaseStatus::NonSuccess { message, ty, reruns, .. } = &case.status else { panic!("{case:#?}") };
    assert_eq!(ty.as_ref().unwrap().as_str(), "spend_cap");
    assert_eq!(
        message.as_ref().unwrap().as_str(),
        "the call failed after 3 attempts: attempt 3, status 429, spend_cap"
    );
    assert_eq!((reruns.kind, reruns.runs.len()), (FlakyOrRerun::Rerun, 2));
    assert!(case.system_out.as_ref().unwrap().as_str().starts_with("error RL101 spend-cap-retried: "));
}

/// A call that succeeded in the end, and whose only fault is no failure of the night.
#[test]
fn earlier_attempts_of_a_success_are_flaky() {
    let arguments = ["samples/hint-of-90s-discarded.jsonl", "--complete"];
    let report = junit(&[&arguments[..], &["--fail-on", "never"]].concat());
    let passed = case(suite(&report, "run-421185bace"), "run-421185bace-c001");
    let TestCaseStatus::Success { flaky_runs } = &passed.status else { panic!("{passed:#?}") };
    assert_eq!(flaky_runs.len(), 1);
    assert_eq!(flaky_runs[0].ty.as_ref().unwrap().as_str(), "rate_limited");
    // By default the same finding fails it, as it fails the program.
    let report = junit(&arguments);
    let failed = case(suite(&report, "run-421185bace"), "run-421185bace-c001");
    let TestCaseStatus::NonSuccess { ty, .. } = &failed.status else { panic!("{failed:#?}") };
    assert_eq!(ty.as_ref().unwrap().as_str(), "RL301 retry-before-retry-after");
}

#[test]
fn calls_that_are_not_listed_are_counted() {
    let report = junit(&["samples/headroom-drain.jsonl"]);
    let suite = suite(&report, "run-838e7b905f");
    assert!(suite.test_cases.iter().any(|case| case.name.as_str() == "66 calls without a finding listed here"));
    assert_eq!(suite.properties.iter().find(|one| one.name.as_str() == "calls").unwrap().value.as_str(), "66");
    assert!(self::suite(&report, "retrylens").test_cases.iter().any(|case| {
        case.name.as_str().starts_with("RL503 headroom-drained")
            && matches!(case.status, TestCaseStatus::NonSuccess { .. })
    }));
}

#[test]
fn what_xml_cannot_hold_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let line = |attempt: u32| {
        serde_json::json!({
            "ts": format!("2026-01-05T10:00:0{attempt}Z"), "run_id": "r\u{0}\u{1b}[31m<&\">]]>", "call_id": "c\u{8}",
            "attempt": attempt, "status": 400, "error_type": "invalid_request_error", "request_id": "\u{fffe}",
        })
    };
    std::fs::write(folder.path().join("a.jsonl"), format!("{}\n{}\n", line(1), line(2))).unwrap();
    let path = folder.path().join("a.jsonl").display().to_string();
    let report = junit(&[&path]);
    assert_eq!(report.test_suites[0].name.as_str(), "r␀␛[31m<&\">]]>");
}

#[test]
fn a_long_log_is_folded() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = String::new();
    for n in 0..700 {
        for attempt in 1..=2 {
            let line = serde_json::json!({
                "ts": 1_767_607_200 + n * 10 + attempt, "run_id": format!("run-{n}"), "call_id": format!("c{n}"),
                "attempt": attempt, "status": 401, "error_type": "authentication_error",
            });
            log.push_str(&format!("{line}\n"));
        }
    }
    std::fs::write(folder.path().join("a.jsonl"), log).unwrap();
    let path = folder.path().join("a.jsonl").display().to_string();
    let report = junit(&[&path]);
    assert_eq!(report.test_suites.len(), 501);
    let fleet = suite(&report, "retrylens");
    let further = case(fleet, "200 further runs, not listed");
    let TestCaseStatus::NonSuccess { message, .. } = &further.status else { panic!("{further:#?}") };
    assert_eq!(message.as_ref().unwrap().as_str(), "200 of 200 calls failed");
    assert!(fleet.system_out.as_ref().unwrap().as_str().contains("more findings not listed here"));
}
