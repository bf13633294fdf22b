//! Failures that must not be joined to the next, different request; requests without an end; and what the first screen
//! says of both. The logs are made here, so that what happened is known.

use crate::common::{Ran, run_in};
use std::fmt::Write as _;
use std::fs;

/// Runs `analyze --complete --format json` on one log.
fn judged(name: &str, log: &str) -> serde_json::Value {
    ran(name, log, &["--format", "json"]).json()
}

fn ran(name: &str, log: &str, more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), log).unwrap();
    let arguments: Vec<&str> = ["analyze", "--complete", "--quiet", name].iter().chain(more).copied().collect();
    run_in(folder.path(), &arguments)
}

/// Calls, and those of them that failed.
fn calls(report: &serde_json::Value) -> (u64, u64) {
    let total = |key: &str| report["totals"][key].as_u64().unwrap();
    (total("calls"), total("calls_failed"))
}

/// Lines of the debug level of the Python SDK on one request: seconds, key, body, status, and the wait it announces.
fn python_lines(requests: &[(f64, &str, &str, u16, Option<f64>)], hint: &str) -> String {
    let mut log = String::new();
    for (at, key, content, status, wait) in requests {
        let stamp = |at: f64| format!("2026-03-02 07:00:{at:06.3}").replace('.', ",");
        let (sent, answered) = (stamp(*at), stamp(at + 0.3));
        let sdk = "anthropic._base_client DEBUG";
        writeln!(
            log,
            "{sent} {sdk} Request options: {{'method': 'post', 'url': '/v1/messages', 'idempotency_key': '{key}', \
             'json_data': {{'max_tokens': 64, 'messages': [{{'role': 'user', 'content': '{content}'}}], 'model': 'm'}}}}\n\
             {sent} {sdk} Sending HTTP Request: POST https://api.anthropic.com/v1/messages\n\
             {answered} {sdk} HTTP Response: POST https://api.anthropic.com/v1/messages \"{status} X\" Headers({{{hint}}})"
        )
        .unwrap();
        if let Some(wait) = wait {
            writeln!(
                log,
                "{answered} anthropic._base_client INFO Retrying request to /v1/messages in {wait:.6} seconds"
            )
            .unwrap();
        }
    }
    log
}

#[test]
fn another_body_under_another_key_of_the_python_sdk_is_another_request() {
    let log = python_lines(
        &[
            (0.0, "k1", "one", 529, Some(0.46)),
            (0.76, "k1", "one", 529, Some(0.93)),
            (2.0, "k1", "one", 529, None),
            (4.0, "k2", "two", 200, None),
            (6.0, "k3", "three", 529, Some(0.44)),
            (6.74, "k3", "three", 200, None),
        ],
        "",
    );
    assert_eq!(calls(&judged("sdk.log", &log)), (3, 1));
    // It waited as told, but asked for something else.
    let log = python_lines(&[(0.0, "k1", "one", 429, None), (3.0, "k2", "two", 200, None)], "'retry-after': '2'");
    assert_eq!(calls(&judged("sdk.log", &log)), (2, 1));
    // A loop around the SDK sends the same body under another key.
    let log = python_lines(&[(0.0, "k1", "one", 529, None), (2.0, "k2", "one", 200, None)], "");
    assert_eq!(calls(&judged("sdk.log", &log)), (1, 0));
}

/// Entries of an HTTP archive: seconds, content, status.
fn archive(entries: &[(u32, &str, u16)]) -> String {
    let entry = |(at, content, status): &(u32, &str, u16)| {
        serde_json::json!({
            "startedDateTime": format!("2026-03-02T07:00:{at:02}.000Z"), "time": 300,
            "request": {"method": "POST", "url": "https://api.openai.com/v1/chat/completions", "headers": [],
                "postData": {"text": serde_json::json!({"model": "m", "messages": [content]}).to_string()}},
            "response": {"status": status, "headers": [], "content": {"text": "{}"}}
        })
    };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    serde_json::json!({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries}})
        .to_string()
}

#[test]
fn another_body_of_an_archive_is_another_request() {
    let log = archive(&[(0, "a", 500), (2, "a", 500), (5, "b", 200), (7, "c", 500), (9, "d", 200)]);
    assert_eq!(calls(&judged("x.har", &log)), (4, 2));
    let log = archive(&[(0, "a", 500), (2, "a", 500), (5, "a", 200)]);
    assert_eq!(calls(&judged("x.har", &log)), (1, 0));
}

#[test]
fn the_request_behind_the_last_retry_of_an_sdk_is_the_next_one() {
    let url = "https://api.anthropic.com/v1/messages";
    let log = format!(
        "2026-03-02T07:00:01.000Z [log_0a0001] post {url} failed with status 529 in 300ms - retrying, 1 attempts remaining\n\
         2026-03-02T07:00:02.000Z [log_0a0002, retryOf: log_0a0001] post {url} failed with status 529 in 300ms - error; no more retries left\n\
         2026-03-02T07:00:05.000Z [log_0b0001] post {url} succeeded with status 200 in 900ms\n\
         2026-03-02T07:00:07.000Z [log_0c0001] post {url} failed with status 529 in 300ms - retrying, 1 attempts remaining\n\
         2026-03-02T07:00:08.500Z [log_0c0002, retryOf: log_0c0001] post {url} succeeded with status 200 in 900ms\n"
    );
    assert_eq!(calls(&judged("console.log", &log)), (3, 1));
}

#[test]
fn that_calls_are_a_guess_is_said_first() {
    let log = r#"{"ts":"2026-03-02T07:00:00Z","model":"m","status":503,"duration_ms":100}
{"ts":"2026-03-02T07:00:02Z","model":"m","status":200,"duration_ms":100}
{"ts":"2026-03-02T07:00:03Z","model":"m","status":200,"duration_ms":100}"#;
    let report = judged("a.jsonl", log);
    assert_eq!(report["totals"]["joined_by_guess"], serde_json::json!({"count": 1, "of": 1}));
    let verdict = report["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("All 2 calls seem to have succeeded (3 attempts). 1 of 1 call "), "{verdict}");
    let known = log.replace(r#""status":503"#, r#""status":503,"call_id":"c""#);
    let known = known.replacen(r#""status":200"#, r#""status":200,"call_id":"c""#, 1);
    assert!(!judged("a.jsonl", &known)["verdict"].as_str().unwrap().contains("guess"));
}

#[test]
fn a_serial_program_that_has_gone_on_retries_nothing_older() {
    let line = |at: u32, status: u16| {
        format!(r#"{{"ts":"2026-03-02T07:00:{at:02}Z","model":"m","status":{status},"duration_ms":100}}"#)
    };
    let items = [line(0, 500), line(1, 500)].join("\n").replacen(r#""model":"m""#, r#""model":"n""#, 1);
    let log = [items, line(2, 200), line(3, 429), line(5, 200)].join("\n");
    let report = judged("a.jsonl", &log);
    // Of model n nothing followed; what failed at 1 s and at 3 s was sent again.
    assert_eq!(calls(&report), (3, 1), "{}", report["verdict"]);
}

#[test]
fn requests_without_an_end_are_named() {
    let log = r#"{"ts":"2026-05-20T10:00:00Z","event":"request_start","call_id":"a","attempt":1,"model":"m"}
{"ts":"2026-05-20T10:00:01Z","event":"request_end","call_id":"a","attempt":1,"model":"m","status":529}
{"ts":"2026-05-20T10:00:02Z","event":"request_start","call_id":"a","attempt":2,"model":"m"}
{"ts":"2026-05-20T10:00:03Z","event":"request_end","call_id":"a","attempt":2,"model":"m","status":200}
{"ts":"2026-05-20T10:00:04Z","event":"request_start","call_id":"b","attempt":1,"model":"m"}"#;
    let said = |log: &str| judged("a.jsonl", log)["notices"].to_string();
    assert!(said(log).contains("1 request begins (line 5) and no line tells the end"), "{}", said(log));
    let ended =
        format!("{log}\n{}", r#"{"ts":"2026-05-20T10:00:09Z","call_id":"b","attempt":1,"model":"m","status":200}"#);
    assert!(!said(&ended).contains("no line tells the end"), "{}", said(&ended));
    let sdk = python_lines(&[(0.0, "k1", "one", 200, None), (1.0, "k2", "two", 200, None)], "");
    let cut: String = sdk.lines().take(5).map(|line| format!("{line}\n")).collect();
    let notices = judged("sdk.log", &cut)["notices"].to_string();
    assert!(notices.contains("1 request begins (line 5)"), "{notices}");
}

#[test]
fn retry_lines_are_said_to_tell_of_failures_alone() {
    let error = "RateLimitError: Error code: 429 - {'error': {'message': 'slow down', 'code': 'rate_limit_exceeded'}}";
    let line = |second: u32, wait: f64| {
        format!(
            "2026-03-02 11:00:{second:02},000 - INFO - before_sleep.py:65 - Retrying app.ask in {wait} seconds as it raised {error}.\n"
        )
    };
    // The third begins a schedule anew, long after the second wait was over.
    let report = judged("app.log", &[line(0, 2.0), line(3, 4.0), line(40, 2.0)].concat());
    assert_eq!(calls(&report).0, 2);
    assert!(report["notices"].to_string().contains("tell of failures alone"), "{}", report["notices"]);
}

#[test]
fn waits_of_a_transcript_are_those_it_announces() {
    let retry = |second: &str, number: u32, wait_ms: u32| {
        format!(
            r#"{{"type":"system","subtype":"api_error","retryInMs":{wait_ms},"retryAttempt":{number},"maxRetries":10,"error":{{"message":"529","status":529}},"timestamp":"2026-05-20T10:00:{second}Z","uuid":"u{number}","sessionId":"s","isSidechain":false}}"#
        )
    };
    let answer = r#"{"type":"assistant","message":{"id":"m1","model":"m","content":[]},"timestamp":"2026-05-20T10:00:20Z","uuid":"u9","sessionId":"s","isSidechain":false}"#;
    let report = judged("t.jsonl", &[retry("01.0", 1, 600), retry("05.0", 2, 1100), answer.to_owned()].join("\n"));
    assert_eq!(calls(&report), (1, 0));
    assert_eq!(report["totals"]["wait_s"].as_f64(), Some(1.7));
}

#[test]
fn a_missing_input_keeps_no_other_from_being_judged() {
    let log = r#"{"ts":"2026-05-20T10:00:00Z","call_id":"a","attempt":1,"status":200}"#;
    let one = ran("a.jsonl", log, &["nowhere.jsonl", "none*.jsonl"]);
    assert_eq!(one.code, 74);
    assert!(one.stdout.contains("The call succeeded"), "{}", one.stdout);
    for missing in ["nowhere.jsonl", "none*.jsonl"] {
        assert!(one.stderr.contains(missing), "{}", one.stderr);
    }
    let folder = tempfile::tempdir().unwrap();
    let none = run_in(folder.path(), &["analyze", "nowhere.jsonl", "none*.jsonl"]);
    assert_eq!((none.code, none.stdout.as_str()), (3, ""));
}

#[test]
fn ids_of_two_characters_are_traced_and_problems_without_ids_say_where() {
    let log = r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r1","call_id":"c1","attempt":1,"status":400,"error_type":"invalid_request_error","request_hash":"h"}
{"ts":"2026-05-20T10:00:02Z","run_id":"r1","call_id":"c1","attempt":2,"status":400,"error_type":"invalid_request_error","request_hash":"h"}
{"ts":"2026-05-20T10:00:09Z","run_id":"r1","call_id":"c12","attempt":1,"status":200}"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), log).unwrap();
    let traced = run_in(folder.path(), &["trace", "c1", "a.jsonl"]);
    assert!(traced.stdout.starts_with("Call c1 failed after 2 attempts"), "{traced:?}");
    assert_eq!(run_in(folder.path(), &["trace", "20", "a.jsonl"]).code, 3);
    let text = run_in(folder.path(), &["analyze", "a.jsonl"]).stdout;
    assert!(text.contains("at    a.jsonl:1, a.jsonl:2"), "{text}");
}

#[test]
fn rules_lists_a_family() {
    let folder = tempfile::tempdir().unwrap();
    let listed = |words: &[&str]| run_in(folder.path(), &[&["rules"], words].concat());
    let text = listed(&["RL3"]).stdout;
    assert!(text.contains("RL301") && text.contains("RL315") && !text.contains("RL401"), "{text}");
    assert!(listed(&["rl301", "spend-cap-retried"]).stdout.starts_with("2 rules:"));
    let wrong = listed(&["RL9"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("no rule `RL9`"), "{}", wrong.stderr);
}
