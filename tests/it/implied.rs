//! Attempts that have no record, and that only a counter tells of.

use crate::common::{codes, run_in};
use serde_json::Value;

/// The report of a log.
fn report(lines: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), lines).unwrap();
    run_in(folder.path(), &["analyze", "--no-config", "--complete", "--format", "json", "log.jsonl"]).json()
}

/// Attempts in a log, and those that anything in it tells of.
#[track_caller]
fn assert_counts(lines: &str, observed: u64, implied: u64) -> Value {
    let report = report(lines);
    let totals = &report["totals"];
    assert_eq!((&totals["sends"], &totals["attempts_implied"]), (&observed.into(), &implied.into()), "{lines}");
    report
}

#[test]
fn a_record_that_tells_of_three_attempts_stands_for_three() {
    let one =
        r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","request_id":"r1","status":200,"http.request.resend_count":2}"#;
    let report = assert_counts(one, 1, 3);
    assert_eq!(report["totals"]["calls"], 1);
    assert_eq!(report["totals"]["wait_s"], 0.0, "nothing is known of the waits between them: {report}");
    assert!(codes(&report).is_empty(), "{report}");
    assert_counts(r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","request_id":"r1","status":200,"attempt":3}"#, 1, 3);
    assert_counts(
        r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","request_id":"r1","status":200,"sdk_retry_count":1}"#,
        1,
        2,
    );
}

#[test]
fn the_text_says_what_a_counter_tells_of_however_few_the_records_are() {
    let folder = tempfile::tempdir().unwrap();
    let one =
        r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","request_id":"r1","status":503,"http.request.resend_count":2}"#;
    std::fs::write(folder.path().join("log.jsonl"), one).unwrap();
    let text = run_in(folder.path(), &["analyze", "--no-config", "log.jsonl"]).stdout;
    assert!(text.contains("counters tell of 2 more"), "{text}");
}

#[test]
fn what_a_gateway_sent_beneath_is_implied_and_judged() {
    let beneath = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","attempt":1,"request_id":"r1","status":503,"headers":{"x-envoy-attempt-count":"3"}}
{"ts":"2026-01-05T10:00:04Z","call_id":"c","attempt":2,"request_id":"r2","status":200,"headers":{"x-envoy-attempt-count":"2"}}"#;
    let report = assert_counts(beneath, 2, 5);
    assert!(codes(&report).contains(&"RL402"), "{report}");
    let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "RL401").unwrap();
    let figure = |name: &str| found["evidence"][name].as_u64();
    assert_eq!([figure("sends"), figure("sends_shown"), figure("sends_told")], [Some(5), Some(2), Some(3)], "{found}");
    assert!(codes(&report).iter().all(|code| !code.starts_with("RL3")), "no wait between unseen ones: {report}");
    let hidden = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","attempt":1,"request_id":"r1","status":200,"http.request.resend_count":2}"#;
    assert!(codes(&assert_counts(hidden, 1, 3)).contains(&"RL402"));
}

#[test]
fn attempts_with_records_of_their_own_are_counted_once() {
    let resent = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","request_id":"r1","status":529,"http.request.resend_count":0}
{"ts":"2026-01-05T10:00:01Z","call_id":"c","request_id":"r2","status":529,"http.request.resend_count":1}
{"ts":"2026-01-05T10:00:03Z","call_id":"c","request_id":"r3","status":200,"http.request.resend_count":2}"#;
    assert_counts(resent, 3, 3);
    let both = r#"{"ts":"2026-01-05T10:00:00.0Z","run_id":"r","call_id":"c","layer":"client","attempt":1,"status":200,"duration_ms":900,"request_id":"z","headers":{"x-litellm-attempted-retries":"1"}}
{"ts":"2026-01-05T10:00:00.2Z","run_id":"r","call_id":"c","layer":"proxy","attempt":1,"status":503,"duration_ms":10,"request_id":"a"}
{"ts":"2026-01-05T10:00:00.6Z","run_id":"r","call_id":"c","layer":"proxy","attempt":2,"status":200,"duration_ms":200,"request_id":"b"}"#;
    assert_counts(both, 3, 3);
}

#[test]
fn the_text_tells_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","request_id":"r1","status":200,"attempt":4}"#;
    std::fs::write(folder.path().join("log.jsonl"), line).unwrap();
    let ran = run_in(folder.path(), &["analyze", "--no-config", "-v", "log.jsonl"]);
    let shown = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("counters tell of 3 more"), "{shown}");
}

#[test]
fn two_views_of_a_call_are_one_where_both_name_it_alike() {
    let folder = tempfile::tempdir().unwrap();
    let client = r#"{"ts":"2026-01-05T10:00:00.0Z","layer":"sdk","idempotency_key":"k-1","sdk_retry_count":0,"request_id":"r1","status":529,"duration_ms":300}
{"ts":"2026-01-05T10:00:01.0Z","layer":"sdk","idempotency_key":"k-1","sdk_retry_count":1,"request_id":"r2","status":200,"duration_ms":300}"#;
    let gateway = r#"{"ts":"2026-01-05T10:00:00.1Z","layer":"gateway","idempotency_key":"k-1","request_id":"r1","status":529,"duration_ms":100}
{"ts":"2026-01-05T10:00:01.1Z","layer":"gateway","idempotency_key":"k-1","request_id":"r2","status":200,"duration_ms":100}"#;
    std::fs::write(folder.path().join("client.jsonl"), client).unwrap();
    std::fs::write(folder.path().join("gateway.jsonl"), gateway).unwrap();
    for arguments in [&["client.jsonl", "gateway.jsonl"][..], &["client.jsonl", "gateway.jsonl", "--memory", "bounded"]]
    {
        let ran =
            run_in(folder.path(), &[&["analyze", "--no-config", "--complete", "--format", "json"], arguments].concat());
        let (report, totals) = (ran.json(), ran.json()["totals"].clone());
        assert_eq!((&totals["calls"], &totals["sends"]), (&1.into(), &2.into()), "{report}");
        assert_eq!((&report["ledger"]["views"], &report["ledger"]["duplicates"]), (&2.into(), &0.into()));
        assert_eq!((&totals["errors"], &totals["warnings"]), (&0.into(), &0.into()), "{report}");
    }
}
