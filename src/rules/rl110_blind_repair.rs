//! An unusable answer or a refusal was met by repeating the same request.

use super::{Check, Field, Hit, Rule, Scope, Settings, refused, repeats, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL110",
    name: "blind-repair",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "An answer that did not fit its schema, or a refusal, was met by sending the same request again.",
    why: "The model is not told what was wrong, so it can only err again or hit by luck; a filter judges the same \
          input the same way, and repeated refusals may be held against the account.",
    fix: "Feed the validator's message back to the model, two or three times at most; hand a refusal to the caller \
          as an answer, not as an error.",
    remedy: Remedy::Fix,
    source: "OpenAI documentation, Structured outputs: refusals are answers to be handled; Anthropic documentation, \
             Tool use: return the error as a tool result so that the model can correct itself",
    needs: &[Field::CallIdentity, Field::RequestHash],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &[
            "Attempts under another provider, account or key are not the same request again.",
            "After an answer that missed its schema only a known and equal request_hash counts as the same request.",
        ],
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"schema_error","request_hash":"a"}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","attempt":2,"kind":"schema_error","request_hash":"a"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":400,"error":{"code":"content_filter","message":"The response was filtered"}}
{"timestamp":"2026-05-20T10:00:02Z","session_id":"s","turn_id":"t","try":2,"status_code":400,"error":{"code":"content_filter","message":"The response was filtered"}}"#,
    ],
    near_misses: &[
        // The body changed: it contains the validator's message.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"schema_error","request_hash":"a"}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","attempt":2,"status":200,"request_hash":"b"}"#,
        // Nothing shows that the body is the same.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"schema_error"}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // A refusal that was taken as the answer.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"policy_refusal","decision":"fail"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let class_is = |class| move |p: usize| call.at(p).class == Some(class);
    let same_input = |p, q| shared::same_account(call, p, q) && !call.body_changed(p, q);
    if let Some(retried) = refused::retried(call, class_is(Class::ContentPolicy), same_input) {
        let message = format!("a refusal on policy grounds was met by the same request {}", retried.times());
        return Some(retried.hit(&message, ""));
    }
    let retried = refused::retried(call, class_is(Class::SchemaError), |p, q| repeats::same_body(call, p, q))?;
    let message = format!("an answer that missed its schema was met by the same request {}", retried.times());
    // A repeat of an unchanged request may succeed by chance.
    Some(Hit { severity: None, ..retried.hit(&message, "").may_have_helped() })
}
