//! A call was retried despite `x-should-retry: false`.

use super::{Check, Field, Hit, Rule, Scope, Settings, refused, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Flags, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL109",
    name: "server-said-no",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call was retried although the server said not to (x-should-retry: false).",
    why: "The server knows more of the failure than its status tells, and it asks for one attempt less. Clients \
          that go by the status alone overrule it, and add load where it is short. Where a retry succeeded after all, this is a warning.",
    fix: "Read x-should-retry before the status: false ends the call, whatever the status.",
    remedy: Remedy::Stop,
    source: "Official Anthropic and OpenAI SDKs, _base_client.py: x-should-retry is obeyed before the status is \
             looked at",
    needs: &[Field::CallIdentity, Field::ShouldRetry],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &refused::DECISIONS,
        &[
            "Attempts under another provider, account, key or model are not the same request again.",
            "Where the class is final by itself, the rule for that class speaks.",
            "A changed body or another model is another request.",
        ],
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","should_retry":false}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","should_retry":false}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":500,"error":{"type":"api_error"},"headers":{"X-Should-Retry":"false"}}
{"timestamp":"2026-05-20T10:00:02Z","session_id":"s","turn_id":"t","try":2,"status_code":500,"error":{"type":"api_error"},"headers":{"X-Should-Retry":"false"}}"#,
    ],
    near_misses: &[
        // The call ended there, as asked.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","should_retry":false}"#,
        // Another model is another request.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","should_retry":false,"model":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"model":"b"}"#,
        // The error is final in any case; that is RL104.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","should_retry":false}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","should_retry":false}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    // If the class itself is final, the rule for that class is more specific.
    let final_class = |p: usize| call.at(p).class.is_some_and(Class::is_terminal_by_default);
    let denied = |p: usize| call.at(p).flags.has(Flags::SERVER_SAYS_NO) && !final_class(p);
    let repeats = |p, q| shared::same_scope(call, p, q) && !call.body_changed(p, q);
    let retried = refused::retried(call, denied, repeats).or_else(|| refused::decided_to_retry(call, denied))?;
    let message = format!("{} after the server had said not to", retried.retried());
    // The class is one that may be transient.
    Some(retried.hit(&message, "").may_have_helped())
}
