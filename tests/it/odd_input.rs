//! Logs as they really come: every odd shape carries the same story, three sends into a used-up quota, and gets
//! the same verdict, and the ledger accounts for every line of whatever is thrown at it.

use crate::common::{self, assert_balanced, judged};
use proptest::prelude::*;
use retrylens::ingest::{self, Options, Source};
use retrylens::model::Ledger;
use retrylens::report::Report;
use std::io::Write;
use std::time::Duration;

/// What the books say of a log whose odd lines are of these kinds.
fn ledger(lines: u64, attempts: u64) -> Ledger {
    Ledger { lines, attempts, ..Ledger::default() }
}

fn base() -> Vec<u8> {
    std::fs::read(common::repo("tests/odd/00-base.jsonl")).unwrap()
}

/// Needless sends after the quota was gone, by RL107; `None` without such a finding.
fn needless(report: &Report) -> Option<u64> {
    let problem = report.problems.iter().find(|problem| problem.rule == "RL107")?;
    Some(problem.cost.sends)
}

#[track_caller]
fn assert_quota_verdict(name: &str, report: &Report, sends: u64) {
    assert_balanced(report);
    let rules: Vec<&str> = report.problems.iter().map(|problem| problem.rule).collect();
    assert_eq!(needless(report), Some(sends), "{name}: {rules:?}, {:?}", report.ledger);
    assert_eq!(report.totals.calls, 1, "{name}");
    assert_eq!(report.totals.wasted_sends, sends, "{name}");
}

#[test]
fn every_odd_shape_gets_the_same_verdict() {
    let three = ledger(3, 3);
    let expected: &[(&str, Ledger)] = &[
        ("00-base.jsonl", three),
        ("01-bom.jsonl", three),
        ("02-crlf.jsonl", three),
        ("03-truncated-tail.jsonl", Ledger { rejected: 1, ..ledger(4, 3) }),
        ("04-no-final-newline.jsonl", three),
        ("05-blank-lines.jsonl", Ledger { blank: 5, ..ledger(8, 3) }),
        ("06-ansi-clear-line.jsonl", three),
        ("08-docker-json-file.log", three),
        ("09-cri-partial.log", three),
        ("10-k8s-fluentbit-envelope.jsonl", three),
        ("12-cloudwatch-subscription.json", Ledger { skipped: 1, ..ledger(4, 3) }),
        ("14-lambda-prefix.log", Ledger { skipped: 2, ..ledger(5, 3) }),
        ("16-message-envelope.jsonl", three),
        ("18-two-objects-one-line.jsonl", three),
        ("20-nan.jsonl", three),
        ("21-duplicate-keys.jsonl", three),
        ("22-strings-for-numbers.jsonl", three),
        ("23-timestamps-mixed.jsonl", three),
        ("24-epoch-s-ms-ns.jsonl", three),
        ("25-out-of-order.jsonl", three),
        ("26-duplicate-delivery.jsonl", Ledger { duplicates: 2, ..ledger(5, 3) }),
        ("28-gzip.jsonl.gz", three),
        ("29-utf16le-bom.jsonl", three),
        ("30-invalid-utf8.jsonl", three),
        ("31-nul-tail.jsonl", Ledger { blank: 1, ..ledger(4, 3) }),
        ("42-pretty-printed.json", three),
        ("43-json-array.json", three),
        ("41-noise-between.jsonl", Ledger { skipped: 6, ..ledger(9, 3) }),
        ("44-lone-surrogate.jsonl", three),
        ("46-deep-nesting.json", Ledger { skipped: 1, ..ledger(4, 3) }),
    ];
    for (name, books) in expected {
        let report = common::report(&[common::repo("tests/odd").join(name)]);
        assert_quota_verdict(name, &report, 2);
        assert_eq!(report.ledger, *books, "{name}");
    }
}

#[test]
fn fused_lines_lose_the_attempt_they_cut_and_no_other() {
    let report = common::report(&[common::repo("tests/odd/19-fused-lines.jsonl")]);
    assert_quota_verdict("fused", &report, 1);
    assert_eq!(report.ledger, Ledger { rejected: 1, ..ledger(3, 2) });
    assert_eq!(report.rejects.len(), 1);
    assert_eq!(report.rejects[0].line, 1);
}

#[test]
fn a_rejected_line_is_named_with_its_place() {
    let report = common::report(&[common::repo("tests/odd/03-truncated-tail.jsonl")]);
    let reject = &report.rejects[0];
    assert_eq!((reject.line, report.rejects.len()), (4, 1));
    assert!(reject.column > 1 && reject.reason.starts_with("cut off"), "{reject:?}");
}

#[test]
fn files_without_attempts_are_accounted_for() {
    for (name, books) in
        [("39-empty.jsonl", ledger(0, 0)), ("40-only-noise.log", Ledger { skipped: 4, ..ledger(4, 0) })]
    {
        let report = common::report(&[common::repo("tests/odd").join(name)]);
        assert_balanced(&report);
        assert_eq!(report.ledger, books, "{name}");
    }
}

#[test]
fn compressed_logs_are_told_by_their_bytes() {
    let plain = base();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::stream::encode_all(plain.as_slice(), 1).unwrap();
    assert_quota_verdict("gzip named .jsonl", &judged(&gzip), 2);
    assert_quota_verdict("zstd named .jsonl", &judged(&zstd), 2);
    // Rotated logs are often several members, one after the other.
    let (first, rest) = plain.split_at(plain.iter().position(|byte| *byte == b'\n').unwrap() + 10);
    let mut members = Vec::new();
    for part in [first, rest] {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        member.write_all(part).unwrap();
        members.extend(member.finish().unwrap());
    }
    assert_quota_verdict("two gzip members, a line across both", &judged(&members), 2);
    let mut frames = zstd::stream::encode_all(first, 1).unwrap();
    frames.extend(zstd::stream::encode_all(rest, 1).unwrap());
    assert_quota_verdict("two zstd frames, a line across both", &judged(&frames), 2);
}

#[test]
fn utf16_of_either_order_is_read() {
    let text = String::from_utf8(base()).unwrap();
    for big_endian in [false, true] {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let bytes: Vec<u8> =
            units.flat_map(|unit| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect();
        assert_quota_verdict("UTF-16", &judged(&bytes), 2);
    }
}

#[test]
fn a_line_of_15_mb_is_an_attempt_like_any_other() {
    let mut log = base();
    log.extend_from_slice(br#"{"ts":"2026-01-05T10:00:20Z","call_id":"c-2","attempt":1,"status":200,"prompt":""#);
    log.resize(log.len() + 15_000_000, b'x');
    log.extend_from_slice(b"\"}\n");
    let report = judged(&log);
    assert_balanced(&report);
    assert_eq!(report.ledger, ledger(4, 4));
    assert_eq!(needless(&report), Some(2));
    assert_eq!(report.totals.calls, 2);
}

#[test]
fn a_line_of_70_mb_is_rejected_and_the_rest_read() {
    let base = base();
    let half = base.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut log = base[..half].to_vec();
    log.extend_from_slice(br#"{"ts":"2026-01-05T10:00:01Z","prompt":""#);
    log.resize(log.len() + 70_000_000, b'x');
    log.extend_from_slice(b"\"}\n");
    log.extend_from_slice(&base[half..]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&log).unwrap();
    for (name, bytes) in [("plain", log), ("gzip", gzip.finish().unwrap())] {
        let report = judged(&bytes);
        assert_quota_verdict(name, &report, 2);
        assert_eq!(report.ledger, Ledger { rejected: 1, ..ledger(4, 3) }, "{name}");
        assert_eq!(report.rejects[0].line, 2, "{name}");
        assert!(report.rejects[0].reason.contains("longer than"), "{name}: {:?}", report.rejects[0]);
    }
}

#[test]
fn nesting_of_any_depth_is_survived() {
    for depth in [300, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = if open == "[" { "" } else { "1" };
            let nested = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            let attempt =
                format!("{{\"ts\":\"2026-01-05T10:00:20Z\",\"call_id\":\"c-2\",\"status\":200,\"extra\":{nested}}}\n");
            let cut = format!("{{\"ts\":\"2026-01-05T10:00:21Z\",\"extra\":{}\n", open.repeat(depth));
            for odd in [attempt, format!("{nested}\n"), cut] {
                let mut log = base();
                log.extend_from_slice(odd.as_bytes());
                let report = judged(&log);
                assert_balanced(&report);
                assert_eq!(report.ledger.lines, 4, "{depth} x {open}: {:?}", report.ledger);
                assert_eq!(needless(&report), Some(2), "{depth} x {open}");
            }
        }
    }
}

#[test]
fn torn_nesting_costs_no_more_than_its_length() {
    // Each start of an object inside a torn record could be a record fused to it; looking has an end.
    let mut log = base();
    log.extend_from_slice(
        format!("{{\"ts\":\"2026-01-05T10:00:20Z\",\"a\":{}\n", "{\"a\":".repeat(300_000)).as_bytes(),
    );
    let started = std::time::Instant::now();
    let report = judged(&log);
    assert_quota_verdict("torn", &report, 2);
    assert_eq!(report.ledger, Ledger { rejected: 1, ..ledger(4, 3) });
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn objects_beyond_the_most_of_a_line_are_rejected_not_dropped() {
    let mut log = base();
    for second in 0..1100 {
        log.extend_from_slice(
            format!("{{\"ts\":{},\"call_id\":\"n-{second}\",\"status\":200}}", 1_767_610_000 + second).as_bytes(),
        );
    }
    log.push(b'\n');
    let report = judged(&log);
    assert_balanced(&report);
    assert_eq!(report.ledger, Ledger { rejected: 1, ..ledger(1028, 1027) });
    assert!(report.rejects[0].reason.contains("1024"), "{:?}", report.rejects[0]);
}

/// Every key with a meaning, in the spellings people use.
const KEYS: &[&str] = &[
    "ts",
    "timestamp",
    "time",
    "@timestamp",
    "start_time",
    "startTime",
    "sent_at",
    "created_at",
    "duration_ms",
    "latency_ms",
    "elapsed_ms",
    "duration",
    "duration_s",
    "elapsed_s",
    "latency",
    "ttft_ms",
    "time_to_first_token_ms",
    "run_id",
    "run",
    "session_id",
    "trace_id",
    "call_id",
    "call",
    "turn_id",
    "correlation_id",
    "attempt",
    "attempt_number",
    "try",
    "retry_attempt",
    "retry_count",
    "retries",
    "max_attempts",
    "max_retries",
    "maxRetries",
    "layer",
    "component",
    "source",
    "sdk_retry_count",
    "x-stainless-retry-count",
    "request_id",
    "request-id",
    "requestId",
    "x-request-id",
    "_request_id",
    "aws_request_id",
    "x-amzn-requestid",
    "provider",
    "model",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "org",
    "organization",
    "account",
    "api_key_id",
    "workspace",
    "host",
    "hostname",
    "k8s.pod.name",
    "endpoint",
    "server.address",
    "anthropic-organization-id",
    "status",
    "status_code",
    "http_status",
    "statusCode",
    "code",
    "error_type",
    "error",
    "error_code",
    "error_message",
    "exception",
    "kind",
    "mid_stream",
    "stream",
    "retry_after",
    "retry-after",
    "retry-after-ms",
    "retryDelay",
    "should_retry",
    "x-should-retry",
    "planned_wait_s",
    "retryInMs",
    "delay_ms",
    "retry_delay_ms",
    "retry_in",
    "backoff_s",
    "sleep_s",
    "decision",
    "action",
    "will_retry",
    "is_retryable",
    "outcome",
    "success",
    "result",
    "body",
    "response",
    "response_body",
    "transport",
    "delivered",
    "chunks_delivered",
    "client",
    "user_agent",
    "max_tokens",
    "timeout_s",
    "timeout",
    "side_effect",
    "idempotency_key",
    "request_hash",
    "body_sha256",
    "usage",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_usd",
    "tool",
    "headers",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-unified-status",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "ratelimit-remaining",
];

/// What no field expects, or not there.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1",
    "0.5",
    "-1.5",
    "1e308",
    "-1e308",
    "1e400",
    "1e-400",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "9223372036854775807",
    "99999",
    "65536",
    "\"\"",
    "\" \"",
    "\"x\"",
    "\"NaN\"",
    "\"Infinity\"",
    "\"-1\"",
    "\"1e9\"",
    "\"429\"",
    "\"null\"",
    "\"None\"",
    "\"99999d\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\u{202e}\u{1b}[31m\"",
    "\"1969-12-31T23:59:59Z\"",
    "\"9999-12-31T23:59:60Z\"",
    "\"2026-02-30T00:00:00Z\"",
    "[]",
    "[[]]",
    "[null,1,\"x\",{}]",
    "{}",
    "{\"\":{}}",
    "{\"error\":null}",
    "{\"error\":{\"error\":{\"type\":1}}}",
    "{\"type\":[],\"message\":{},\"code\":{}}",
    "{\"retry-after\":[]}",
    "{\"anthropic-ratelimit-requests-limit\":-1,\"anthropic-ratelimit-requests-remaining\":1e300}",
    "{\"name\":null,\"version\":9}",
    "{\"input_tokens\":-1,\"output_tokens\":\"x\"}",
];

#[test]
fn wrong_types_in_any_field_harm_no_other_line() {
    let base = base();
    for key in KEYS {
        // All values of one key in one log: each line is a call of its own.
        let mut log = base.clone();
        for (place, value) in VALUES.iter().enumerate() {
            let second = place % 60;
            let line = format!(
                "{{\"ts\":\"2026-01-05T11:00:{second:02}Z\",\"call_id\":\"odd-{place}\",\"status\":429,\"{key}\":{value}}}\n"
            );
            log.extend_from_slice(line.as_bytes());
        }
        let report = judged(&log);
        assert_balanced(&report);
        assert_eq!(report.ledger.lines, 3 + VALUES.len() as u64, "{key}: {:?}", report.ledger);
        let whole = needless(&report).unwrap_or(0);
        assert!(whole >= 2, "{key}: the quota is not found any more: {whole}");
    }
}

#[test]
fn a_field_alone_of_any_type_is_survived() {
    let mut log = base();
    let mut lines = 3;
    for key in KEYS {
        for value in VALUES {
            log.extend_from_slice(format!("{{\"{key}\":{value}}}\n").as_bytes());
            lines += 1;
        }
    }
    let report = judged(&log);
    assert_balanced(&report);
    assert_eq!(report.ledger.lines, lines);
    assert_eq!(report.ledger.attempts, 3, "a field alone is no attempt: {:?}", report.ledger);
    assert_eq!(needless(&report), Some(2));
}

/// Reads, judges, and writes in every form; what comes out is of no interest here. `None` where the log is refused as
/// one that is no text.
fn survive(log: &[u8]) -> Option<Report> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), log).unwrap();
    let ingested = match ingest::read(&[Source::File(file.path().to_owned())], &Options::default(), &|_| {}) {
        Ok(ingested) => ingested,
        Err(error) => {
            assert!(log.contains(&0) && error.to_string().contains("it is no log"), "{error}");
            return None;
        }
    };
    let report = common::report_of(&ingested, &common::complete());
    assert_balanced(&report);
    let mut out = Vec::new();
    retrylens::render::json::render(&report, &mut out).unwrap();
    serde_json::from_slice::<serde_json::Value>(&out).expect("the report is JSON");
    out.clear();
    let options = retrylens::render::text::TextOptions { verbose: true, ..Default::default() };
    retrylens::render::text::render(&report, &options, &mut out).unwrap();
    let text = String::from_utf8(out).expect("the report is UTF-8");
    let control = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "no control character of a log reaches the terminal");
    Some(report)
}

/// A record of the fields that matter, with values that fit or do not.
fn record() -> impl Strategy<Value = String> {
    let pair = (proptest::sample::select(KEYS), proptest::sample::select(VALUES));
    let times = prop_oneof![
        Just("\"2026-01-05T10:00:00Z\"".to_owned()),
        (0..4_000_000_000_000_i64).prop_map(|n| n.to_string()),
        Just("null".to_owned()),
    ];
    (times, proptest::sample::select(&[200, 400, 429, 500, 529, 0, 999][..]), proptest::collection::vec(pair, 0..8))
        .prop_map(|(ts, status, pairs)| {
            let fields: String = pairs.iter().map(|(key, value)| format!(",\"{key}\":{value}")).collect();
            format!("{{\"ts\":{ts},\"status\":{status}{fields}}}")
        })
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let Some(report) = survive(&bytes) else { return Ok(()) };
        let unterminated = u64::from(bytes.last().is_some_and(|byte| *byte != b'\n'));
        let newlines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let decoded = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        // A record of a document is one line of the ledger, however many lines it stands on.
        let is_document = report.inputs.iter().any(|input| input.envelope.as_deref().is_some_and(|it| it.contains("JSON document")));
        prop_assert!(decoded || is_document || report.ledger.lines >= newlines + unterminated);
    }

    #[test]
    fn random_text_of_json_pieces_never_panics(
        pieces in proptest::collection::vec(
            proptest::sample::select(&["{", "}", "[", "]", "\"", ":", ",", "\n", "\\", "\\u12", "ts", "1", "e", "-", "null",
                "\"ts\":1767607200", "\"status\":429", "NaN", "\u{1b}[K", "\u{feff}", "\0", "é", " "][..]),
            0..200,
        ),
    ) {
        survive(pieces.concat().as_bytes());
    }

    #[test]
    fn random_records_never_panic(lines in proptest::collection::vec(record(), 0..40)) {
        let report = survive((lines.join("\n") + "\n").as_bytes()).expect("a log");
        prop_assert_eq!(report.ledger.lines, lines.len().max(1) as u64);
    }

    #[test]
    fn damage_costs_the_lines_it_touches_only(
        place in 0_usize..3, offset in 0_usize..250, byte in any::<u8>().prop_filter("a newline cuts the line", |byte| *byte != b'\n'),
    ) {
        let base = base();
        let mut lines: Vec<Vec<u8>> = base.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let line = &mut lines[place];
        let offset = offset.min(line.len() - 2);
        line[offset] = byte;
        let report = survive(&lines.concat()).expect("a log");
        prop_assert!(report.ledger.lines >= 3, "{:?}", report.ledger);
        prop_assert!(report.ledger.attempts >= 2, "{:?}", report.ledger);
    }
}

#[test]
fn damaged_compression_is_an_error_not_a_panic() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&base()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::stream::encode_all(base().as_slice(), 1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("a.gz", gzip), ("a.zst", zstd)] {
        for length in 4..bytes.len() {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes[..length]).unwrap();
            let sources = [retrylens::ingest::Source::File(path)];
            let read = retrylens::ingest::read(&sources, &retrylens::ingest::Options::default(), &|_| {});
            // What stands before the cut is kept, and the input is marked.
            let is_whole = read.is_ok_and(|read| read.inputs[0].failure.is_none());
            assert!(!is_whole, "{name} cut to {length} bytes is read as if it were whole");
        }
    }
}

/// A client that lost its stop: one call of twenty thousand attempts, and as many attempts that tell neither call nor
/// time apart. What grows with the square of them takes sixteen times as long for four times the lines.
#[test]
fn a_loop_run_wild_takes_no_longer_a_line() {
    let second = |i: u32| format!("2026-03-10T{:02}:{:02}:{:02}Z", i / 3600, i / 60 % 60, i % 60);
    let failure = r#""model":"m","status":529,"error_type":"overloaded_error","duration_ms":5}"#;
    let one_call =
        |i: u32| format!(r#"{{"ts":"{}","run_id":"r","call_id":"c","attempt":{},{failure}"#, second(i), i + 1);
    let unnamed = |_: u32| format!(r#"{{"ts":"2026-03-10T06:00:00Z",{failure}"#);
    let lines: [&dyn Fn(u32) -> String; 2] = [&one_call, &unnamed];
    for line in lines {
        let time_of = |attempts: u32| {
            let log: String = (0..attempts).map(|i| line(i) + "\n").collect();
            let start = std::time::Instant::now();
            assert_eq!(judged(log.as_bytes()).ledger.attempts, u64::from(attempts));
            start.elapsed()
        };
        let (quarter, whole) = (time_of(5_000), time_of(20_000));
        // A second for what a busy machine adds to a short run.
        assert!(whole < quarter * 10 + Duration::from_secs(1), "{quarter:?} for 5,000 attempts, {whole:?} for 20,000");
    }
}
