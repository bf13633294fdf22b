//! `retrylens trace` under a configuration.

use super::folder;
use super::suppress::ACCEPTED;
use crate::common::run_in;

#[test]
fn trace_follows_severities_thresholds_and_suppressions() {
    let trace = |config: &str, arguments: &[&str]| {
        let folder = folder(config);
        let arguments = [&["trace", "req_1", "--complete"], arguments].concat();
        let ran = run_in(folder.path(), &[&arguments[..], &["--format", "json"]].concat());
        let findings = ran.json()["traces"][0]["calls"][0]["findings"].as_array().unwrap().clone();
        let found: Vec<String> = findings.iter().map(|one| format!("{} {}", one["severity"], one["rule"])).collect();
        (
            ran.code,
            found.join(", ").replace('"', ""),
            ran.json()["traces"][0]["calls"][0]["suppressed"].as_u64().unwrap(),
        )
    };
    let auth = |config: &str| trace(config, &["auth.jsonl"]);
    assert_eq!(auth(""), (1, "error RL106".to_owned(), 0));
    assert_eq!(auth("[rules.RL106]\nseverity = \"info\"\n"), (0, "info RL106".to_owned(), 0));
    assert_eq!(auth("ignore = [\"RL106\"]\n"), (0, String::new(), 0));
    assert_eq!(auth(ACCEPTED), (0, String::new(), 1));
    assert_eq!(trace(ACCEPTED, &["auth.jsonl", "--no-config"]), (1, "error RL106".to_owned(), 0));
    assert_eq!(trace("[rules.RL301]\ntolerance_ms = 80\n", &["early.jsonl"]).1, "");
}

#[test]
fn what_is_suppressed_is_said() {
    let folder = folder(ACCEPTED);
    let shown = run_in(folder.path(), &["trace", "req_1", "auth.jsonl"]).stdout;
    assert!(shown.contains("1 finding suppressed"), "{shown}");
}
