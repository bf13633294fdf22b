//! The JSON report is a contract: `docs/report.schema.json` says what others may build on.

use crate::common;
use crate::common::schema::{assert_valid, closed, schema};
use serde_json::{Value, json};

/// The schema as others use it.
fn published() -> jsonschema::Validator {
    jsonschema::validator_for(&schema("report")).expect("a schema")
}

fn sample_report() -> Value {
    common::json(&common::report(&common::samples()))
}

/// Every path the contract names: `a.b` inside objects, `a[].b` in each element of a list.
const CONTRACT: &[&str] = &[
    "schema_version",
    "ledger.lines",
    "ledger.attempts",
    "ledger.skipped",
    "ledger.rejected",
    "ledger.blank",
    "ledger.duplicates",
    "totals.calls",
    "totals.runs",
    "totals.retries",
    "totals.amplification",
    "totals.wasted_sends",
    "totals.wait_s",
    "totals.green_runs",
    "totals.green_runs_with_retries",
    "totals.suppressed",
    "notices",
    "problems[].known",
    "findings[].rule",
    "findings[].name",
    "findings[].severity",
    "findings[].confidence",
    "findings[].message",
    "findings[].run_id",
    "findings[].call_id",
    "findings[].call.outcome",
    "findings[].call.attempts",
    "findings[].call.elapsed_s",
    "problems_hidden",
    "baseline",
    "findings[].attempts[].file",
    "findings[].attempts[].line",
    "findings[].attempts[].request_id",
    "findings[].attempts[].attempt",
    "findings[].attempts[].ts",
    "findings[].evidence",
    "findings[].cost.sends",
    "findings[].cost.wait_s",
    "findings[].cost.tokens",
    "findings[].cost.usd",
    "findings[].fix",
    "runs[].run_id",
    "runs[].calls",
    "runs[].attempts",
    "runs[].histogram",
    "runs[].outcome",
    "headroom",
    "coverage",
];

/// Removes what `path` names, once, and says whether it was there.
fn remove(value: &mut Value, path: &str) -> bool {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    match (head.strip_suffix("[]"), rest) {
        (Some(list), Some(rest)) => value
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .is_some_and(|elements| elements.iter_mut().any(|element| remove(element, rest))),
        (None, Some(rest)) => value.get_mut(head).is_some_and(|inner| remove(inner, rest)),
        (_, None) => value.as_object_mut().is_some_and(|map| map.remove(head).is_some()),
    }
}

/// Reports of what every client and shipper writes, of broken logs, of one without an attempt, and of all samples.
#[test]
fn reports_have_the_keys_of_the_schema_and_no_others() {
    let schema = closed(schema("report"));
    let mut logs = vec![common::samples()];
    for folder in ["samples", "tests/captures", "tests/cases", "tests/loggers", "tests/odd"] {
        logs.extend(common::logs_in(folder).into_iter().map(|log| vec![log]));
    }
    for format in std::fs::read_dir(common::repo("tests/formats")).unwrap() {
        logs.extend(std::fs::read_dir(format.unwrap().path()).unwrap().map(|log| vec![log.unwrap().path()]));
    }
    assert!(logs.len() > 100, "{} reports", logs.len());
    for logs in logs {
        assert_valid(&schema, &common::json(&common::report(&logs)), &logs[0].display().to_string());
    }
}

/// What options add to a report.
#[test]
fn reports_of_the_program_have_the_keys_of_the_schema_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let (former, rules) = (folder.path().join("former.json"), folder.path().join("retrylens.toml"));
    let (output, baseline) = (format!("json={}", former.display()), former.display().to_string());
    common::run_in(&common::repo("samples"), &["analyze", "--output", &output, "two-loops-4x3.jsonl"]);
    std::fs::write(&rules, "[policy]\nmax_attempts = 3\n[[suppress]]\nrule = 'RL101'\nreason = 'known'\n").unwrap();
    let rules = rules.display().to_string();
    let schema = closed(schema("report"));
    for options in [
        &["--complete"][..],
        &["--complete", "--baseline", &baseline, "--title", "Night"],
        &["--anonymize", "--min-severity", "error"],
        &["--config", &rules, "--memory", "bounded"],
    ] {
        let ran = common::run_in(&common::repo(""), &[&["analyze", "--format", "json", "samples"], options].concat());
        assert_valid(&schema, &ran.json(), &options.join(" "));
    }
}

/// A key that a report has and the schema does not, or the other way round, is an error at every depth.
#[test]
fn a_key_that_the_schema_leaves_out_is_noticed() {
    let schema = closed(schema("report"));
    let report = sample_report();
    for pointer in ["", "/totals", "/window", "/findings/0", "/findings/0/call", "/runs/0", "/load/0/course/points/0"] {
        let mut more = report.clone();
        let object = more.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap_or_else(|| panic!("no {pointer}"));
        object.insert("undescribed".to_owned(), json!(1));
        assert!(!schema.is_valid(&more), "{pointer}");
    }
}

#[test]
fn lines_of_findings_fit_their_schema() {
    let schema = closed(common::run_in(&common::repo(""), &["schema", "finding"]).json());
    let lines = common::run_in(&common::repo(""), &["analyze", "--complete", "--format", "ndjson", "samples"]).stdout;
    let findings: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Value::Array(findings.clone()), sample_report_of_program()["findings"]);
    for finding in &findings {
        assert_valid(&schema, finding, "a line");
    }
    assert!(!schema.is_valid(&json!({ "rule": "RL101" })), "the schema wants more than a rule");
}

fn sample_report_of_program() -> Value {
    common::run_in(&common::repo(""), &["analyze", "--complete", "--format", "json", "samples"]).json()
}

#[test]
fn the_program_knows_the_schema_of_its_reports() {
    let printed = common::run_in(&common::repo(""), &["schema", "report"]).stdout;
    assert_eq!(printed, std::fs::read_to_string(common::repo("docs/report.schema.json")).unwrap());
}

#[test]
fn the_schema_holds_the_contract() {
    let schema = published();
    let whole = sample_report();
    for path in CONTRACT {
        let mut report = whole.clone();
        assert!(remove(&mut report, path), "the report has no {path}");
        assert!(!schema.is_valid(&report), "the schema does not require {path}");
    }
}

#[test]
fn the_schema_tells_types() {
    let schema = published();
    for (pointer, wrong) in [
        ("/schema_version", json!(1)),
        ("/ledger/lines", json!(-1)),
        ("/totals/wait_s", json!("1.5")),
        ("/findings/0/severity", json!("fatal")),
        ("/findings/0/attempts/0/ts", json!(1_767_607_200)),
        ("/runs/0/histogram", json!({ "one": 1 })),
        ("/runs/0/outcome", json!("green")),
        ("/headroom/0/points/0/min", json!("7")),
    ] {
        let mut report = sample_report();
        *report.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = wrong;
        assert!(!schema.is_valid(&report), "the schema accepts a wrong {pointer}");
    }
}

#[test]
fn figures_of_a_report_agree_with_one_another() {
    for folder in ["samples", "tests/captures", "tests/cases"] {
        let report = common::report(&common::logs_in(folder));
        common::assert_balanced(&report);
        let totals = &report.totals;
        assert_eq!(totals.calls, totals.calls_ok + totals.calls_failed + totals.calls_open, "{folder}");
        // An attempt after a success is no retry.
        assert!(totals.retries <= totals.sends - totals.calls, "{folder}");
        assert_eq!(totals.retries, report.runs.iter().map(|run| run.retries).sum::<u64>(), "{folder}");
        assert_eq!(totals.runs, report.runs.len() as u64, "{folder}");
        assert_eq!(totals.calls, report.runs.iter().map(|run| run.calls).sum::<u64>(), "{folder}");
        assert_eq!(totals.sends, report.runs.iter().map(|run| run.attempts).sum::<u64>(), "{folder}");
        // What a fleet rule counts as wasted belongs to no one run.
        assert!(totals.wasted_sends >= report.runs.iter().map(|run| run.wasted_sends).sum::<u64>(), "{folder}");
        assert!(totals.wasted_sends <= totals.sends, "{folder}");
        let all = totals.errors + totals.warnings + totals.infos;
        assert_eq!(all, report.findings.len() as u64 + report.findings_omitted, "{folder}");
        assert_eq!(all, report.problems.iter().map(|problem| problem.count).sum::<u64>(), "{folder}");
        assert_eq!(
            totals.green_runs_with_retries,
            report.runs.iter().filter(|run| run.green_with_retries).count() as u64
        );
        for run in &report.runs {
            assert_eq!(run.calls, run.histogram.values().sum::<u64>(), "{}", run.run_id);
            let sends: u64 = run.histogram.iter().map(|(attempts, calls)| u64::from(*attempts) * calls).sum();
            assert_eq!(run.attempts, sends, "{}", run.run_id);
        }
    }
}
