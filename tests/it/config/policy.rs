//! A declared policy, and a log that departs from it.

use super::{analyze, codes, folder, severity_of};
use serde_json::Value;

/// Four sends of one call, 5 s, 1 s and 40 s apart, in 46 s, none of it what any rule blames by itself.
const CALL: &str = r#"{"ts":"2026-05-20T10:00:00Z","run_id":"night-1","call_id":"c","layer":"sdk","attempt":1,"status":529,"duration_ms":100,"provider":"anthropic","model":"large"}
{"ts":"2026-05-20T10:00:05.1Z","run_id":"night-1","call_id":"c","layer":"sdk","attempt":2,"status":529,"duration_ms":100,"provider":"anthropic","model":"large"}
{"ts":"2026-05-20T10:00:06.2Z","run_id":"night-1","call_id":"c","layer":"sdk","attempt":3,"status":529,"duration_ms":100,"provider":"anthropic","model":"large"}
{"ts":"2026-05-20T10:00:46.3Z","run_id":"night-1","call_id":"c","layer":"sdk","attempt":4,"status":200,"duration_ms":90000,"provider":"anthropic","model":"large"}
"#;

fn judged(config: &str) -> Value {
    let folder = folder(config);
    std::fs::write(folder.path().join("call.jsonl"), CALL).unwrap();
    analyze(folder.path(), &["--format", "json", "call.jsonl"]).json()
}

const JUDGES: [&str; 6] = ["RL307", "RL310", "RL401", "RL404", "RL406", "RL407"];

fn found(config: &str) -> Vec<&'static str> {
    let report = judged(config);
    let codes = codes(&report);
    JUDGES.into_iter().filter(|code| codes.contains(code)).collect()
}

#[test]
fn without_a_policy_nothing_is_held_against_the_log() {
    assert_eq!(found(""), [""; 0]);
}

#[test]
fn each_departure_is_a_finding_of_its_own() {
    for (declared, code) in [
        ("max_attempts = 3", "RL404"),
        ("cap_s = 20", "RL307"),
        ("budget_s = 30", "RL310"),
        ("layer = \"harness\"", "RL401"),
        ("base_s = 5\nfactor = 1", "RL406"),
        ("timeout_s = 60", "RL407"),
    ] {
        assert_eq!(found(&format!("[policy]\n{declared}\n")), [code], "{declared}");
    }
    let all = "[policy]\nmax_attempts = 3\ncap_s = 20\nbudget_s = 30\nbase_s = 5\nfactor = 1\ntimeout_s = 60\n";
    assert_eq!(found(all), ["RL307", "RL310", "RL404", "RL406", "RL407"]);
}

#[test]
fn what_is_as_declared_is_no_finding() {
    let kept = "[policy]\nlayer = \"sdk\"\nmax_attempts = 4\ncap_s = 60\nbudget_s = 60\nbase_s = 5\nfactor = 3\n\
                timeout_s = 90\npool = 10\n";
    assert_eq!(found(kept), [""; 0]);
}

#[test]
fn a_policy_holds_where_its_patterns_match_and_the_first_of_several() {
    for (patterns, holds) in [
        ("run = \"night-*\"", true),
        ("run = \"day-*\"", false),
        ("model = \"large\"\nprovider = \"anthropic\"", true),
        ("model = \"large\"\nprovider = \"openai\"", false),
    ] {
        let config = format!("[[policy]]\n{patterns}\nmax_attempts = 2\n[[policy]]\nmax_attempts = 9\n");
        assert_eq!(found(&config).contains(&"RL404"), holds, "{patterns}");
    }
    // The layer that is bound by it is another one.
    assert!(!found("[policy]\nlayer = \"harness\"\nmax_attempts = 2\n").contains(&"RL404"));
}

#[test]
fn the_figures_compared_are_named() {
    let report = judged("[policy]\nbase_s = 2\nfactor = 1\njitter = 0.1\n");
    assert_eq!(severity_of(&report, "RL406").as_deref(), Some("warning"));
    let finding = report["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "RL406").unwrap();
    assert_eq!(
        finding["message"],
        "waited 40 s after an overload, where the declared schedule has 1.8 s to 2.2 s; \
         3 of 3 waits are off the schedule"
    );
}
