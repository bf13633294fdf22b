//! A retry does not resolve errors of authentication, permission, billing or missing resources.

use super::{Check, Field, Hit, Rule, Scope, Settings, refused, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL106",
    name: "auth-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call was retried after an authentication, permission, billing or not-found error.",
    why: "None of them changes between two attempts: every retry is refused alike, and repeated bad keys can lock \
          an account. A 401 is held against the retry only where the key was refused again, since a client \
          may refresh its token unlogged; a payment only where the request stayed the same. Where an attempt of the \
          call succeeded after all, this is for information only.",
    fix: "Stop on 401, 402, 403 and 404: refresh or rotate the key, settle the bill, ask for the right, or \
          correct the model's name, and then start a new call.",
    remedy: Remedy::Stop,
    source: "Anthropic API documentation, Errors: authentication_error 401, billing_error 402, permission_error \
             403, not_found_error 404; the official SDKs do not retry them",
    needs: &[Field::CallIdentity],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &refused::DECISIONS,
        &[
            "Attempts under another provider, account or key are not the same request again; a payment is the \
             organisation's.",
            "After a 401 only another 401 counts: a client that refreshes its token logs no key.",
            "After a 403 or 404 an attempt on another model is a way out.",
        ],
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":401,"error_type":"authentication_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":401,"error_type":"authentication_error"}"#,
        r#"{"@timestamp":"2026-05-20T10:00:00Z","job_id":"j","operation_id":"o","attempt_number":1,"code":404,"error":{"type":"not_found_error","message":"model: no-such-model"}}
{"@timestamp":"2026-05-20T10:00:02Z","job_id":"j","operation_id":"o","attempt_number":2,"code":404,"error":{"type":"not_found_error","message":"model: no-such-model"}}
{"@timestamp":"2026-05-20T10:00:06Z","job_id":"j","operation_id":"o","attempt_number":3,"code":404,"error":{"type":"not_found_error","message":"model: no-such-model"}}"#,
        // The key was refused again, with an overload in between.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":401,"error_type":"authentication_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"status":401,"error_type":"authentication_error"}"#,
    ],
    near_misses: &[
        // The second attempt had another key.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":401,"error_type":"authentication_error","api_key_id":"old"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":401,"error_type":"authentication_error","api_key_id":"new"}"#,
        // The token was refreshed, though the log names no key: the second attempt was accepted.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":401,"error_type":"authentication_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // The maximum cost of the request was lowered, and it was accepted.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":402,"max_tokens":32000}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"max_tokens":4000}"#,
        // The token was refreshed, and the retry met an overload.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":401,"error_type":"authentication_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"status":200}"#,
        // The model is not available here, and the call went to another one.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":404,"error_type":"not_found_error","model":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"model":"b"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let refused = |p: usize| call.at(p).class.is_some_and(is_refusal);
    // After a 401 the retry that was decided on may have a new token.
    let is_lasting = |p: usize| refused(p) && call.at(p).class != Some(Class::Authentication);
    let retried = refused::retried(call, refused, |p, q| repeats(call, p, q));
    let retried = retried.or_else(|| refused::decided_to_retry(call, is_lasting))?;
    let what = match retried.class() {
        Some(Class::Authentication) => "a request with a rejected key",
        Some(Class::Billing) => "a request rejected for a billing problem",
        Some(Class::Permission) => "a request the key has no permission for",
        _ => "a request for something that was not found",
    };
    Some(retried.hit(&format!("{what} {}", retried.was_sent_again()), ""))
}

fn is_refusal(class: Class) -> bool {
    matches!(class, Class::Authentication | Class::Billing | Class::Permission | Class::NotFound)
}

/// Returns whether nothing changed before the attempt at `q` that could have changed the response.
fn repeats(call: &Call<'_>, p: usize, q: usize) -> bool {
    let same_class = call.at(p).class == call.at(q).class;
    match call.at(p).class {
        // A client that refreshes its token may log no key; then only the server's answer shows that it did.
        Some(Class::Authentication) => shared::same_account(call, p, q) && is_refused_again(call, p, q),
        Some(Class::Billing) => refused::same_cap(call, p, q) && (same_class || !call.body_changed(p, q)),
        // Permissions and names depend on the model.
        _ => shared::same_scope(call, p, q) && (same_class || !call.body_changed(p, q)),
    }
}

/// Number of attempts searched for a second refusal of the key.
const MAX_CHECKED: usize = 16;

/// Returns whether the key that was refused at `p` was refused again at `q`, or later with nothing but failures in
/// between.
fn is_refused_again(call: &Call<'_>, p: usize, q: usize) -> bool {
    let failures = (q..call.len()).take(MAX_CHECKED).take_while(|&later| call.at(later).failed());
    failures.filter(|&later| shared::same_account(call, p, later)).any(|later| call.at(later).class == call.at(p).class)
}
