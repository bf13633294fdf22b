//! Keys of a logger's own.

use super::{analyze, codes, folder};
use crate::common::run_in;
use serde_json::Value;

/// The call of `auth.jsonl` in the words of a logger of its own.
const OWN: &str = r#"{"when":"2026-01-05T12:00:00Z","job":{"name":"r-bad","step":"c-2"},"n":1,"reply":401,"why":"authentication_error","upstream":{"request":"req_1"},"vendor":"openai","llm.name":"gpt-mini"}
{"when":"2026-01-05T12:00:02Z","job":{"name":"r-bad","step":"c-2"},"n":2,"reply":401,"why":"authentication_error","upstream":{"request":"req_2"},"vendor":"openai","llm.name":"gpt-mini"}
"#;

const FIELDS: &str = r#"[fields]
when = "ts"
"job.name" = "run_id"
job.step = "call_id"
n = "attempt"
reply = "status"
why = "error_type"
"upstream.request" = "request_id"
vendor = "provider"
"llm.name" = "model"
"#;

fn report(config: &str, log: &str, name: &str) -> Value {
    let folder = folder(config);
    std::fs::write(folder.path().join("own.jsonl"), log).unwrap();
    analyze(folder.path(), &["--format", "json", name]).json()
}

#[test]
fn a_log_in_own_words_is_judged_like_one_in_ours() {
    let own = report(FIELDS, OWN, "own.jsonl");
    let ours = report("", OWN, "auth.jsonl");
    assert!(codes(&own).contains(&"RL106"), "{own}");
    for key in ["problems", "totals", "classes", "runs", "coverage"] {
        assert_eq!(own[key], ours[key], "{key}");
    }
}

#[test]
fn without_the_mapping_it_is_no_log() {
    let folder = folder("");
    std::fs::write(folder.path().join("own.jsonl"), OWN).unwrap();
    assert_eq!(analyze(folder.path(), &["own.jsonl"]).code, 3);
}

#[test]
fn trace_and_classify_know_own_words_too() {
    let folder = folder(FIELDS);
    std::fs::write(folder.path().join("own.jsonl"), OWN).unwrap();
    let ran = run_in(folder.path(), &["trace", "req_2", "own.jsonl", "--format", "json"]);
    assert_eq!(ran.json()["traces"][0]["calls"][0]["call_id"], "c-2", "{ran:#?}");
    let ran = run_in(folder.path(), &["classify", "own.jsonl", "--format", "json"]);
    let first: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["class"], "authentication", "{ran:#?}");
}

#[test]
fn a_log_of_ordinary_lines_is_read_alike_with_one_thread_and_with_many() {
    // Successes in one shape: what the reader learns a shape from.
    let line = |n: u32| {
        format!(
            r#"{{"when":{},"job":{{"name":"r","step":"c{n}"}},"n":1,"reply":200,"upstream":{{"request":"q{n}"}},"status":599}}"#,
            1_767_607_200 + n
        )
    };
    let log: String = (0..5000).map(|n| line(n) + "\n").collect();
    let folder = folder(FIELDS);
    std::fs::write(folder.path().join("own.jsonl"), log).unwrap();
    let read = |threads| analyze(folder.path(), &["--format", "json", "--threads", threads, "own.jsonl"]).json();
    let one = read("1");
    assert_eq!(one["totals"]["calls_ok"], 5000);
    assert_eq!(one, read("4"));
}
