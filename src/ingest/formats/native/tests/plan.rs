//! Checks that a record filled by a plan equals the one the strict reader reads.

use super::super::plan::Plan;
use super::super::trie::{Collect, Fit, Trie};
use super::*;

/// Lines with unusual values in many forms.
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
    r#"{"ts":"2026-01-05T10:00:00Z","status":200,"model":["m",{"a":1},[2]],"finish_reasons":["stop","length"],"stop_reason":[],"attempt":[2],"outcome":"failed"}"#,
    r#"{"ts":"2026-01-05T10:00:00Z","status":400,"error":{"error":{"error":{"error":{"error":{"error":{"message":"deep"}}}}},"message":"flat"}}"#,
];

/// Learns the plans of `sample`.
fn plans(sample: &[&str], dialect: &Dialect) -> Trie<Collect, Plan> {
    let mut plans = Trie::default();
    sample.iter().filter_map(|line| learn::learn(line, &dialect.fields)).for_each(|entry| plans.add(entry));
    plans
}

/// Returns the record of a line whose plan is known.
fn planned(plans: &mut Trie<Collect, Plan>, line: &str) -> Option<String> {
    let mut scalars = Vec::new();
    let Fit::Whole(plan, _) = plans.fit(line, &mut scalars) else { return None };
    let mut record = Record::default();
    plan.fill(line, &scalars, &mut record);
    Some(format!("{record:#?}"))
}

fn assert_planned(sample: &[&str], dialect: &Dialect, seeds: u64) {
    let mut plans = plans(sample, dialect);
    let mut alike = 0;
    for line in sample {
        for seed in 0..seeds {
            let mut state = seed;
            let mut other = (*line).to_owned();
            for _ in 0..seed % 4 {
                other = varied(&other, &mut state);
            }
            let Some(planned) = planned(&mut plans, &other) else { continue };
            let strict = whole_record(&other, &dialect.fields).map(|record| format!("{record:#?}"));
            assert_eq!(Ok(planned), strict, "{other}");
            alike += 1;
        }
    }
    assert!(alike > seeds * sample.len() as u64 / 16, "few lines had a plan: {alike}");
}

#[test]
fn planned_records_are_those_of_the_strict_reader() {
    assert_planned(UNUSUAL, Dialect::PLAIN, 4000);
    assert_planned(LINES, Dialect::PLAIN, 1000);
}

#[test]
fn planned_records_are_those_of_the_strict_reader_with_own_keys() {
    assert_planned(OWN_LINES, &own(), 4000);
}

#[test]
fn each_unusual_line_has_a_plan() {
    let mut plans = plans(UNUSUAL, Dialect::PLAIN);
    for line in UNUSUAL {
        // Numbers with an exponent are always left to the strict reader.
        let line = line.replace("1e3", "1000");
        assert!(planned(&mut plans, &line).is_some(), "{line}");
    }
}

#[test]
fn unusual_lines_become_the_same_attempts() {
    assert_agree(UNUSUAL, Dialect::PLAIN, 2000);
}
