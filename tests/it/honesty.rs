//! What the log cannot tell is said: calls that could not be judged, values that could not be read.

use crate::common::{self, run_in};
use serde_json::{Value, json};

fn report(log: &str) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
    let read = |more: &[&str]| run_in(folder.path(), &[&["analyze", "--no-config", "log.jsonl"], more].concat());
    (read(&["--format", "json"]).json(), read(&[]).stdout)
}

/// On one line, however it was wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn values_that_mean_nothing_are_counted_by_field_and_shown_once() {
    let (report, text) = report(
        r#"{"ts":"2026-01-05T10:00:00Z","call_id":"a","attempt":1,"status":429,"retry_after":"30 seconds","duration_ms":"n/a"}
{"ts":"2026-01-05T10:00:31Z","call_id":"a","attempt":2,"status":200,"duration_ms":"fast","stream":"maybe"}
{"ts":"2026-01-05T10:01:00Z","call_id":"b","attempt":1,"status":429,"retry_after":"later, sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAA","duration_ms":12}
{"ts":"2026-01-05T10:02:00Z","call_id":"c","attempt":1,"status":200,"duration_ms":null,"retry_after":"","max_tokens":"many"}
"#,
    );
    let line = |field: &str, count: u32, example: &str, line: u32| json!({ "field": field, "count": count, "example": example, "file": "log.jsonl", "line": line });
    let expected =
        [line("duration_ms", 2, "n/a", 1), line("retry_after", 2, "30 seconds", 1), line("stream", 1, "maybe", 2)];
    assert_eq!(report["unreadable"], json!(expected));
    assert!(
        flat(&text).contains("2 values of duration_ms could not be read, so not used, such as \"n/a\" (log.jsonl:1)"),
        "{text}"
    );
    assert!(!text.contains("sk-ant-api03"), "{text}");
}

#[test]
fn an_example_is_masked() {
    let key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let (report, text) =
        report(&format!(r#"{{"ts":"2026-01-05T10:00:00Z","status":429,"retry_after":"{key}","run_id":"r"}}"#));
    let shown = report["unreadable"][0]["example"].as_str().unwrap();
    assert!(!shown.contains("AAAA") && !text.contains("AAAA"), "{shown}\n{text}");
}

#[test]
fn a_better_spelling_leaves_nothing_unread() {
    for log in [
        r#"{"ts":"2026-01-05T10:00:00Z","status":500,"latency_ms":"n/a","duration_ms":12}"#,
        r#"{"ts":"2026-01-05T10:00:00Z","status":500,"duration_ms":12,"latency_ms":"n/a"}"#,
        r#"{"level":"info","duration_ms":"n/a"}
{"ts":"2026-01-05T10:00:00Z","status":500}"#,
    ] {
        assert_eq!(report(log).0["unreadable"], json!([]), "{log}");
    }
}

#[test]
fn calls_that_a_rule_could_not_judge_are_counted_with_the_field_that_would_have_told() {
    let log: String = (0..3)
        .map(|n| {
            // Without durations the second send may have left as soon as the first had ended.
            let duration = if n == 0 { ",\"duration_ms\":119000" } else { "" };
            format!(
                "{{\"ts\":\"2026-01-05T1{n}:00:00Z\",\"call_id\":\"c{n}\",\"attempt\":1,\"status\":500{duration}}}\n\
                 {{\"ts\":\"2026-01-05T1{n}:02:00Z\",\"call_id\":\"c{n}\",\"attempt\":2,\"status\":200{duration}}}\n"
            )
        })
        .collect();
    let (report, text) = report(&log);
    assert_eq!(report["undecided"], json!([{ "rule": "RL307", "field": "duration_ms", "calls": 2 }]));
    let told = "RL307 could not judge 2 calls: no duration_ms logged";
    assert!(flat(&text).contains(told), "{text}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), &log).unwrap();
    for format in ["markdown", "sarif", "junit"] {
        let ran = run_in(folder.path(), &["analyze", "a.jsonl", "--format", format]);
        // Markdown escapes what it could take for its own marks.
        assert!(ran.stdout.replace('\\', "").contains(told), "{format}: {}", ran.stdout);
    }
    let ran = run_in(folder.path(), &["analyze", "a.jsonl", "--format", "ndjson"]);
    assert!(ran.stderr.contains(told) && !ran.stdout.contains(told), "{}", ran.stderr);
}

#[test]
fn values_that_mean_nothing_are_told_in_every_form() {
    let log = r#"{"ts":"2026-01-05T10:00:00Z","status":429,"retry_after":"soonish"}"#;
    let told = "1 value of retry_after could not be read, so not used, such as \"soonish\" (a.jsonl:1)";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), log).unwrap();
    for (format, shown) in
        [("markdown", told.to_owned()), ("sarif", told.replace('"', "\\\"")), ("junit", told.replace('"', "&quot;"))]
    {
        let ran = run_in(folder.path(), &["analyze", "a.jsonl", "--format", format]);
        let stdout = if format == "markdown" { ran.stdout.replace('\\', "") } else { ran.stdout };
        assert!(stdout.contains(&shown), "{format}: {stdout}");
    }
    assert!(run_in(folder.path(), &["analyze", "a.jsonl", "--format", "ndjson"]).stderr.contains(told));
}

#[test]
fn a_verdict_on_a_run_is_as_sure_as_the_grouping_of_its_calls() {
    let log = |call: &str| {
        format!(
            r#"{{"ts":"2026-01-05T10:00:00Z","run_id":"r",{call}"status":529,"error_type":"overloaded_error","model":"m"}}
{{"ts":"2026-01-05T10:00:02Z","run_id":"r",{call}"status":200,"model":"m"}}
"#
        )
    };
    for (call, confidence) in [("\"call_id\":\"c\",", "high"), ("", "low")] {
        let (report, _) = report(&log(call));
        let findings = report["findings"].as_array().unwrap();
        let green = findings.iter().find(|finding| finding["rule"] == "RL804").unwrap();
        assert_eq!(green["confidence"], confidence, "{call}");
    }
}

#[test]
fn advice_is_given_for_what_is_shown() {
    let samples = common::repo("samples").display().to_string();
    let advice = |severity: &str| {
        let folder = tempfile::tempdir().unwrap();
        let ran = run_in(folder.path(), &["analyze", &samples, "--select", "RL2,RL307", "--min-severity", severity]);
        ran.stdout
            .split("WHAT TO DO")
            .nth(1)
            .map_or(String::new(), |rest| rest.split("\n\n").next().unwrap_or_default().to_owned())
    };
    let (all, errors) = (advice("info"), advice("error"));
    assert!(all.contains("RL203") && !errors.contains("RL203"), "{all}\n{errors}");
}
