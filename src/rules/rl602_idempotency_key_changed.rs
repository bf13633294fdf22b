//! An idempotency key that changes with each attempt has no effect.

use super::{Check, Field, Hit, Rule, Scope, Settings, repeats, shared};
use crate::calls::Call;
use crate::model::{Flags, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL602",
    name: "idempotency-key-changed",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "Attempts of one call that changes something carry different idempotency keys.",
    why: "The receiver knows a repetition by its key: with a new one each attempt counts as a new order, so the key \
          protects from nothing while everyone believes it does.",
    fix: "Make the key once, where the action is decided, not where it is sent, and carry it through every layer \
          that may retry.",
    remedy: Remedy::Fix,
    source: "IETF draft, The Idempotency-Key HTTP Header Field: the key is unique to the operation and the same for \
             its retries; AWS Builders' Library, Making retries safe with idempotent APIs",
    needs: &[Field::CallId, Field::SideEffect, Field::IdempotencyKey],
    settings: &[],
    exceptions: &[&[
        "Attempts that change nothing, failures that are final, and changed bodies do not count.",
        "Attempts grouped by likeness are not compared.",
        "Where the first attempt was refused it is a warning.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"kind":"timeout","idempotency_key":"k1"}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200,"idempotency_key":"k2"}"#,
        // Refused, so nothing happened this time; after a timeout it might have.
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"tool":"pay","status_code":503,"headers":{"Idempotency-Key":"a"}}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"t","try":2,"tool":"pay","status_code":200,"headers":{"Idempotency-Key":"b"}}"#,
    ],
    near_misses: &[
        // A final failure is followed by another action.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"status":400,"error_type":"invalid_request_error","idempotency_key":"k1"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200,"idempotency_key":"k2"}"#,
        // The same key throughout.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"kind":"timeout","idempotency_key":"k1"}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200,"idempotency_key":"k1"}"#,
        // A model call has no side effect.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"idempotency_key":"k1"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"idempotency_key":"k2"}"#,
        // A corrected request is another action.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"side_effect":true,"status":422,"idempotency_key":"k1","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"side_effect":true,"status":200,"idempotency_key":"k2","request_hash":"b"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let may_have_taken_effect = |p: &usize| repeats::may_have_taken_effect(call, *p);
    let position = call
        .retried()
        .filter(|&p| changed(call, p))
        .max_by_key(|p| (may_have_taken_effect(p), std::cmp::Reverse(*p)))?;
    let what = shared::class_words(call.at(position).class);
    let may_be_duplicate = may_have_taken_effect(&position);
    let end = if may_be_duplicate { ", so it may have happened twice" } else { "" };
    let mut hit = Hit::new(format!("the attempt after {what} carried another idempotency key{end}"))
        .on(call, position)
        .on(call, position + 1)
        .about(call.at(position).class);
    if !may_be_duplicate {
        hit.severity = Some(Severity::Warning);
    }
    Some(hit)
}

/// Returns whether the attempt at `position` is repeated with another key.
fn changed(call: &Call<'_>, position: usize) -> bool {
    let has_side_effect = |p: usize| call.at(p).flags.has(Flags::SIDE_EFFECT) || call.at(p).flags.has(Flags::TOOL);
    let (before, next) = (repeats::key(call, position), repeats::key(call, position + 1));
    has_side_effect(position)
        && has_side_effect(position + 1)
        && before != 0
        && next != 0
        && before != next
        && !call.at(position).terminal()
        && !repeats::is_inferred(call)
        && !call.body_changed(position, position + 1)
}
