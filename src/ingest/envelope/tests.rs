//! Tests of one line in each envelope.

use super::*;

/// Name of the envelope, line, and the expected text, time and source.
type Line = (&'static str, &'static str, &'static str, Option<&'static str>, Option<&'static str>);

const LINES: &[Line] = &[
    (
        "docker json-file",
        r#"{"log":"{\"a\":1}\n","stream":"stdout","time":"2026-01-05T10:00:00.000912345Z"}"#,
        "{\"a\":1}\n",
        Some("2026-01-05T10:00:00.000912Z"),
        None,
    ),
    ("CRI", r#"2026-01-05T10:00:00Z stdout F {"a":1}"#, r#"{"a":1}"#, Some("2026-01-05T10:00:00Z"), None),
    (
        "Kubernetes (Fluent Bit)",
        r#"{"log":"x","kubernetes":{"pod_name":"p-1","container_name":"c"},"time":"2026-01-05T10:00:00Z"}"#,
        "x",
        Some("2026-01-05T10:00:00Z"),
        Some("p-1/c"),
    ),
    (
        "CloudWatch subscription",
        r#"{"messageType":"DATA_MESSAGE","logStream":"s","logEvents":[{"id":"1","timestamp":1767607200000,"message":"x"}]}"#,
        "x",
        Some("2026-01-05T10:00:00Z"),
        Some("s"),
    ),
    (
        "CloudWatch events",
        r#"{"events":[{"timestamp":1767607200000,"message":"x","ingestionTime":1767607200001}]}"#,
        "x",
        Some("2026-01-05T10:00:00Z"),
        None,
    ),
    ("Firehose", r#"{"records":[{"data":"eHkK"}]}"#, "xy", None, None),
    ("Firehose", r#"{"data":"H4sIAAAAAAACA6uo5AIAW8uLuwMAAAA=","recordId":"1"}"#, "xy", None, None),
    (
        "AWS Lambda",
        "2026-01-05T10:00:00Z\t00000000-0000-4000-8000-000000000014\tWARN\t{}",
        "{}",
        Some("2026-01-05T10:00:00Z"),
        None,
    ),
    (
        "Loki",
        r#"{"streams":[{"stream":{"app":"a"},"values":[["1767607200000000000","x"]]}]}"#,
        "x",
        Some("2026-01-05T10:00:00Z"),
        Some("a"),
    ),
    (
        "Loki (logcli)",
        r#"{"labels":{"pod":"p"},"line":"x","timestamp":"2026-01-05T10:00:00Z"}"#,
        "x",
        Some("2026-01-05T10:00:00Z"),
        Some("p"),
    ),
    (
        "Datadog",
        r#"{"id":"1","content":{"timestamp":"2026-01-05T10:00:00Z","host":"h","message":"x"}}"#,
        "x",
        Some("2026-01-05T10:00:00Z"),
        Some("h"),
    ),
    (
        "journald",
        r#"{"__REALTIME_TIMESTAMP":"1767607200000000","_SYSTEMD_UNIT":"u","MESSAGE":[120,121]}"#,
        "xy",
        Some("2026-01-05T10:00:00Z"),
        Some("u"),
    ),
    (
        "syslog (RFC 5424)",
        r#"<34>1 2026-01-05T10:00:00Z host app 12 ID [a b="]\"["][c] {}"#,
        "{}",
        Some("2026-01-05T10:00:00Z"),
        Some("host/app"),
    ),
    ("syslog (RFC 3164)", "<34>Jan  5 10:00:00 host app[12]: {}", "{}", None, Some("host/app")),
    ("syslog (RFC 3164)", "2026-01-05T10:00:00Z host app: x", "x", Some("2026-01-05T10:00:00Z"), Some("host/app")),
    ("docker compose", "app-1   | x", "x", None, Some("app-1")),
    ("kubectl", "[pod/p-1/c] x", "x", None, Some("p-1/c")),
    (
        "JSON in a message",
        r#"{"@timestamp":"2026-01-05T10:00:00Z","level":"WARN","message":"{\"status\":429}"}"#,
        r#"{"status":429}"#,
        Some("2026-01-05T10:00:00Z"),
        None,
    ),
    ("stern", r#"p-1 c {"a":1}"#, r#"{"a":1}"#, None, Some("p-1/c")),
    (
        "words before JSON",
        r#"2026-01-05 10:00:00,123 INFO [1] llm: {"a":1}"#,
        r#"{"a":1}"#,
        Some("2026-01-05T10:00:00.123Z"),
        None,
    ),
];

#[test]
fn each_line_is_unwrapped_from_its_envelope() {
    for (name, line, text, time, source) in LINES {
        let mut found = Vec::new();
        let first = ENVELOPES.iter().find(|envelope| {
            envelope.unwrap_line(line, Zone::UTC, &mut |inner| {
                let time = inner.time.map(|time| time.to_string());
                found.push((inner.text.to_string(), time, inner.source.as_deref().map(str::to_owned)));
            })
        });
        assert_eq!(first.map(|envelope| envelope.name()), Some(*name), "{line}");
        let expected = ((*text).to_owned(), time.map(str::to_owned), source.map(str::to_owned));
        assert_eq!(found, [expected], "{line}");
    }
}

#[test]
fn ordinary_records_have_no_envelope() {
    for line in [
        r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","attempt":1,"status":429,"message":"{\"error\":{\"type\":\"x\"}}"}"#,
        r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","attempt":1,"status":400,"body":{"status":400,"error":"x"}}"#,
        r#"{"data":"not base64!","status":200}"#,
        "ts=2026-01-05T10:00:00Z status=429 msg=\"a | b\"",
        "POST /v1/messages {200}",
    ] {
        let found = ENVELOPES.iter().find(|envelope| envelope.unwrap_line(line, Zone::UTC, &mut |_| {}));
        assert_eq!(found.map(|envelope| envelope.name()), None, "{line}");
    }
}
