//! Two budgets for one call, of which the outer one makes the inner one unreachable.

use super::rl206_gave_up_on_the_hint as rl206;
use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Attempt, Confidence, Flags, Outcome, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL313",
    name: "contradictory-budgets",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A deadline ended the call while its retry loop still had declared attempts it could never reach.",
    why: "The attempts look like a reserve and are none: whoever tunes their number changes nothing, and the error \
          that comes out is the deadline's, not the failure's.",
    fix: "Derive one from the other: the deadline of a call is the sum of its attempts' deadlines and waits, or the \
          loop stops where the next wait would pass what is left.",
    remedy: Remedy::Fix,
    source: "AWS Builders' Library, Timeouts, retries and backoff with jitter; gRPC documentation, Deadlines: the \
             deadline covers all attempts of a call",
    needs: &[Field::Time, Field::CallId, Field::Counters, Field::DeclaredCap],
    settings: &[],
    exceptions: &[
        &[
            "Attempts of the inner loop after the deadline, a success, and attempts that were spent show no contradiction.",
            "A hint over the cap of RL206 is that rule's.",
            "A logged timeout may be that of one attempt: the confidence is then medium.",
        ],
        &shared::CLOCK,
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        // The harness times out after 20 s while the SDK within it is at its second attempt of five.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"max_attempts":1,"kind":"timeout","duration_ms":20000}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","layer":"sdk","attempt":1,"max_attempts":5,"status":529,"duration_ms":9000}
{"ts":"2026-05-20T10:00:09.6Z","run_id":"r","call_id":"c","layer":"sdk","attempt":2,"max_attempts":5,"status":529,"duration_ms":9000}"#,
        // A requested wait of 30 s with a deadline of 20 s.
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"max_attempts":4,"timeout_s":20,"status_code":429,"headers":{"retry-after":"30"},"elapsed_s":0.2,"decision":"fail"}"#,
    ],
    near_misses: &[
        // Beyond a minute, the cap on a single wait ends the call: RL206.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":4,"timeout_s":20,"status":429,"retry_after":90,"duration_ms":200,"decision":"fail"}"#,
        // The inner loop had no attempts left.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"max_attempts":1,"kind":"timeout","duration_ms":20000}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","layer":"sdk","attempt":1,"max_attempts":2,"status":529,"duration_ms":9000}
{"ts":"2026-05-20T10:00:09.6Z","run_id":"r","call_id":"c","layer":"sdk","attempt":2,"max_attempts":2,"status":529,"duration_ms":9000}"#,
        // The inner loop succeeded in the end.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"status":200,"duration_ms":20000}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","layer":"sdk","attempt":1,"max_attempts":5,"status":529,"duration_ms":9000}
{"ts":"2026-05-20T10:00:09.6Z","run_id":"r","call_id":"c","layer":"sdk","attempt":2,"max_attempts":5,"status":200,"duration_ms":9000}"#,
        // The hint is well within the deadline.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":4,"timeout_s":60,"status":429,"retry_after":5,"decision":"fail"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Result<Option<Hit>, Field> {
    if call.outcome != Outcome::Failed || call.disordered {
        return Ok(None);
    }
    match outer_deadline(call).or_else(|| hint_over_deadline(call, settings)) {
        Some(hit) => Ok(Some(hit)),
        None => missing_field(call, settings).map_or(Ok(None), Err),
    }
}

/// Returns the field that would show whether a deadline ended the call.
fn missing_field(call: &Call<'_>, settings: &Settings) -> Option<Field> {
    let layer = |p: usize| call.origin(p).layer;
    // Only the first such attempt is examined, so that a call of thousands of attempts does not take quadratic time.
    let by_layer = (0..call.len()).find(|&p| gave_up(call.at(p))).and_then(|outer| {
        let outer_attempt = call.at(outer);
        let is_inside =
            |p: &usize| call.at(*p).failed() && has_left(call.at(*p)) && call.at(*p).sent >= outer_attempt.sent;
        let mut inner = (0..call.len()).filter(|p| *p != outer && is_inside(p));
        match (layer(outer).is_some(), outer_attempt.duration.as_us()) {
            (false, Some(_)) => inner.any(|p| call.at(p).sent <= outer_attempt.ended()).then_some(Field::Layer),
            (true, None) => inner.any(|p| layer(p).is_some() && layer(p) != layer(outer)).then_some(Field::Duration),
            _ => None,
        }
    });
    let (last, detail) = (call.last(), call.detail(call.len() - 1)?);
    let asked = detail.hint_us.is_some_and(|hint| hint > 0 && hint <= rl206::cap_us(settings));
    let untimed = asked && detail.timeout.as_us().is_none() && last.flags.has(Flags::DECIDED_FAIL) && has_next(last);
    by_layer.or(untimed.then_some(Field::Timeout))
}

/// Returns whether the attempt was ended by a deadline of its own layer, or cancelled.
fn gave_up(attempt: &Attempt) -> bool {
    matches!(attempt.class, Some(Class::Timeout | Class::Cancelled)) && attempt.status == 0
}

/// Finds an attempt of an outer layer that timed out around an inner loop with attempts left.
fn outer_deadline(call: &Call<'_>) -> Option<Hit> {
    let layer = |p: usize| call.origin(p).layer;
    (0..call.len()).find_map(|outer| {
        let outer_attempt = call.at(outer);
        if !gave_up(outer_attempt) || !layer(outer).is_some() {
            return None;
        }
        let is_inside = |p: &usize| {
            let inner = call.at(*p);
            layer(*p).is_some()
                && layer(*p) != layer(outer)
                && inner.sent >= outer_attempt.sent
                && inner.sent <= outer_attempt.ended()
        };
        let last = (0..call.len()).rev().find(is_inside)?;
        let inner = call.at(last);
        // The inner loop must not continue after the deadline.
        let continued = (0..call.len()).any(|p| layer(p) == layer(last) && call.at(p).sent > outer_attempt.ended());
        if !inner.failed() || !has_left(inner) || continued {
            return None;
        }
        let names = &call.table().names;
        let who = |p: usize| shared::cut(names.text(layer(p)), 40);
        let deadline = outer_attempt.duration.as_us()? as f64 / 1e6;
        Some(
            Hit::new(format!(
                "the deadline of {} ({}) ended the call at attempt {} of the {} that {} declares",
                who(outer),
                shared::seconds(deadline),
                inner.number,
                inner.max_attempts,
                who(last),
            ))
            .on(call, outer)
            .on(call, last)
            .about(inner.class)
            .number("deadline_s", deadline)
            .count("attempt", u64::from(inner.number))
            .count("max_attempts", u64::from(inner.max_attempts)),
        )
    })
}

/// Returns whether the layer has attempts left that it might have used.
fn has_left(attempt: &Attempt) -> bool {
    has_next(attempt) && !attempt.flags.has(Flags::DECIDED_FAIL)
}

/// Returns whether the layer declares a further attempt, and one might succeed.
fn has_next(attempt: &Attempt) -> bool {
    attempt.number > 0 && attempt.max_attempts > attempt.number && !attempt.terminal()
}

/// Checks whether the call gave up on a hint that is longer than its own deadline.
fn hint_over_deadline(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let (last, position) = (call.last(), call.len() - 1);
    let detail = call.detail(position)?;
    let deadline = detail.timeout.as_us().filter(|&us| us > 0)?;
    let hint = detail.hint_us.filter(|&hint| hint > deadline)?;
    if !has_next(last) || hint > rl206::cap_us(settings) || last.flags.has(Flags::DECIDED_RETRY) {
        return None;
    }
    let (asked, had) = (hint as f64 / 1e6, deadline as f64 / 1e6);
    let mut hit = Hit::new(format!(
        "gave up at attempt {} of {}: the server asked for {}, and the deadline is {}",
        last.number,
        last.max_attempts,
        shared::seconds(asked),
        shared::seconds(had),
    ))
    .on(call, position)
    .about(last.class)
    .number("retry_after_s", asked)
    .number("deadline_s", had);
    // The deadline may apply to a single attempt.
    hit.confidence = Confidence::Medium;
    Some(hit)
}
