//! A record filled from the scalars of a known shape is the one the strict parser reads.

use super::*;

/// What lines out of the ordinary say, in many forms.
const UNUSUAL: &[&str] = &[
    r#"{"ts":"2026-01-05T10:00:00Z","status":529,"error":{"type":"overloaded_error","message":"Overloaded"},"attempt":2,"retry_after":4,"duration_ms":3.25}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":429,"response":{"type":"error","error":{"type":"rate_limit_error","message":"m","code":null},"request_id":"req_1"},"decision":"retry","planned_wait_s":2.5}"#,
    r#"{"ts":1767607200,"status":200,"body":{"id":"x","error":"none","answer":{"a":1,"b":{"c":2}},"body":{"detail":"d","status":"RESOURCE_EXHAUSTED"}},"outcome":"error"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","error":"Overloaded","error_type":"api_error","exception":"ConnectTimeout: slow","kind":"timeout","transport":"server_rst","code":503,"mid_stream":true,"delivered":3}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":429,"status_code":430,"headers":{"Retry-After":"7","retry-after-ms":"250","X-Should-Retry":"true","date":"Mon, 05 Jan 2026 10:00:00 GMT","anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-5h":"x","x-ratelimit-remaining-tokens":"10","x-ratelimit-limit-tokens":1e3,"x-unknown":[1,{"y":2}]},"anthropic-ratelimit-unified-reset":"2026-01-05T12:00:00Z","x-nothing":1}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":400,"attempt":"2/5","usage":{"input_tokens":5,"output_tokens":6,"cost_usd":0.25,"details":{"x":1}},"client":{"name":"n","version":1.5,"os":{"a":null}},"user_agent":"A/B 1","should_retry":"no","max_retries":2,"side_effect":true,"idempotency_key":"k"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","outcome":"failed","client":"Open/JS 6","headers":"retry-after: 3","usage":null,"err":true,"error":{"name":"E","param":"None","status_code":"418","details":{"violations":{"quotaId":"PerDay"},"retryDelay":"37s","cause":7}},"tool":"t","elapsed":"1.5s"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"@type":"q","violations":[{"quotaId":"PerDay"},{"quotaMetric":"x"}],"links":[[1]]},"word",{"@type":"r","retryDelay":"37s"}]}}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":500,"exception":{"type":"E","args":[1]},"retry_after":{"s":2},"delay_ms":1,"will_retry":{},"body":[{"error":{"type":"a"}},{"error":[{"message":"b"},[{"code":"c"}]]}],"error":[null,"none",true]}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":400,"error":{"error":{"error":{"error":{"error":{"error":{"message":"deep"}}}}},"message":"flat"}}"#,
];

/// The record of a line as the lane hands it on, and whether it was replayed.
fn replayed(lane: &mut Lane, line: &str, dialect: &Dialect) -> Option<String> {
    let (mut table, mut memory) = (AttemptTable::default(), Memory::default());
    let place = Place { line: 1, stream: "file:x", ..Place::anywhere(Zone::UTC, dialect) };
    let mut record = Record::default();
    match lane.take(line, &place, &mut memory, &mut table) {
        lane::Answer::Known(replay, scalars) => replay.fill(line, scalars, &mut record),
        _ => return None,
    }
    Some(format!("{record:#?}"))
}

fn assert_replayed(sample: &[&str], dialect: &Dialect, seeds: u64) {
    let mut lane = Lane::default();
    lane.begin(&dialect.fields, 0);
    sample.iter().for_each(|line| lane.learn(line, &dialect.fields));
    let mut alike = 0;
    for line in sample {
        for seed in 0..seeds {
            let mut state = seed;
            let mut other = (*line).to_owned();
            for _ in 0..seed % 4 {
                other = varied(&other, &mut state);
            }
            let Some(replayed) = replayed(&mut lane, &other, dialect) else { continue };
            let strict = whole_record(&other, &dialect.fields).map(|record| format!("{record:#?}"));
            assert_eq!(Ok(replayed), strict, "{other}");
            alike += 1;
        }
    }
    assert!(alike > seeds * sample.len() as u64 / 16, "few lines were replayed: {alike}");
}

#[test]
fn replayed_records_are_those_of_the_strict_parser() {
    assert_replayed(UNUSUAL, Dialect::PLAIN, 4000);
    assert_replayed(LINES, Dialect::PLAIN, 1000);
}

#[test]
fn replayed_records_are_those_of_the_strict_parser_with_own_keys() {
    assert_replayed(OWN_LINES, &own(), 4000);
}

#[test]
fn each_unusual_line_is_replayed() {
    let mut lane = Lane::default();
    for line in UNUSUAL {
        lane.learn(line, &Mapping::NONE);
        // Exponents need a closer look each time.
        let line = line.replace("1e3", "1000");
        assert!(replayed(&mut lane, &line, Dialect::PLAIN).is_some(), "{line}");
    }
}

#[test]
fn unusual_lines_become_the_same_attempts() {
    assert_agree(UNUSUAL, Dialect::PLAIN, 2000);
}
