//! Recordings of real clients against a scripted server, one scenario each, with what must and must not be said
//! of them: `tests/captures/expected.json`.

use crate::common;
use rayon::prelude::*;
use retrylens::model::Severity;
use retrylens::report::Report;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What must be found even when a log names no call and no attempt.
const FOUND_WITHOUT_IDS: [&str; 5] = ["RL101", "RL104", "RL107", "RL301", "RL401"];

fn expected() -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(common::repo("tests/captures/expected.json")).unwrap();
    let Value::Object(all) = serde_json::from_str(&text).unwrap() else { panic!("an object") };
    all.into_iter().collect()
}

fn list<'v>(expected: &'v Value, key: &str) -> Vec<&'v str> {
    expected[key].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect()
}

fn severity(name: &str) -> Severity {
    match name {
        "info" => Severity::Info,
        "warning" => Severity::Warning,
        "error" => Severity::Error,
        other => panic!("no severity {other}"),
    }
}

/// What is wrong with the verdict on one capture.
fn shortcomings(expected: &Value, report: &Report, stripped: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let found: Vec<&str> = report.findings.iter().map(|finding| finding.rule).collect();
    for code in list(expected, "must") {
        if !found.contains(&code) && (!stripped || FOUND_WITHOUT_IDS.contains(&code)) {
            wrong.push(format!("missing {code}"));
        }
    }
    let any = list(expected, "must_any");
    if !any.is_empty() && !any.iter().any(|code| found.contains(code)) {
        wrong.push(format!("none of {any:?}"));
    }
    for code in list(expected, "must_not") {
        if found.contains(&code) {
            wrong.push(format!("false {code}"));
        }
    }
    if let Some(limit) = expected.get("no_finding_above") {
        let limit = severity(limit.as_str().unwrap());
        let loud: Vec<&str> =
            report.findings.iter().filter(|finding| finding.severity > limit).map(|finding| finding.rule).collect();
        if !loud.is_empty() {
            wrong.push(format!("healthy, yet {loud:?}"));
        }
    }
    let ledger = &report.ledger;
    if Some(ledger.attempts) != expected["attempts"].as_u64() {
        wrong.push(format!("{} attempts, expected {}", ledger.attempts, expected["attempts"]));
    }
    if ledger.lines
        != ledger.attempts + ledger.skipped + ledger.rejected + ledger.blank + ledger.duplicates + ledger.views
    {
        wrong.push(format!("the ledger does not balance: {ledger:?}"));
    }
    let calls = match expected.get("calls_stripped") {
        Some(calls) if stripped => calls,
        _ => &expected["calls"],
    };
    if Some(report.totals.calls) != calls.as_u64() {
        wrong.push(format!("{} calls, expected {calls}", report.totals.calls));
    }
    wrong
}

/// The capture without what names its call and counts its attempts.
fn without_ids(capture: &Path, folder: &Path) -> PathBuf {
    let path = folder.join(capture.file_name().unwrap());
    let lines = std::fs::read_to_string(capture).unwrap().lines().fold(String::new(), |mut text, line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let record_map = record.as_object_mut().unwrap();
        record_map.remove("call_id");
        record_map.remove("attempt");
        text.push_str(&record.to_string());
        text.push('\n');
        text
    });
    std::fs::write(&path, lines).unwrap();
    path
}

fn fail_with(wrong: Vec<String>, all: usize) {
    assert!(wrong.is_empty(), "{} of {all} captures fall short:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_capture_is_expected_and_the_other_way_round() {
    let named: Vec<String> = expected().into_iter().map(|(name, _)| name).collect();
    let mut there: Vec<String> = common::logs_in("tests/captures")
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    there.retain(|name| !named.contains(name));
    assert!(there.is_empty(), "captures nothing is expected of: {there:?}");
    assert!(named.len() > 90);
}

#[test]
fn captures_are_judged_right() {
    let all = expected();
    let mut wrong = Vec::new();
    for (name, expected) in &all {
        let report = common::report(&[common::repo("tests/captures").join(name)]);
        let reasons = shortcomings(expected, &report, false);
        if !reasons.is_empty() {
            wrong.push(format!("{name}: {}", reasons.join("; ")));
        }
    }
    fail_with(wrong, all.len());
}

#[test]
fn captures_are_judged_right_without_call_ids() {
    let folder = tempfile::tempdir().unwrap();
    let one_call = |e: &Value| e["calls"] == 1 && e["attempts"] != 0 && e["needs_ids"] != true;
    let all: Vec<_> = expected().into_iter().filter(|(_, e)| one_call(e)).collect();
    let mut wrong = Vec::new();
    for (name, expected) in &all {
        let path = without_ids(&common::repo("tests/captures").join(name), folder.path());
        let report = common::report(&[path]);
        let reasons = shortcomings(expected, &report, true);
        if !reasons.is_empty() {
            wrong.push(format!("{name}: {}", reasons.join("; ")));
        }
    }
    assert!(all.len() > 80);
    fail_with(wrong, all.len());
}

#[test]
fn exit_codes_follow_from_the_worst_finding() {
    let all = expected();
    let wrong: Vec<String> = all
        .par_iter()
        .filter_map(|(name, expected)| {
            let ran = common::finish(
                common::program()
                    .args(["analyze", "--complete", "--threads", "1", "--format", "json"])
                    .arg(common::repo("tests/captures").join(name)),
            );
            let wanted = if expected["attempts"] == 0 {
                3
            } else {
                let report = ran.json();
                i32::from(report["findings"].as_array().unwrap().iter().any(|finding| finding["severity"] == "error"))
            };
            (ran.code != wanted).then(|| format!("{name}: exit {}, expected {wanted}", ran.code))
        })
        .collect();
    fail_with(wrong, all.len());
}
