//! `--baseline`: what a former report knows does not fail again.

use crate::common::{Ran, run_in};
use serde_json::Value;
use std::path::Path;

/// RL106 at a time, with ids of its own.
fn auth(day: u8, model: &str) -> String {
    let line = |attempt: u8| {
        format!(
            r#"{{"ts":"2026-01-{day:02}T12:00:{attempt:02}Z","run_id":"r-{day}","call_id":"c-{day}","attempt":{attempt},"status":401,"error_type":"authentication_error","request_id":"req_{day}_{attempt}","provider":"openai","model":"{model}"}}"#
        )
    };
    format!("{}\n{}\n", line(1), line(2))
}

/// A folder with `old.jsonl` and its report, `old.json`, and another night's `new.jsonl`.
fn folder(new: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join("old.jsonl"), auth(5, "gpt-mini")).unwrap();
    std::fs::write(folder.path().join("new.jsonl"), new).unwrap();
    assert_eq!(run_in(folder.path(), &["analyze", "--output", "json=old.json", "old.jsonl"]).code, 1);
    folder
}

fn against_old(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["analyze", "--baseline", "old.json", "new.jsonl"], arguments].concat())
}

fn known(report: &Value, code: &str) -> Vec<(String, bool)> {
    let problems = report["problems"].as_array().unwrap().iter().filter(|one| one["rule"] == code);
    problems.map(|one| (one["model"].as_str().unwrap().to_owned(), one["known"].as_bool().unwrap())).collect()
}

#[test]
fn the_same_problem_on_another_night_is_known() {
    let folder = folder(&auth(6, "gpt-mini"));
    let ran = against_old(folder.path(), &["--format", "json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let report = ran.json();
    assert_eq!(known(&report, "RL106"), [("gpt-mini".to_owned(), true)]);
    // It is counted all the same.
    assert_eq!(report["totals"]["errors"], 1);
    assert_eq!(report["notices"], serde_json::json!([]));
    let verdict = report["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("Nothing new: ") && verdict.contains(" known from the baseline. 1 of 1 call failed"),
        "{verdict}"
    );
    let shown = against_old(folder.path(), &[]).stdout;
    assert!(shown.contains("known from the baseline") && shown.contains("RL106 auth-retried (known)"), "{shown}");
    // Without the baseline nothing is known.
    assert_eq!(run_in(folder.path(), &["analyze", "new.jsonl"]).code, 1);
}

#[test]
fn another_problem_fails() {
    let folder = folder(&format!("{}{}", auth(6, "gpt-mini"), auth(7, "gpt-large")));
    let ran = against_old(folder.path(), &["--format", "json"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let verdict = ran.json()["verdict"].as_str().unwrap().to_owned();
    assert!(verdict.starts_with("Problems: 1 new, "), "{verdict}");
    let mut found = known(&ran.json(), "RL106");
    found.sort();
    assert_eq!(found, [("gpt-large".to_owned(), false), ("gpt-mini".to_owned(), true)]);
}

#[test]
fn what_is_gone_is_noticed() {
    let folder = folder(&auth(6, "gpt-large"));
    let report = against_old(folder.path(), &["--format", "json"]).json();
    let notices = report["notices"].as_array().unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let told = notices[0].as_str().unwrap();
    assert!(
        told.starts_with("1 problem of the baseline not found here")
            && told.contains("RL106 openai gpt-mini authentication"),
        "{told}"
    );
}

#[test]
fn a_report_with_a_baseline_is_a_baseline() {
    let folder = folder(&auth(6, "gpt-mini"));
    assert_eq!(against_old(folder.path(), &["--output", "json=next.json"]).code, 0);
    assert_eq!(run_in(folder.path(), &["analyze", "--baseline", "next.json", "old.jsonl"]).code, 0);
}

#[test]
fn what_is_no_report_is_said_to_be_none() {
    let folder = folder("");
    std::fs::write(folder.path().join("other.json"), "{\"a\": 1}").unwrap();
    std::fs::write(folder.path().join("newer.json"), "{\"schema_version\": 9, \"problems\": []}").unwrap();
    for (file, complaint) in [
        ("none.json", "--baseline none.json: cannot read it"),
        ("other.json", "--baseline other.json: no JSON report of retrylens"),
        ("old.jsonl", "--baseline old.jsonl: no JSON report of retrylens"),
        ("newer.json", "--baseline newer.json: a report of schema version 9"),
    ] {
        let ran = run_in(folder.path(), &["analyze", "--baseline", file, "old.jsonl"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:#?}");
        assert!(ran.stderr.contains(complaint), "{ran:#?}");
    }
}
