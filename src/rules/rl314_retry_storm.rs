//! Many attempts of one request within a few seconds.

use super::scripted::attempts;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::Call;
use crate::measure::loops_of;
use crate::model::{Confidence, Remedy, Severity};
use smallvec::SmallVec;
use std::ops::Range;

const ATTEMPTS: Setting = Setting {
    name: "attempts",
    default: 10.0,
    unit: "",
    meaning: "attempts of one call beyond which it may be a storm",
};
const RATE: Setting =
    Setting { name: "per_second", default: 1.0, unit: "/s", meaning: "attempts per second beyond which it is one" };

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL314",
    name: "retry-storm",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "One call made more than ten attempts at more than one a second.",
    why: "Such a loop has neither backoff nor a cap that counts: it holds a rate limit shut, and a fleet of them \
          keeps an overloaded service down. The rate is that of the intervals between the attempts: eleven attempts \
          in ten seconds are one a second, which is no storm. Two loops around one another are RL401 instead. \
          Its cost is the failed attempts beyond the tenth.",
    fix: "Cap the attempts and let the waits grow; give a hint of 0, and one that cannot be read, a floor of the \
          ordinary backoff; look for a second loop around the first.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter; AWS Well-Architected Framework, REL05-BP03, \
             Control and limit retry calls",
    needs: &[Field::Time, Field::CallIdentity],
    settings: &[ATTEMPTS, RATE],
    exceptions: &[
        &[
            "Two loops are RL401.",
            "Attempts without ids, counters, keys or equal bodies are not counted together, and a success ends the count.",
            "The second that a clock of whole seconds hides is added to the span.",
        ],
        &shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:00.2Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:00.4Z","run_id":"r","call_id":"c","attempt":3,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:00.6Z","run_id":"r","call_id":"c","attempt":4,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:00.8Z","run_id":"r","call_id":"c","attempt":5,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:01.0Z","run_id":"r","call_id":"c","attempt":6,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:01.2Z","run_id":"r","call_id":"c","attempt":7,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","attempt":8,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:01.6Z","run_id":"r","call_id":"c","attempt":9,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:01.8Z","run_id":"r","call_id":"c","attempt":10,"status":429,"retry_after":0}
{"ts":"2026-05-20T10:00:02.0Z","run_id":"r","call_id":"c","attempt":11,"status":429,"retry_after":0}"#,
        r#"{"time":1779271200,"run":"r","call":"c","status":500}
{"time":1779271200,"run":"r","call":"c","status":500,"request_id":"b"}
{"time":1779271200,"run":"r","call":"c","status":500,"request_id":"c"}
{"time":1779271201,"run":"r","call":"c","status":500,"request_id":"d"}
{"time":1779271201,"run":"r","call":"c","status":500,"request_id":"e"}
{"time":1779271201,"run":"r","call":"c","status":500,"request_id":"f"}
{"time":1779271202,"run":"r","call":"c","status":500,"request_id":"g"}
{"time":1779271202,"run":"r","call":"c","status":500,"request_id":"h"}
{"time":1779271202,"run":"r","call":"c","status":500,"request_id":"i"}
{"time":1779271203,"run":"r","call":"c","status":500,"request_id":"j"}
{"time":1779271203,"run":"r","call":"c","status":500,"request_id":"k"}
{"time":1779271203,"run":"r","call":"c","status":200,"request_id":"l"}"#,
    ],
    near_misses: &[
        // Eleven attempts 1.05 s apart: ten intervals in 10.5 s.
        concat!(attempts!("a": 1 overloaded "00.00", 2 overloaded "01.05", 3 overloaded "02.10", 4 overloaded "03.15",
                5 overloaded "04.20", 6 overloaded "05.25", 7 overloaded "06.30", 8 overloaded "07.35",
                9 overloaded "08.40", 10 overloaded "09.45", 11 overloaded "10.50"),),
        // A loop around the SDK's own retries: that is RL401, and either loop alone would not be a storm.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:00.500Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:01.400Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":2,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:02.000Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:02.500Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:03.400Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":2,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:04.000Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:04.500Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:05.400Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":2,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:06.000Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:06.500Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:07.400Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":2,"status":529,"duration_ms":50}"#,
        // Ten attempts, as many as a patient client makes, and the call is not over yet.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":529}
{"ts":"2026-05-20T10:00:01.5Z","run_id":"r","call_id":"c","attempt":3,"status":529}
{"ts":"2026-05-20T10:00:03.5Z","run_id":"r","call_id":"c","attempt":4,"status":529}
{"ts":"2026-05-20T10:00:07.5Z","run_id":"r","call_id":"c","attempt":5,"status":529}
{"ts":"2026-05-20T10:00:15.5Z","run_id":"r","call_id":"c","attempt":6,"status":529}
{"ts":"2026-05-20T10:00:23.5Z","run_id":"r","call_id":"c","attempt":7,"status":529}
{"ts":"2026-05-20T10:00:31.5Z","run_id":"r","call_id":"c","attempt":8,"status":529}
{"ts":"2026-05-20T10:00:39.5Z","run_id":"r","call_id":"c","attempt":9,"status":529}
{"ts":"2026-05-20T10:00:47.5Z","run_id":"r","call_id":"c","attempt":10,"status":529}
{"ts":"2026-05-20T10:00:55.5Z","run_id":"r","call_id":"c","attempt":11,"status":529}"#,
        // An id shared by many answered requests is no retry.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","status":200,"request_id":"a"}
{"ts":"2026-05-20T10:00:00.3Z","run_id":"r","call_id":"c","status":200,"request_id":"b"}
{"ts":"2026-05-20T10:00:00.6Z","run_id":"r","call_id":"c","status":200,"request_id":"d"}
{"ts":"2026-05-20T10:00:00.9Z","run_id":"r","call_id":"c","status":200,"request_id":"e"}
{"ts":"2026-05-20T10:00:01.2Z","run_id":"r","call_id":"c","status":200,"request_id":"f"}
{"ts":"2026-05-20T10:00:01.5Z","run_id":"r","call_id":"c","status":200,"request_id":"g"}
{"ts":"2026-05-20T10:00:01.8Z","run_id":"r","call_id":"c","status":200,"request_id":"h"}
{"ts":"2026-05-20T10:00:02.1Z","run_id":"r","call_id":"c","status":200,"request_id":"i"}
{"ts":"2026-05-20T10:00:02.4Z","run_id":"r","call_id":"c","status":200,"request_id":"j"}
{"ts":"2026-05-20T10:00:02.7Z","run_id":"r","call_id":"c","status":200,"request_id":"k"}
{"ts":"2026-05-20T10:00:03.0Z","run_id":"r","call_id":"c","status":200,"request_id":"l"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let max_attempts = settings.get(RULE.code, &ATTEMPTS);
    if (call.len() as f64) <= max_attempts || call.disordered {
        return None;
    }
    let storm =
        shared::retry_sequences(call).flat_map(|sequence| known_repeats(call, sequence)).max_by_key(Range::len)?;
    if storm.len() as f64 <= max_attempts {
        return None;
    }
    // Two loops that multiply are a different problem.
    if loops_of(call).is_some() {
        return None;
    }
    let first = storm.start;
    let period_us = call.at(storm.end - 1).sent.us_since(call.at(first).sent);
    // Attempts at a single instant have no rate, but are a storm.
    let duration_us = (period_us + shared::clock_step_us(call)).max(100_000);
    // There is one interval fewer than attempts.
    let intervals = storm.len() - 1;
    if intervals as f64 * 1e6 <= settings.get(RULE.code, &RATE) * duration_us as f64 {
        return None;
    }
    let rate = intervals as f64 * 1e6 / duration_us as f64;
    let mut hit = Hit::new(format!(
        "{} attempts of one call in {}, {rate:.1} a second",
        storm.len(),
        shared::seconds(period_us as f64 / 1e6)
    ))
    .about(call.at(first).class)
    .count("attempts", storm.len() as u64)
    .number("span_s", period_us as f64 / 1e6)
    .number("per_second", rate);
    hit.rows.extend_from_slice(&call.rows()[storm.clone()]);
    let mut hit = hit.in_excess(call, storm.skip(max_attempts as usize));
    if shared::clock_step_us(call) > 0 {
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Splits a retry sequence into parts in which each attempt is known to repeat the previous one: without ids or
/// counters, many small calls that fail look like a single one.
fn known_repeats(call: &Call<'_>, sequence: Range<usize>) -> SmallVec<[Range<usize>; 2]> {
    let mut parts: SmallVec<[Range<usize>; 2]> = SmallVec::new();
    let mut start = sequence.start;
    for position in sequence.clone() {
        if position + 1 == sequence.end || !shared::shows_retry(call, position) {
            parts.push(start..position + 1);
            start = position + 1;
        }
    }
    parts
}
