//! One call uses several keys or accounts.

use super::{Check, Field, Hit, Rule, Scope, Settings, repeats, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Attempt, Confidence, Flags, Origin, Remedy, Severity, Symbol};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL610",
    name: "identity-changed",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "Attempts of one call used different keys, accounts, workspaces or kinds of credential.",
    why: "What failed was not about the key: a limit holds for the organisation whichever key is used, the prompt \
          cache and the bill are another's, and a trace by account shows half of the call.",
    fix: "Keep one identity for the whole call; choose the account before the first attempt, and change it only when \
          the account itself was refused.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: limits hold for the organisation, not for the key; Prompt \
             caching: caches are kept apart between organisations and workspaces",
    needs: &[Field::CallIdentity, Field::Account],
    settings: &[],
    exceptions: &[&[
        "A key, right or name that was refused, spent money and spent windows call for another identity.",
        "Another provider has accounts of its own, another layer keys of its own.",
        "A name that is missing on one of two attempts shows no change.",
        "The kind of credential shows by the rate-limit headers of both attempts only.",
        "Attempts grouped by likeness are not compared.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":5,"api_key_id":"a"}
{"ts":"2026-05-20T10:00:06Z","run_id":"r","call_id":"c","attempt":2,"status":200,"api_key_id":"b"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":500,"organization":"one"}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"t","try":2,"status_code":200,"organization":"two"}"#,
        // From an API key to a subscription and back, as the limits in the headers show.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529,"headers":{"anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"40"}}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200,"headers":{"anthropic-ratelimit-unified-status":"allowed","anthropic-ratelimit-unified-reset":"1779289200"}}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529,"headers":{"anthropic-ratelimit-unified-status":"allowed","anthropic-ratelimit-unified-reset":"1779289200"}}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200,"headers":{"anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"40"}}"#,
    ],
    near_misses: &[
        // The window of the subscription is spent: an API key is a valid alternative.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"1779289200"}}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200,"headers":{"anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"40"}}"#,
        // The overload came without headers, so it may have been the subscription's as well.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200,"headers":{"anthropic-ratelimit-unified-status":"allowed","anthropic-ratelimit-unified-reset":"1779289200"}}"#,
        // The key itself was refused: a new one is the solution.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":401,"api_key_id":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"api_key_id":"b"}"#,
        // The account's money was spent.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_code":"insufficient_quota","org":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"org":"b"}"#,
        // Another provider has different accounts.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"provider":"p","api_key_id":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"provider":"q","api_key_id":"b"}"#,
        // A log that has the key only in some records.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"api_key_id":"b"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    if repeats::is_inferred(call) {
        return None;
    }
    let (position, what) = call.retried().find_map(|p| Some((p, changed(call, p)?)))?;
    let failure = shared::class_words(call.at(position).class);
    let mut hit = Hit::new(format!("the attempt after {failure} used another {what}"))
        .on(call, position)
        .on(call, position + 1)
        .about(call.at(position).class)
        .word("changed", what);
    // Separate accounts may have separate limits, and the change may be intended.
    if what != "workspace" {
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Returns what differs between the attempt at `position` and the next, if there was no reason for a change.
fn changed(call: &Call<'_>, position: usize) -> Option<&'static str> {
    let class = call.at(position).class?;
    let needs_other_identity = class.is_money()
        || class.is_window()
        || matches!(class, Class::Authentication | Class::Permission | Class::NotFound);
    let (a, b) = (call.origin(position), call.origin(position + 1));
    if needs_other_identity || a.provider != b.provider || a.layer != b.layer {
        return None;
    }
    let differs = |part: fn(&Origin) -> Symbol| part(a).is_some() && part(b).is_some() && part(a) != part(b);
    if differs(|origin| origin.org) {
        Some("account")
    } else if differs(|origin| origin.workspace) {
        Some("workspace")
    } else if differs(|origin| origin.api_key) {
        Some("key")
    } else {
        let kinds = (by_subscription(call.at(position)), by_subscription(call.at(position + 1)));
        matches!(kinds, (Some(before), Some(after)) if before != after).then_some("kind of credential")
    }
}

/// Returns whether a subscription (`true`) or an API key (`false`) paid for the attempt, if rate-limit headers of the
/// response show it.
fn by_subscription(attempt: &Attempt) -> Option<bool> {
    let flags = attempt.flags;
    flags.has(Flags::SUBSCRIPTION).then_some(true).or(flags.has(Flags::HEADROOM).then_some(false))
}
