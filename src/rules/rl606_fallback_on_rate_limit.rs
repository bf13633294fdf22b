//! The model is changed because of a rate limit, which would be over in seconds, and another model gives another
//! answer.

use super::rl206_gave_up_on_the_hint as rl206;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::Call;
use crate::model::{Remedy, Severity};

const MIN_FAILURES: Setting = Setting {
    name: "patience",
    default: 3.0,
    unit: "",
    meaning: "failures of capacity after which a fallback is due, whatever the last failure was",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL606",
    name: "fallback-on-rate-limit",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "The model changed right after a rate limit.",
    why: "A 429 says that this caller is too fast, and its hint says until when: waiting costs seconds, while another \
          model answers differently, has a cold prompt cache, and its own limit is spent next.",
    fix: "Wait as long as the server says, and slow the callers down; keep the fallback for a lack of capacity that \
          several attempts have shown.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: limits are kept per model class; Prompt caching: a cache \
             belongs to one model",
    needs: &[Field::CallId, Field::Model],
    settings: &[MIN_FAILURES],
    exceptions: &[&[
        "Failures of capacity before it make a fallback due.",
        "A hint that is long enough to end the call, and a spent quota, are reasons to go elsewhere.",
        "Another provider or account makes it info.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"model":"large","status":429,"retry_after":4,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"model":"small","status":200}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"gen_ai.request.model":"large","status_code":429,"decision":"fallback"}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"t","try":2,"gen_ai.request.model":"small","status_code":200}"#,
    ],
    near_misses: &[
        // Three capacity failures before it: a fallback is due.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"model":"a","status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":2,"model":"a","status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:06Z","run_id":"r","call_id":"c","attempt":3,"model":"a","status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:12Z","run_id":"r","call_id":"c","attempt":4,"model":"a","status":429,"retry_after":2,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:15Z","run_id":"r","call_id":"c","attempt":5,"model":"b","status":200}"#,
        // After overloads, another model is a valid alternative.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"model":"large","status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"model":"small","status":200}"#,
        // The same model, after the wait.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"model":"large","status":429,"retry_after":1,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"model":"large","status":200}"#,
        // An exhausted quota is not restored by waiting.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"model":"large","status":429,"error_code":"insufficient_quota"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"model":"small","status":200}"#,
        // An hour is too long to wait.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"model":"large","status":429,"retry_after":3600,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"model":"small","status":200}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let min_failures = settings.get(RULE.code, &MIN_FAILURES) as usize;
    let position = call.retried().find(|&p| {
        call.at(p).rate_limited()
            && !call.at(p).terminal()
            && !rl206::too_long(call, p, settings)
            && call.origin(p).layer == call.origin(p + 1).layer
            && model_changed(call, p)
            && (0..p).filter(|&q| call.at(q).lacked_capacity()).count() < min_failures
    })?;
    let names = &call.table().names;
    let model = |p: usize| shared::cut(names.text(call.origin(p).model), 60);
    let (from, to) = (model(position), model(position + 1));
    let hint_words = call.hint_us(position).filter(|&us| us > 0).map(|us| shared::seconds(us as f64 / 1e6));
    let hint_words = hint_words.map_or_else(String::new, |hint_words| format!(" that asked for {hint_words}"));
    let mut hit = Hit::new(format!("went from {from} to {to} right after a rate limit{hint_words}"))
        .on(call, position)
        .on(call, position + 1)
        .about(call.at(position).class)
        .text("from", from)
        .text("to", to);
    // Another provider has capacity of its own.
    if !shared::same_account(call, position, position + 1) {
        hit.severity = Some(Severity::Info);
    }
    Some(hit)
}

fn model_changed(call: &Call<'_>, position: usize) -> bool {
    let (before, next) = (call.origin(position).model, call.origin(position + 1).model);
    before.is_some() && next.is_some() && before != next
}
