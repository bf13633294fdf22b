//! The fast lane and the strict parser must agree on every line, whole, odd or broken.

mod json;

use super::*;
use crate::attempt::Zone;
use crate::ingest::filter::Filter;

/// Logs of several shapes, to be varied.
const LINES: &[&str] = &[
    r#"{"ts": "2026-11-29T18:02:26.749891Z", "run_id": "run-1", "call_id": "c-1", "layer": "boundary", "attempt": 1, "sdk_retry_count": 0, "request_id": "req_1", "provider": "anthropic", "model": "m", "status": 200, "error_type": null, "error_message": null, "stream": true, "mid_stream": false, "retry_after": null, "headers": {"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-requests-reset": "2026-11-29T18:02:29Z", "request-id": "req_2"}, "duration_ms": 41.033, "outcome": "ok", "client": {"name": "Anthropic/Python", "version": "2.14.0"}, "transport": null}"#,
    r#"{"timestamp":1767607200123,"trace_id":"t","run_id":"r","turn_id":"u","status_code":"200","latency_ms":850,"usage":{"input_tokens":12,"output_tokens":7,"other":{"deep":[1,2,"x"]}},"tags":["a","b"],"x-ratelimit-limit-tokens":"1000","x-ratelimit-remaining-tokens":10,"note":"caf\u00e9 \"quoted\""}"#,
    r#"{"@timestamp":"2026-01-05T10:00:00Z","status":200,"success":true,"org":"acme","workspace":"w","ttft_ms":12.5,"cache_read_tokens":5,"x-amzn-requestid":"a","headers":null,"error":null,"max_attempts":3}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","attempt":1,"status":200,"http.request.resend_count":0,"headers":{"x-envoy-attempt-count":"1","x-litellm-attempted-retries":0}}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":529,"error":{"type":"overloaded_error","message":"Overloaded"},"attempt":2,"call_id":"c"}"#,
    r#"{"level":"info","msg":"started"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"error":{"type":"overloaded_error"},"outcome":"ok"}"#,
];

fn read(lines: &[String], mut lane: Lane) -> String {
    let filter = Filter::default();
    let mut table = AttemptTable::default();
    let mut out = String::new();
    lane.start_table();
    for (number, line) in lines.iter().enumerate() {
        let place = Place {
            file: 0,
            line: number as u32 + 1,
            stream: "file:x",
            zone: Zone::UTC,
            filter: &filter,
            keep_ids: false,
        };
        read_line(line, &place, &mut lane, &mut table, |outcome| {
            out += match outcome {
                Outcome::Taken(Taken::Attempt) => "A",
                Outcome::Taken(_) => "S",
                Outcome::Unreadable(..) => "R",
            };
        });
    }
    for (index, row) in table.rows.iter().enumerate() {
        let origin = table.origin(row);
        let names: Vec<_> = [origin.provider, origin.model, origin.layer, origin.client, origin.client_version]
            .into_iter()
            .chain([origin.org, origin.api_key, origin.workspace, row.run])
            .map(|symbol| table.names.get(symbol).map(str::to_owned))
            .collect();
        let row =
            crate::attempt::Attempt { origin: crate::attempt::OriginId(0), run: crate::attempt::Symbol::NONE, ..*row };
        let beneath = table.detail(&table.rows[index]).map(|detail| (detail.gateway_retries, detail.resends));
        out += &format!("\n{row:?} {names:?} {:?} {beneath:?}", table.usage(index));
    }
    let mut gauges: Vec<String> =
        table.gauges.iter().map(|(_, kind, track)| format!("{kind:?} {:?}", track.series.clone().sorted())).collect();
    gauges.sort();
    out + &gauges.join("\n")
}

/// SplitMix64.
pub(super) fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The line with one part replaced by something a logger, or an enemy, might write there.
fn varied(line: &str, state: &mut u64) -> String {
    const OTHER: &[&str] = &[
        "null",
        "true",
        "false",
        "0",
        "1",
        "2",
        "-1",
        "3.5",
        "1e3",
        "01",
        "200",
        "429",
        "\"\"",
        "\"ok\"",
        "\"error\"",
        "\"2\"",
        "\"2/5\"",
        "\"a\\\\b\"",
        "\"\\u0041\"",
        "\"\\ud83d\"",
        "{}",
        "[]",
        "{\"a\":1}",
        "[1,[2]]",
        "NaN",
        "\"req_9\"",
        "",
        "\"2026-01-05T12:00:00+02:00\"",
        "1767607200",
        "\"\u{1}\"",
        "99999999999999999999",
        "0.1234567890123456789",
        "\" 7 \"",
    ];
    let scalars: Vec<(usize, usize)> = {
        let bytes = line.as_bytes();
        (1..bytes.len())
            .filter(|&at| matches!(bytes[at - 1], b':' | b' ' | b',' | b'['))
            .filter_map(|at| scan::scalar(bytes, at).map(|(_, _, _, next)| (at, next)))
            .collect()
    };
    if scalars.is_empty() {
        return line.to_owned();
    }
    let (start, end) = scalars[random(state) as usize % scalars.len()];
    match random(state) % 8 {
        0 => {
            let at = random(state) as usize % line.len();
            let at = line.floor_char_boundary(at);
            line[..at].to_owned()
        }
        1 => {
            let mut at = random(state) as usize % line.len();
            at = line.floor_char_boundary(at);
            let next = line[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            format!("{}{}", &line[..at], &line[next..])
        }
        2 => format!("{line}{line}"),
        _ => format!("{}{}{}", &line[..start], OTHER[random(state) as usize % OTHER.len()], &line[end..]),
    }
}

#[test]
fn lane_and_strict_parser_agree() {
    for seed in 0..3000u64 {
        let mut state = seed;
        let mut lines = Vec::new();
        for _ in 0..12 {
            let line = LINES[random(&mut state) as usize % LINES.len()];
            lines.push(line.to_owned());
            let mut other = varied(line, &mut state);
            if random(&mut state).is_multiple_of(2) {
                other = varied(&other, &mut state);
            }
            if !other.is_empty() {
                lines.push(other);
            }
        }
        let (lane, strict) = (read(&lines, Lane::default()), read(&lines, Lane::closed()));
        let first = lane.lines().zip(strict.lines()).find(|(a, b)| a != b);
        assert!(lane == strict, "seed {seed}: {first:#?}");
    }
}

#[test]
fn ordinary_lines_do_take_the_lane() {
    let filter = Filter::default();
    let mut table = AttemptTable::default();
    let mut lane = Lane::default();
    let place = Place { file: 0, line: 1, stream: "file:x", zone: Zone::UTC, filter: &filter, keep_ids: false };
    for line in &LINES[..4] {
        read_line(line, &place, &mut lane, &mut table, |_| {});
        if line.contains('\\') {
            continue;
        }
        assert_eq!(lane.take(line, &place, &mut table), Answer::Taken, "{line}");
    }
}
