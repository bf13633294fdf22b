//! Times that contradict each other.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::calls::Call;
use crate::model::{Remedy, Severity};

const OVERLAP: Setting = Setting {
    name: "overlap_ms",
    default: 50.0,
    unit: "ms",
    meaning: "how far an attempt may start before its predecessor ended: clocks are rounded",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL805",
    name: "clock-disorder",
    severity: Severity::Info,
    scope: Scope::Call,
    summary: "The times of a call's attempts contradict one another: one starts before its predecessor ended.",
    why: "Waits cannot be measured there, so nothing is said about them. Either several clocks write one log, or \
          the time of logging was taken for the time of sending, or attempts ran side by side.",
    fix: "Log the time at which each attempt was sent, with its zone and milliseconds, and the duration beside it; \
          keep the clocks of the workers in step.",
    remedy: Remedy::Fix,
    source: "Attempts of one retry loop follow one another",
    needs: &[Field::Time, Field::CallId, Field::Duration],
    settings: &[OVERLAP],
    exceptions: &[&["Attempts of different layers may overlap.", "An overlap within the tolerance is rounding."]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:05Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"duration_ms":9000,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:04Z","run_id":"r","call_id":"c","attempt":2,"duration_ms":800,"status":200}"#,
    ],
    near_misses: &[
        // A few milliseconds are due to rounding.
        r#"{"ts":"2026-03-10T09:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"duration_ms":1030,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:01.000Z","run_id":"r","call_id":"c","attempt":2,"duration_ms":800,"status":200}"#,
        // The outer layer's record spans the inner layer's attempts.
        r#"{"ts":"2026-03-10T09:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"duration_ms":5000,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.1Z","run_id":"r","call_id":"c","layer":"gateway","attempt":1,"duration_ms":300,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.1Z","run_id":"r","call_id":"c","layer":"gateway","attempt":2,"duration_ms":300,"status":529,"error_type":"overloaded_error"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let slack_us = (settings.get(RULE.code, &OVERLAP) * 1e3) as i64;
    let overlap_us = |position: usize| {
        let (before, number) = (call.at(position - 1), call.at(position));
        let same_layer = call.origin(position - 1).layer == call.origin(position).layer;
        if call.disordered {
            // The send times themselves contradict the numbers.
            before.sent.us_since(number.sent)
        } else if same_layer {
            before.ended().us_since(number.sent)
        } else {
            0
        }
    };
    let worst = (1..call.len()).max_by_key(|&position| (overlap_us(position), std::cmp::Reverse(position)))?;
    let overlap = overlap_us(worst);
    if !call.disordered && overlap <= slack_us {
        return None;
    }
    let (number, event) = (worst + 1, if call.disordered { "was sent" } else { "had ended" });
    let by = super::shared::seconds(overlap.max(0) as f64 / 1e6);
    let hit = Hit::new(format!("attempt {number} is stamped {by} before attempt {worst} {event}"))
        .on(call, worst - 1)
        .on(call, worst)
        .number("early_s", overlap as f64 / 1e6);
    Some(hit)
}
