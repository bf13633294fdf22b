//! The same attempts in two inputs: a log beside what retrylens made of it.

use crate::common::run_in;
use std::path::Path;

/// Two calls without ids, the first of them numbered.
const LOG: &str = r#"{"ts":"2026-05-20T10:00:00.120Z","attempt":1,"max_attempts":3,"status":529,"duration_ms":210,"model":"m","error":{"type":"overloaded_error","message":"Overloaded"}}
{"ts":"2026-05-20T10:00:01.010Z","attempt":2,"max_attempts":3,"status":529,"duration_ms":190,"model":"m","error":{"type":"overloaded_error","message":"Overloaded"}}
{"ts":"2026-05-20T10:00:02.900Z","attempt":3,"max_attempts":3,"status":200,"duration_ms":1210,"model":"m"}
{"ts":"2026-05-20T10:00:09.120Z","attempt":1,"max_attempts":3,"status":200,"duration_ms":810,"model":"m"}
"#;

/// The report of some inputs in JSON.
fn report(folder: &Path, inputs: &[&str]) -> serde_json::Value {
    run_in(folder, &[&["analyze", "--format", "json"], inputs].concat()).json()
}

/// Writes the log, and beside it the table of its attempts and its native form.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.jsonl"), LOG).unwrap();
    run_in(folder.path(), &["analyze", "agent.jsonl", "-o", "csv=tables"]);
    let converted = run_in(folder.path(), &["convert", "agent.jsonl"]).stdout;
    std::fs::write(folder.path().join("converted.jsonl"), converted).unwrap();
    folder
}

#[test]
fn attempts_that_two_inputs_hold_count_once() {
    let folder = folder();
    let alone = report(folder.path(), &["agent.jsonl"]);
    for other in ["tables/attempts.csv", "converted.jsonl"] {
        let both = report(folder.path(), &["agent.jsonl", other]);
        for total in ["sends", "calls", "calls_ok", "errors", "warnings", "joined_by_guess"] {
            assert_eq!(both["totals"][total], alone["totals"][total], "{total} beside {other}");
        }
        assert_eq!(both["classes"], alone["classes"], "{other} says no more of the failures");
        let notices = both["notices"].to_string();
        assert!(notices.contains("hold the same 4 attempts") && notices.contains("counted once"), "{notices}");
        assert!(!notices.contains("twice"), "{notices}");
    }
}

#[test]
fn a_copy_of_a_file_counts_once_with_open_calls_alone_in_memory() {
    let folder = folder();
    std::fs::write(folder.path().join("copy.jsonl"), LOG).unwrap();
    // Of the same size.
    std::fs::write(folder.path().join("other.jsonl"), LOG.replace("\"m\"", "\"n\"").replace("20T", "21T")).unwrap();
    let alone = report(folder.path(), &["agent.jsonl", "other.jsonl", "--memory", "bounded"]);
    let both = report(folder.path(), &["agent.jsonl", "copy.jsonl", "other.jsonl", "--memory", "bounded"]);
    for total in ["sends", "calls", "calls_ok", "retries", "wait_s", "errors", "warnings", "joined_by_guess"] {
        assert_eq!(both["totals"][total], alone["totals"][total], "{total}");
    }
    assert_eq!((&both["classes"], &both["runs"]), (&alone["classes"], &alone["runs"]));
    let notices = both["notices"].to_string();
    assert!(notices.contains("hold the same 4 attempts") && notices.contains("counted once"), "{notices}");
}

#[test]
fn three_inputs_with_the_same_attempts_count_once() {
    let folder = folder();
    let all = report(folder.path(), &["agent.jsonl", "converted.jsonl", "tables/attempts.csv"]);
    assert_eq!((&all["totals"]["sends"], &all["totals"]["calls"]), (&4.into(), &2.into()));
}

#[test]
fn a_log_of_other_attempts_is_no_copy() {
    let folder = folder();
    std::fs::write(folder.path().join("other.jsonl"), LOG.replace("02.900Z", "02.901Z")).unwrap();
    let both = report(folder.path(), &["agent.jsonl", "other.jsonl"]);
    assert_eq!(both["totals"]["sends"], 8);
    assert!(!both["notices"].to_string().contains("hold the same"));
}
