//! Lines inside envelopes: the first line names the envelope, the rest are the lines it is put around.

#![no_main]

use base64::Engine;
use libfuzzer_sys::fuzz_target;
use retrylens::ingest::Options;
use serde_json::json;

const ENVELOPES: [&str; 14] = [
    "docker",
    "cri",
    "kubernetes",
    "cloudwatch",
    "events",
    "firehose",
    "lambda",
    "loki",
    "datadog",
    "journald",
    "syslog",
    "compose",
    "kubectl",
    "message",
];

fuzz_target!(|bytes: &[u8]| {
    let (word, lines) = retrylens_fuzz::first_line(bytes);
    let envelope = retrylens_fuzz::choose(&ENVELOPES, &word);
    let lines = String::from_utf8_lossy(lines);
    let lines: Vec<&str> = lines.lines().collect();
    let wrapped = match envelope {
        "cloudwatch" => {
            let events: Vec<_> =
                lines.iter().map(|line| json!({"id": "1", "timestamp": 1767607200123_u64, "message": line})).collect();
            json!({"messageType": "DATA_MESSAGE", "logGroup": "g", "logStream": "s", "logEvents": events}).to_string()
        }
        "loki" => {
            let values: Vec<_> = lines.iter().map(|line| json!(["1767607200123000000", line])).collect();
            json!({"streams": [{"stream": {"app": "a"}, "values": values}]}).to_string()
        }
        _ => lines.iter().map(|line| around(envelope, line) + "\n").collect(),
    };
    retrylens_fuzz::read(wrapped.as_bytes(), &Options::default());
});

/// One line of an envelope.
fn around(envelope: &str, line: &str) -> String {
    let time = "2026-01-05T10:00:00.123456789Z";
    match envelope {
        "docker" => json!({"log": format!("{line}\n"), "stream": "stdout", "time": time}).to_string(),
        // A line that begins with a space goes on in the next.
        "cri" => format!("{time} stdout {} {line}", if line.starts_with(' ') { "P" } else { "F" }),
        "kubernetes" => json!({"log": line, "kubernetes": {"pod_name": "p", "namespace_name": "n"}}).to_string(),
        "events" => {
            json!({"ingestionTime": 1767607200123_u64, "timestamp": 1767607200123_u64, "eventId": "e", "message": line})
                .to_string()
        }
        "firehose" => json!({"data": base64::engine::general_purpose::STANDARD.encode(line)}).to_string(),
        "lambda" => format!("{time}\t7c9d5f3e-6b0a-4b9d-9d4c-1f2e3d4c5b6a\tINFO\t{line}"),
        "datadog" => json!({"content": {"message": line, "timestamp": time}}).to_string(),
        "journald" => json!({"MESSAGE": line, "__REALTIME_TIMESTAMP": "1767607200123456"}).to_string(),
        "syslog" => format!("<34>1 {time} host app 12 - - {line}"),
        "compose" => format!("app-1  | {line}"),
        "kubectl" => format!("[pod/app-1/app] {line}"),
        _ => json!({"level": "info", "message": line}).to_string(),
    }
}
