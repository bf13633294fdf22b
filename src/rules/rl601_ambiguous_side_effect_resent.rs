//! A request that may have taken effect is repeated.

use super::rl608_tool_replayed as rl608;
use super::{Check, Field, Hit, Rule, Scope, Settings, repeats, shared};
use crate::calls::Call;
use crate::model::{Flags, Remedy, Severity};
use smallvec::SmallVec;

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL601",
    name: "ambiguous-side-effect-resent",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "An attempt with a side effect ended without an answer and was retried without an idempotency key.",
    why: "The first one may have done its work before the connection went: without a key the receiver cannot tell \
          the second from a new order, and does the work twice.",
    fix: "Make one idempotency key per logical action and send it with every attempt; where the receiver knows no \
          keys, look up the outcome before sending again.",
    remedy: Remedy::Fix,
    source: "AWS Builders' Library, Making retries safe with idempotent APIs; RFC 9110, section 9.2.2: a client \
             should not repeat a non-idempotent request automatically",
    needs: &[Field::CallIdentity, Field::SideEffect],
    settings: &[],
    exceptions: &[&[
        "An attempt that was refused or never connected has done nothing.",
        "A key on both attempts, a changed body, and a decision other than to retry excuse it.",
        "Tools are RL608.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"kind":"timeout","duration_ms":30000}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"side_effect":true,"status_code":504}
{"timestamp":"2026-05-20T10:00:02Z","session_id":"s","turn_id":"t","try":2,"side_effect":true,"status_code":200}"#,
    ],
    near_misses: &[
        // A tool: that is RL608.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"tool":"send_mail","side_effect":true,"kind":"timeout","duration_ms":30000}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"tool":"send_mail","side_effect":true,"outcome":"ok","duration_ms":900}"#,
        // The same key for both attempts.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"kind":"timeout","idempotency_key":"k"}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200,"idempotency_key":"k"}"#,
        // The server refused it, so nothing was done.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"status":429,"retry_after":1}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200}"#,
        // No connection was established.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"kind":"connection_error","exception":"httpx.ConnectError"}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200}"#,
        // The call stopped so that the caller can check.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"kind":"timeout","decision":"reconcile"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let resent_positions: SmallVec<[usize; 4]> = call.retried().filter(|&p| is_resent(call, p)).collect();
    let first = *resent_positions.first()?;
    let what = shared::class_words(call.at(first).class);
    let message = format!(
        "an attempt with a side effect ended in {what} and was retried {} with no idempotency key: it may have \
         happened {}",
        shared::times(resent_positions.len()),
        shared::times(resent_positions.len() + 1),
    );
    Some(
        Hit::new(message)
            .on_call(call)
            .about(call.at(first).class)
            .count("resent", resent_positions.len() as u64)
            .number("wait_s", call.wait_before(first + 1).map_or(0.0, |wait| wait.s())),
    )
}

fn is_resent(call: &Call<'_>, position: usize) -> bool {
    let (attempt, next) = (call.at(position), call.at(position + 1));
    let both_have_keys = attempt.flags.has(Flags::IDEMPOTENT) && next.flags.has(Flags::IDEMPOTENT);
    attempt.flags.has(Flags::SIDE_EFFECT)
        && next.flags.has(Flags::SIDE_EFFECT)
        && repeats::may_have_taken_effect(call, position)
        && !both_have_keys
        && !attempt.flags.has(Flags::DECIDED_OTHER)
        && shared::shows_retry(call, position)
        && !call.body_changed(position, position + 1)
        // For tools, RL608 is more specific.
        && !rl608::is_replayed(call, position)
}
