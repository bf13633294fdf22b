//! No wait at all after the server said it had no room.

use super::{Check, Field, Hit, Remedy, Rule, Scope, Setting, Settings, Severity, shared};
use crate::attempt::Flags;
use crate::calls::Call;
use crate::classify::Class;
use smallvec::SmallVec;

const LEAST: Setting =
    Setting { name: "least_ms", default: 50.0, unit: "ms", meaning: "a wait shorter than this is none" };

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL304",
    name: "immediate-retry",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "The request was sent again at once after an overload or a rate limit.",
    why: "Nothing can have changed in a few milliseconds: the send is refused again, and a fleet that does so \
          doubles the load at the very moment there is no room.",
    fix: "Wait before every retry: exponential backoff with full jitter, from half a second upward, and no less \
          than retry-after where there is one.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter; official SDKs, _constants.py: the first wait \
             is 0.5 s",
    needs: &[Field::CallIdentity],
    settings: &[LEAST],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":100}"#,
        r#"{"timestamp":"2026-05-20T10:00:00.000Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"delay_ms":0,"decision":"retry"}
{"timestamp":"2026-05-20T10:00:00.250Z","session_id":"s","turn_id":"t","try":2,"status_code":200}"#,
    ],
    near_misses: &[
        // The server said "now".
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":0,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":100}"#,
        // A lost connection says nothing of capacity: one try at once is common.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"kind":"connection_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":100}"#,
        // Two sends in one second of a clock that has only seconds.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // Another model is asked at once: a fallback.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"model":"a","status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"model":"b","status":200,"duration_ms":100}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let all: SmallVec<[(usize, f64); 4]> =
        call.retried().filter_map(|p| Some((p, immediate(call, p, settings)?))).collect();
    let &(first, wait) = all.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let what = shared::class_words(call.at(first).class);
    let mut message = format!("sent again at once ({}) after {what}, with no backoff", shared::seconds(wait));
    if all.len() > 1 {
        message.push_str(&format!("; {} sends of this call came at once", all.len()));
    }
    let mut hit = Hit::new(message)
        .on_call(call)
        .about(call.at(first).class)
        .number("wait_s", wait)
        .count("immediate_sends", all.len() as u64);
    hit.wasted = all
        .iter()
        .filter(|(position, _)| call.at(position + 1).failed())
        .map(|(position, _)| call.rows()[position + 1])
        .collect();
    Some(hit)
}

/// The wait in seconds, if the attempt at `position` met a lack of room and was sent again at once.
pub(super) fn immediate(call: &Call<'_>, position: usize, settings: &Settings) -> Option<f64> {
    let attempt = call.at(position);
    let limited = matches!(attempt.class, Some(Class::RateLimited | Class::UnexplainedRateLimit));
    let refused = (limited || shared::is_capacity(attempt)) && !attempt.flags.has(Flags::SERVER_SAYS_NO);
    // With a hint, RL301 judges; a hint of zero means "now".
    if !refused || call.hint_us(position).is_some() || !shared::same_scope(call, position, position + 1) {
        return None;
    }
    let wait = call.wait_before(position + 1)?;
    let coarse = shared::clock_step_us(call);
    let sure = shared::shows_retry(call, position);
    if sure && coarse == 0 && (wait.us as f64) < settings.get(RULE.code, &LEAST) * 1e3 {
        return Some(wait.s());
    }
    // The client says it did not wait, and the log's clock is too coarse to tell: believe it.
    let planned_none = call.detail(position).and_then(|detail| detail.planned_us) == Some(0);
    let clock_is_silent = !wait.end_to_start || coarse > 0;
    (planned_none && clock_is_silent && wait.us <= 1_000_000 + coarse).then_some(0.0)
}
