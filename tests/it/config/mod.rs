//! `retrylens.toml`: what it changes, how mistakes in it are told, and what suppressions do.

mod classify;
mod fields;
mod init;
mod mistakes;
mod policy;
mod show;
mod suppress;
mod trace;
mod words;

use crate::common::{Ran, codes, run_in};
use serde_json::Value;
use std::path::Path;

/// RL106, an error: a 401 sent again.
const AUTH: &str = r#"{"ts":"2026-01-05T12:00:00Z","run_id":"r-bad","call_id":"c-2","attempt":1,"status":401,"error_type":"authentication_error","request_id":"req_1","provider":"openai","model":"gpt-mini"}
{"ts":"2026-01-05T12:00:02Z","run_id":"r-bad","call_id":"c-2","attempt":2,"status":401,"error_type":"authentication_error","request_id":"req_2","provider":"openai","model":"gpt-mini"}
"#;

/// A wait 70 ms short of its hint: RL301 by default.
const EARLY: &str = r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1,"error_type":"rate_limit_error","duration_ms":10,"request_id":"req_1"}
{"ts":"2026-05-20T10:00:00.940Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":10,"request_id":"req_2"}
"#;

fn folder(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // The search for a file ends here.
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join("auth.jsonl"), AUTH).unwrap();
    std::fs::write(folder.path().join("early.jsonl"), EARLY).unwrap();
    if !config.is_empty() {
        std::fs::write(folder.path().join("retrylens.toml"), config).unwrap();
    }
    folder
}

fn analyze(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["analyze"], arguments].concat())
}

/// Exit code and report of a log under a configuration.
fn judged(config: &str, arguments: &[&str]) -> (i32, Value) {
    let folder = folder(config);
    let ran = analyze(folder.path(), &[&["--format", "json"], arguments].concat());
    assert!(ran.stderr.is_empty(), "{ran:#?}");
    (ran.code, ran.json())
}

fn severity_of(report: &Value, code: &str) -> Option<String> {
    let problems = report["problems"].as_array().unwrap();
    problems.iter().find(|one| one["rule"] == code).map(|one| one["severity"].as_str().unwrap().to_owned())
}

fn notices(report: &Value) -> Vec<&str> {
    report["notices"].as_array().unwrap().iter().map(|notice| notice.as_str().unwrap()).collect()
}

#[test]
fn thresholds_severities_and_rules_are_changed() {
    let (code, report) = judged("", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301").as_deref()), (1, Some("error")));
    let (code, report) = judged("[rules.RL301]\ntolerance_ms = 80\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301")), (0, None));
    let (code, report) = judged("[rules.RL301]\ntolerance_share = 0.08\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301")), (0, None));
    let (code, report) = judged("[rules.rl301]\nseverity = \"warning\"\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301").as_deref()), (0, Some("warning")));
    let (code, report) = judged("[rules.RL301]\nenabled = false\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301")), (0, None));
}

#[test]
fn select_and_ignore_take_codes_and_prefixes() {
    for (config, arguments, fires) in [
        ("ignore = [\"RL106\"]", &[][..], false),
        ("ignore = [\"rl1\", \"RL8\"]", &[], false),
        ("select = [\"RL3\"]", &[], false),
        ("select = [\"RL3\", \"RL1\"]", &[], true),
        ("ignore = [\"RL1\"]\n[rules.RL106]\nenabled = true", &[], true),
        // The command line outranks the file.
        ("ignore = [\"RL106\"]", &["--select", "RL106"], true),
        ("select = [\"RL106\", \"RL3\"]", &["--ignore", "RL1"], false),
        ("ignore = [\"RL106\"]", &["--no-config"], true),
    ] {
        let (code, report) = judged(config, &[&["auth.jsonl"], arguments].concat());
        assert_eq!(codes(&report).contains(&"RL106"), fires, "{config} {arguments:?}");
        assert_eq!(code, i32::from(fires), "{config} {arguments:?}");
    }
}

#[test]
fn the_file_is_found_upward_and_no_further_than_the_repository() {
    let outside = tempfile::tempdir().unwrap();
    let inner = outside.path().join("repository/logs/night");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("auth.jsonl"), AUTH).unwrap();
    let config = "ignore = [\"RL106\"]\n";
    std::fs::write(outside.path().join("retrylens.toml"), config).unwrap();
    assert_eq!(analyze(&inner, &["auth.jsonl"]).code, 0);
    std::fs::create_dir(outside.path().join("repository/.git")).unwrap();
    assert_eq!(analyze(&inner, &["auth.jsonl"]).code, 1);
    std::fs::write(outside.path().join("repository/retrylens.toml"), config).unwrap();
    assert_eq!(analyze(&inner, &["auth.jsonl"]).code, 0);
    assert_eq!(analyze(&inner, &["--no-config", "auth.jsonl"]).code, 1);
}

#[test]
fn a_file_may_be_named() {
    let folder = folder("ignore = [\"RL106\"]\n");
    std::fs::write(folder.path().join("other.toml"), "").unwrap();
    assert_eq!(analyze(folder.path(), &["--config", "other.toml", "auth.jsonl"]).code, 1);
    let ran = analyze(folder.path(), &["--config", "none.toml", "auth.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot read none.toml"), "{ran:#?}");
    assert_eq!(analyze(folder.path(), &["--config", "other.toml", "--no-config", "auth.jsonl"]).code, 2);
}
