//! The JSON report is a contract: `docs/report.schema.json` says what others may build on.

use crate::common;
use serde_json::{Value, json};

fn schema() -> jsonschema::Validator {
    let text = std::fs::read_to_string(common::repo("docs/report.schema.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).expect("a schema")
}

#[track_caller]
fn assert_valid(schema: &jsonschema::Validator, report: &Value, name: &str) {
    let errors: Vec<String> =
        schema.iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).take(5).collect();
    assert!(errors.is_empty(), "{name}: {}", errors.join("\n"));
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

#[test]
fn reports_fit_the_schema() {
    let schema = schema();
    assert_valid(&schema, &sample_report(), "samples");
    assert_valid(&schema, &common::json(&common::report(&common::logs_in("tests/captures"))), "captures");
    assert_valid(&schema, &common::json(&common::report(&common::logs_in("tests/cases"))), "cases");
    assert_valid(&schema, &common::json(&common::report(&[common::repo("tests/odd/39-empty.jsonl")])), "an empty log");
    assert_valid(
        &schema,
        &common::json(&common::report(&[common::repo("tests/odd/03-truncated-tail.jsonl")])),
        "a reject",
    );
}

#[test]
fn lines_of_findings_fit_their_schema() {
    let schema = common::run_in(&common::repo(""), &["schema", "finding"]).json();
    let schema = jsonschema::validator_for(&schema).expect("a schema");
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
    assert_valid(&schema(), &sample_report_of_program(), "the program's own");
}

#[test]
fn the_schema_holds_the_contract() {
    let schema = schema();
    let whole = sample_report();
    for path in CONTRACT {
        let mut report = whole.clone();
        assert!(remove(&mut report, path), "the report has no {path}");
        assert!(!schema.is_valid(&report), "the schema does not require {path}");
    }
}

#[test]
fn the_schema_tells_types() {
    let schema = schema();
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
