//! Streams that began well and did not end well: interrupted, truncated, stalled.

use retrylens::ingest::read_str;
use retrylens::judge::{Options, judge};
use std::collections::BTreeMap;

/// Findings of severity warning or error by rule.
fn loud(log: &str) -> BTreeMap<&'static str, u64> {
    let table = read_str(log);
    let judgement = judge(&table, &Options { complete: true, ..Options::default() });
    let mut loud = BTreeMap::new();
    for fold in judgement.problems.values() {
        let count = fold.counts[1] + fold.counts[2];
        if count > 0 {
            *loud.entry(fold.rule.code).or_default() += count;
        }
    }
    loud
}

/// One stream a call, a minute apart, each saying `rest` besides.
fn streams(provider: &str, rest: &[&str]) -> String {
    let line = |(minute, rest): (usize, &&str)| {
        format!(
            "{{\"ts\":\"2026-01-05T10:{minute:02}:00Z\",\"run_id\":\"r\",\"call_id\":\"c{minute}\",\"request_id\":\"q{minute}\",\
             \"provider\":\"{provider}\",\"model\":\"m\",\"stream\":true,\"duration_ms\":900,{rest}}}\n"
        )
    };
    rest.iter().enumerate().map(line).collect()
}

#[test]
fn every_sign_of_a_missing_end_is_read() {
    let whole = r#""status":200,"outcome":"ok""#;
    for sign in [
        r#""completed":false"#,
        r#""message_stop":false"#,
        r#""response_complete":"false""#,
        r#""done":false"#,
        r#""stream_interrupted":true"#,
        r#""transport":"stream_ended_early""#,
        r#""transport":"connection reset by peer during the answer""#,
        r#""transport":"server closed mid-response""#,
        r#""transport":"stalled""#,
        r#""body":"data: {\"choices\":[{\"delta\":{}}]}\n\n""#,
    ] {
        let log = streams("anthropic", &[&format!("{whole},{sign}")]);
        assert_eq!(loud(&log), BTreeMap::from([("RL207", 1)]), "{log}");
    }
    for sign in [
        r#""completed":true"#,
        r#""completed":"2026-01-05T10:00:01Z""#,
        r#""stop_reason":"end_turn","completed":false"#,
        r#""stop_reason":null,"completed":true"#,
        r#""transport":"closed_after_response""#,
        r#""transport":"http/1.1""#,
        r#""body":"data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n""#,
        r#""finish_reasons":["stop"]"#,
    ] {
        let log = streams("anthropic", &[&format!("{whole},{sign}")]);
        assert!(loud(&log).is_empty(), "{log}: {:?}", loud(&log));
    }
}

#[test]
fn an_empty_stop_reason_is_compared_with_the_other_streams_of_the_client() {
    let said = |reason: &str| format!(r#""status":200,"stop_reason":{reason}"#);
    let (given, empty, absent) = (said("\"end_turn\""), said("null"), r#""status":200"#.to_owned());
    for (provider, rest, found) in [
        ("my-server", vec![&given, &given, &empty], 1),
        ("my-server", vec![&given, &given, &given, &absent], 1),
        ("my-server", vec![&empty, &empty, &empty], 0),
        ("my-server", vec![&empty, &absent, &absent], 0),
        ("my-server", vec![&given, &empty, &empty, &empty], 0),
        ("anthropic", vec![&empty, &absent, &absent], 1),
        ("anthropic", vec![&empty, &empty, &empty], 0),
        ("anthropic", vec![&given, &absent, &absent], 0),
    ] {
        let rest: Vec<&str> = rest.into_iter().map(String::as_str).collect();
        let log = streams(provider, &rest);
        assert_eq!(loud(&log).get("RL207").copied().unwrap_or(0), found, "{log}");
    }
}

#[test]
fn an_interrupted_stream_is_transient() {
    for failure in [
        r#""status":200,"mid_stream":true,"outcome":"error""#,
        r#""status":200,"outcome":"error","completed":false"#,
        r#""status":200,"outcome":"error","transport":"connection closed while streaming""#,
        r#""status":200,"outcome":"error","transport":"incomplete chunked read""#,
        r#""status":200,"outcome":"stalled""#,
        r#""status":200,"outcome":"error","error_message":"peer closed connection without sending complete message body""#,
    ] {
        let given_up = loud(&streams("anthropic", &[failure]));
        let told: Vec<&str> = given_up.into_keys().collect();
        assert!(told == ["RL202"] || told == ["RL201"], "{failure}: {told:?}");
        let log = format!(
            "{}{}",
            streams("anthropic", &[failure]),
            r#"{"ts":"2026-01-05T10:00:02.5Z","run_id":"r","call_id":"c0","request_id":"q","provider":"anthropic","model":"m","stream":true,"duration_ms":900,"status":200}"#
        );
        assert!(loud(&log).is_empty(), "{log}: {:?}", loud(&log));
    }
}

#[test]
fn the_fast_lane_reads_ends_as_the_strict_parser_does() {
    // Alike but for the end: the lines after the first take the fast path.
    let many = |rest: &str| streams("my-server", &[rest; 8]);
    let given = many(r#""status":200,"stop_reason":"end_turn""#);
    let empty = r#""status":200,"stop_reason":null"#;
    let log = format!("{given}{}", streams("my-server", &[empty, empty]).replace("\"c", "\"d").replace("T10", "T11"));
    assert_eq!(loud(&log).get("RL207"), Some(&2), "{log}");
}
