//! Checks that the fast path and the strict reader agree on every line, whether valid, unusual or broken.

#![allow(clippy::unwrap_used)]

mod json;
mod plan;

use super::*;
use crate::ingest::dialect::Dialect;
use crate::ingest::limits::LONGEST_LINE;
use crate::ingest::record::scan;
use crate::ingest::text::read_with;
use crate::model::{Detail, Zone};

/// Logs of several shapes, used as seeds for variation.
const LINES: &[&str] = &[
    r#"{"ts": "2026-11-29T18:02:26.749891Z", "run_id": "run-1", "call_id": "c-1", "layer": "boundary", "attempt": 1, "sdk_retry_count": 0, "request_id": "req_1", "provider": "anthropic", "model": "m", "status": 200, "error_type": null, "error_message": null, "stream": true, "mid_stream": false, "retry_after": null, "headers": {"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-requests-reset": "2026-11-29T18:02:29Z", "request-id": "req_2"}, "duration_ms": 41.033, "outcome": "ok", "client": {"name": "Anthropic/Python", "version": "2.14.0"}, "transport": null}"#,
    r#"{"timestamp":1767607200123,"trace_id":"t","run_id":"r","turn_id":"u","status_code":"200","latency_ms":850,"usage":{"input_tokens":12,"output_tokens":7,"other":{"deep":[1,2,"x"]}},"tags":["a","b"],"x-ratelimit-limit-tokens":"1000","x-ratelimit-remaining-tokens":10,"note":"caf\u00e9 \"quoted\""}"#,
    r#"{"@timestamp":"2026-01-05T10:00:00Z","status":200,"success":true,"org":"acme","workspace":"w","ttft_ms":12.5,"cache_read_tokens":5,"x-amzn-requestid":"a","headers":null,"error":null,"max_attempts":3}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","attempt":1,"status":200,"http.request.resend_count":0,"headers":{"x-envoy-attempt-count":"1","x-litellm-attempted-retries":0}}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":529,"error":{"type":"overloaded_error","message":"Overloaded"},"attempt":2,"call_id":"c"}"#,
    r#"{"level":"info","msg":"started"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","attempt":1,"status":200,"side_effect":false,"mid_stream":false,"will_retry":null,"should_retry":null,"decision":null,"outcome":"ok"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":1,"request_id":"req_7","status":200,"max_tokens":null,"timeout_s":null,"outcome":"ok"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"c","attempt":2,"request_id":"req_7","status":200,"max_tokens":64,"timeout_s":9.5,"outcome":"ok"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"error":{"type":"overloaded_error"},"outcome":"ok"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"host":{"name":"node-1","os":{"name":"linux"}},"hostname":"h","base_url":"https://api.example.com/v1?k=1"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"host":"api.example.com","pod":"p-1","outcome":"ok"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"will_retry":{},"exception":{"type":null},"outcome":"ok"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"error":{"details":[null,{"message":null}]},"outcome":"ok"}"#,
    r#"{"started_at":"2026-01-05T10:00:00Z","ended_at":1767607203250,"status":200,"duration_us":3250000,"call_id":"c"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"duration":800000000,"duration_ns":5,"callId":"c","call_id":null}"#,
    r#"{"timestamp":"2026-01-05T10:00:00Z","ended_at":"2026-01-05T10:00:01Z","Status":200,"latency":0.75,"httpStatus":201}"#,
    r#"{"time":1767607200123,"runId":"r","attempt":{"number":1,"status":200,"http":{"x":1}},"res":{"statusCode":200,"headers":{"request-id":"q","x-ratelimit-limit-requests":9,"x-ratelimit-remaining-requests":4}},"responseTime":80,"request_headers":{"user-agent":"A/1","x-stainless-retry-count":0,"x-request-id":"p"}}"#,
    r#"{"time":1767607200123,"attributes":{"http.response.status_code":200,"model":"m","res":{"statusCode":5}},"http":{"response":{"status_code":200},"request":{"model":"n"}}}"#,
    r#"{"ts":"2026-01-05T10:00:00.5Z","call_id":"","run_id":"r","status":200,"duration_ms":12345678.25,"ttft_ms":0.000125,"cost_usd":0.0123456,"input_tokens":123456789,"output_tokens":"7","x-ratelimit-limit-requests":4000,"x-ratelimit-remaining-requests":"-1"}"#,
    r#"{"time":1767607200123,"fields":{"status":200,"error":null,"attempt":2},"response":{"status":503,"headers":{"retry-after":2}},"req":"x","model":"m"}"#,
];

/// Like [`LINES`] with user-defined keys, some of them beside built-in ones.
const OWN_LINES: &[&str] = &[
    r#"{"when": "2026-11-29T18:02:26.749891Z", "call_id": "c-1", "upstream": {"request": "req_1", "took": 0.25, "limits": {"left": 49, "all": "50"}, "note": null}, "who.llm": "m", "model": "other", "st": 200, "status": 503, "err": null}"#,
    r#"{"when":1767607200123,"ts":1,"st":"200","upstream":{"took":1},"upstream.request":"req_2","usage":{"in":5,"output_tokens":7},"who":{"llm":"n"}}"#,
    r#"{"when":"2026-01-05T10:00:00Z","st":429,"upstream":{"error":{"type":"rate_limit_error"},"request":"r"},"wait":20,"attempt":2}"#,
    r#"{"when":"2026-01-05T10:00:00Z","st":null,"status":200,"upstream":null,"who":"none"}"#,
];

const OWN_KEYS: &[(&str, &str)] = &[
    ("when", "ts"),
    ("upstream.request", "request_id"),
    ("upstream.took", "duration_s"),
    ("upstream.error", "error"),
    ("upstream.limits.left", "x-ratelimit-remaining-requests"),
    ("upstream.limits.all", "x-ratelimit-limit-requests"),
    ("who.llm", "model"),
    ("st", "status"),
    ("usage.in", "input_tokens"),
    ("wait", "retry_after"),
];

fn own() -> Dialect {
    Dialect { fields: Mapping::new(OWN_KEYS.iter().copied()).unwrap(), ..Dialect::default() }
}

/// Returns the rows of lines and what became of each, first with the ids that findings need, then with all.
fn read(lines: &[String], dialect: &Dialect, mut fast_path: FastPath) -> String {
    [false, true].map(|keep_ids| rows_of(lines, dialect, &mut fast_path, keep_ids)).concat()
}

fn rows_of(lines: &[String], dialect: &Dialect, fast_path: &mut FastPath, keep_ids: bool) -> String {
    let mut table = AttemptTable::default();
    let mut out = String::new();
    let mut memory = Memory::default();
    memory.start_table(0, &mut table);
    fast_path.begin(&dialect.fields, keep_ids, memory.table());
    for (number, line) in lines.iter().enumerate() {
        let line_number = number as u32 + 1;
        let place = Place { line: line_number, stream: "file:x", keep_ids, ..Place::anywhere(Zone::UTC, dialect) };
        if take_similar(line, &place, fast_path, &mut memory, &mut table) {
            out += "A";
            continue;
        }
        read_line(line, &place, fast_path, &mut memory, &mut table, |outcome| {
            out += match outcome {
                Outcome::Taken(Taken::Attempt) => "A",
                Outcome::Taken(Taken::Unclear(_)) => "U",
                Outcome::Taken(_) => "S",
                Outcome::Misread(..) => "M",
                Outcome::Unreadable(..) => "R",
            };
        });
    }
    for (index, row) in table.rows.iter().enumerate() {
        let origin = table.origin(row);
        let names: Vec<_> = [origin.provider, origin.model, origin.layer, origin.client, origin.client_version]
            .into_iter()
            .chain([origin.org, origin.api_key, origin.workspace, origin.host, origin.endpoint, row.run])
            .map(|symbol| table.names.get(symbol).map(str::to_owned))
            .collect();
        let row = crate::model::Attempt { origin: crate::model::OriginId(0), run: crate::model::Symbol::NONE, ..*row };
        let beneath = table.detail(&table.rows[index]).map(|detail| {
            let Detail { hint_us, planned_us, max_tokens, timeout, delivered, idempotency, .. } = *detail;
            (detail.gateway_retries, detail.resends, hint_us, planned_us, max_tokens, timeout, delivered, idempotency)
        });
        let kept = &table.rows[index];
        let ids = (table.request_id(kept), table.call_id(kept), table.request_hash(kept));
        out += &format!("\n{row:?} {names:?} {:?} {beneath:?} {ids:?}", table.usage(index));
    }
    let mut headroom: Vec<String> = table
        .headroom
        .iter()
        .map(|(_, kind, readings)| format!("{kind:?} {:?}", readings.series.clone().sorted()))
        .collect();
    headroom.sort();
    out + &headroom.join("\n")
}

/// Reads a line if a prototype fits it, with a line after it that must make no difference.
fn take_similar(
    line: &str,
    place: &Place<'_>,
    fast_path: &mut FastPath,
    memory: &mut Memory,
    table: &mut AttemptTable,
) -> bool {
    let ending = ["\n", "\r\n", "\n\"", "\n}", ""][line.len() % 5];
    let length = fast_path.take_similar(&format!("{line}{ending}"), place, memory, table);
    assert!(length.is_none_or(|length| length == line.len()), "{line}");
    length.is_some()
}

/// SplitMix64.
pub(super) fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the line with one part replaced by something a logger, or an attacker, might write.
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
        "-0.5",
        "00.5",
        "1234.567",
        "123456.75",
        "0.00001",
        "7.",
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
            .filter_map(|at| scan::scalar(&bytes[at..]).map(|(_, length)| (at, at + length)))
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

/// Asserts that both readers read variations of `sample` alike.
fn assert_agree(sample: &[&str], dialect: &Dialect, seeds: u64) {
    for seed in 0..seeds {
        let mut state = seed;
        let mut lines = Vec::new();
        for _ in 0..12 {
            let line = sample[random(&mut state) as usize % sample.len()];
            lines.push(line.to_owned());
            let mut other = varied(line, &mut state);
            if random(&mut state).is_multiple_of(2) {
                other = varied(&other, &mut state);
            }
            if !other.is_empty() {
                lines.push(other);
            }
        }
        let (fast, strict) = (read(&lines, dialect, FastPath::default()), read(&lines, dialect, FastPath::closed()));
        let first = fast.lines().zip(strict.lines()).find(|(a, b)| a != b);
        assert!(fast == strict, "seed {seed}: {first:#?} {lines:#?}");
    }
}

#[test]
fn fast_path_and_strict_reader_agree() {
    assert_agree(LINES, Dialect::PLAIN, 3000);
}

#[test]
fn fast_path_and_strict_reader_agree_on_own_keys() {
    assert_agree(OWN_LINES, &own(), 3000);
}

#[test]
fn own_keys_win_over_those_built_in() {
    let lines: Vec<String> = OWN_LINES.iter().map(|line| (*line).to_owned()).collect();
    let read = read(&lines, &own(), FastPath::closed());
    let rows: Vec<&str> = read.lines().collect();
    assert_eq!(rows[0], "AAAA", "{read}");
    assert!(rows[1].contains("status: 200") && rows[1].contains("Some(\"m\")"), "{read}");
    assert!(rows[2].contains("status: 200") && rows[2].contains("input_tokens: 5"), "{read}");
    assert!(rows[3].contains("class: Some(RateLimited)"), "{read}");
    assert!(rows[4].contains("status: 200"), "the null of an own key leaves the field to others: {read}");
}

#[test]
fn the_third_line_with_the_same_constants_is_read_by_a_prototype() {
    let own = own();
    for (sample, dialect) in [(&LINES[..4], Dialect::PLAIN), (&OWN_LINES[..1], &own)] {
        for line in sample.iter().filter(|line| !line.contains('\\')) {
            assert_eq!(routes(&[*line; 3], dialect), [Some(Route::Unknown), Some(Route::Plan), None], "{line}");
        }
    }
}

/// Returns the route by which each of several consecutive lines is read; `None` for a prototype.
fn routes(lines: &[&str], dialect: &Dialect) -> Vec<Option<Route>> {
    let mut table = AttemptTable::default();
    let mut fast_path = FastPath::default();
    let place = Place { line: 1, stream: "file:x", ..Place::anywhere(Zone::UTC, dialect) };
    let mut memory = Memory::default();
    memory.start_table(0, &mut table);
    fast_path.begin(&dialect.fields, false, memory.table());
    let mut route = |line: &&str| {
        if take_similar(line, &place, &mut fast_path, &mut memory, &mut table) {
            return None;
        }
        let route = fast_path.read(line, &place, &mut memory, &mut table, &mut |_| {});
        if route == Route::Unknown {
            fast_path.learn(line, &dialect.fields);
        }
        Some(route)
    };
    lines.iter().map(&mut route).collect()
}

#[test]
fn lines_that_differ_in_times_ids_and_amounts_share_a_prototype() {
    let line = |id: usize, model: &str, status: u16| {
        format!(
            r#"{{"ts":"2026-01-05T10:00:{id:02}Z","call_id":"c-{id}","model":"{model}","status":{status},"cost_usd":0.00{id},"headers":{{"x-ratelimit-limit-requests":"50","x-ratelimit-remaining-requests":"{}"}},"duration_ms":{id}.5}}"#,
            id + 7
        )
    };
    let last = |other: &str| {
        let lines = [line(0, "m", 200), line(1, "m", 200), other.to_owned()];
        routes(&lines.each_ref().map(String::as_str), Dialect::PLAIN)[2]
    };
    assert_eq!(last(&line(42, "m", 200)), None);
    for other in [line(2, "n", 200), line(2, "m", 201), line(2, "m", 529)] {
        assert_eq!(last(&other), Some(Route::Plan), "{other}");
    }
    assert_eq!(last(&(line(2, "m", 200) + " ")), Some(Route::Unknown));
}

/// Lines whose values depend on one another: a prototype of one would be wrong for others.
#[test]
fn a_value_that_stands_in_for_another_makes_no_prototype() {
    let pairs = [
        (r#""attempt":1,"call_id":"c""#, r#""ttft_s":2.5,"ttft_ms":VALUE"#, "7", "null"),
        (r#""attempt":1"#, r#""idempotency_key":"k","call_id":VALUE"#, "\"c\"", "null"),
        (r#""attempt":1"#, r#""headers":"request-id: r","request_id":VALUE"#, "\"q\"", "null"),
        (r#""attempt":1"#, r#""record_hash":"0000002a","request_id":VALUE"#, "\"q\"", "null"),
        (r#""attempt":1"#, r#""chunk_gap_s":1,"chunk_gap_ms":VALUE"#, "7", "null"),
        (r#""attempt":1"#, r#""callId":"later","call_id":VALUE"#, "\"q\"", "null"),
        (r#""attempt":70000"#, r#""run_id":null,"group_id":VALUE"#, "null", "\"g\""),
        (r#""attempt":1"#, r#""usage":{"input_tokens":5},"input_tokens":VALUE"#, "7", "null"),
    ];
    for (head, rest, first, second) in pairs {
        let line = |value: &str| {
            let rest = rest.replace("VALUE", value);
            format!(r#"{{"ts":"2026-01-05T10:00:00Z","status":200,{head},{rest}}}"#)
        };
        let lines = [line(first), line(first), line(first), line(second), line(second)];
        let (fast, strict) = (FastPath::default(), FastPath::closed());
        assert_eq!(read(&lines, Dialect::PLAIN, fast), read(&lines, Dialect::PLAIN, strict), "{}", lines[3]);
    }
}

#[test]
fn plans_made_with_other_keys_are_forgotten() {
    let line = r#"{"ts":"2026-01-05T10:00:00Z","status":200,"st":503}"#.to_owned();
    let mut fast_path = FastPath::default();
    let mut statuses = Vec::new();
    for dialect in
        [Dialect::PLAIN, &Dialect { fields: Mapping::new([("st", "status")]).unwrap(), ..Dialect::default() }]
    {
        let mut table = AttemptTable::default();
        let mut memory = Memory::default();
        memory.start_table(0, &mut table);
        fast_path.begin(&dialect.fields, false, memory.table());
        let place = Place { line: 1, stream: "file:x", ..Place::anywhere(Zone::UTC, dialect) };
        read_line(&line, &place, &mut fast_path, &mut memory, &mut table, |_| {});
        read_line(&line, &place, &mut fast_path, &mut memory, &mut table, |_| {});
        statuses.extend(table.rows.iter().map(|row| row.status));
    }
    assert_eq!(statuses, [200, 200, 503, 503]);
}

/// Asserts that both readers make the same rows of a whole text, and returns how many.
fn assert_same_rows(text: &str) -> usize {
    let rows = |decoder: NativeDecoder| {
        let table = read_with(text, decoder);
        table.rows.iter().map(|row| (row.line, row.sent, row.identity, row.key)).collect::<Vec<_>>()
    };
    let (fast, strict) = (rows(NativeDecoder::default()), rows(NativeDecoder::strict()));
    assert_eq!(fast, strict, "{text:.2000}");
    fast.len()
}

#[test]
fn line_endings_make_no_difference() {
    for line in [LINES[0], LINES[3]] {
        for ending in ["\n", "\r\n", "\n\n", " \n", "\n \n", "\r", "", "\n\u{e9}\n", "\n\0\n"] {
            let text = [line; 5].join(ending);
            assert_same_rows(&text);
            assert_same_rows(&(text + ending));
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_no_attempt_though_a_prototype_fits() {
    let line = |id: &str| format!("{{\"ts\":\"2026-01-05T10:00:00Z\",\"status\":200,\"call_id\":\"{id}\"}}\n");
    let text = line("a").repeat(3) + &line(&"b".repeat(LONGEST_LINE)) + &line("c");
    assert_eq!(assert_same_rows(&text), 4);
}
