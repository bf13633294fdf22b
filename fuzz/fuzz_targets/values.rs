//! Values of one attempt: a time, a hint and headers, a line each, and behind them what an error says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::ingest::{ErrorContext, Dialect, diagnose, read_str};
use retrylens::model::Time;
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.splitn(4, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (time, hint, header, rest) = (next(), next(), next(), next());
    let (name, value) = header.split_once(':').unwrap_or(("retry-after", header));
    let second = "2026-01-05T10:00:09Z";
    let records = [
        json!({"ts": time, "attempt": 1, "call_id": "c", "status": 429, "retry_after": hint, "error": rest}),
        json!({"ts": second, "attempt": 2, "call_id": "c", "status": 503, "headers": {name: value}, "error_message": rest}),
        json!({"ts": second, "attempt": 3, "call_id": "c", "status": hint, "headers": header, "duration": time}),
        json!({"ended_at": time, "attempt": time, "call_id": "c", "status": 200, "duration_ms": hint, "timeout_s": hint}),
    ];
    let log: String = records.iter().map(|record| format!("{record}\n")).collect();
    let table = read_str(&log);
    for row in &table.rows {
        let hint_us = table.detail(row).and_then(|detail| detail.hint_us);
        assert!(hint_us.is_none_or(|us| us >= 0), "{hint_us:?} in {log}");
        assert!(row.duration.as_us().is_none_or(|us| us >= 0), "{row:?}");
        // A time that is read can be shown.
        assert!(!row.sent.to_string().is_empty() && row.ended() >= row.sent, "{row:?}");
    }
    let dialect = Dialect::default();
    let now = table.rows.first().map_or(Time(1_767_607_200_000_000), |row| row.sent);
    let aside =
        ErrorContext { status: None, retry_after: Some(hint), side_effect: false, provider: None, now, dialect: &dialect };
    let wait_s = diagnose(rest, &aside).wait_s;
    assert!(wait_s.is_none_or(|seconds| seconds.is_finite() && seconds >= 0.0), "{wait_s:?} in {rest}");
});
