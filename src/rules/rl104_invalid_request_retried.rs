//! The same wrong request again.

use super::{Check, Field, Hit, Remedy, Rule, Scope, Settings, Severity, shared};
use crate::calls::Call;
use crate::classify::Class;

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL104",
    name: "invalid-request-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A request that the server refused for what it says was sent again unchanged.",
    why: "A malformed or too large request fails the same way every time: the sends cost rate limit and time, \
          and the error that would tell what to change arrives late.",
    fix: "Do not retry 400, 413, 422, nor a 429 whose requested amount exceeds the whole limit: hand the error \
          to the code that builds the request, which can correct or shrink it.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors: invalid_request_error 400 and request_too_large 413 are about \
             the request; the official SDKs do not retry them",
    needs: &[Field::CallIdentity],
    settings: &[],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"max_tokens: field required"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"max_tokens: field required"}"#,
        r#"{"time":1779271200.0,"run":"r","call":"c","retry_count":0,"http_status":413,"error":{"type":"request_too_large","message":"Request exceeds the maximum size"},"body_sha256":"ab12"}
{"time":1779271201.4,"run":"r","call":"c","retry_count":1,"http_status":413,"error":{"type":"request_too_large","message":"Request exceeds the maximum size"},"body_sha256":"ab12"}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 215000 tokens > 200000 maximum"}
{"ts":"2026-05-20T10:00:08Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 215000 tokens > 200000 maximum"}"#,
    ],
    near_misses: &[
        // The server itself asked for another try.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","should_retry":true}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","should_retry":true}"#,
        // The body changed in between: that is RL105.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":413,"error_type":"request_too_large","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"request_hash":"b"}"#,
        // Two calls of a run that fail alike are two requests.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c1","attempt":1,"status":400,"error_type":"invalid_request_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c2","attempt":1,"status":400,"error_type":"invalid_request_error"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let same = |p, q| shared::same_account(call, p, q) && !call.body_changed(p, q);
    let mut hit = shared::retried(call, about_the_request, same, |again, wait| {
        format!("the same request was sent again {again} over {wait} after the server had refused what it says")
    })?;
    if hit.class != Some(Class::InvalidRequest) {
        hit.remedy = Some(Remedy::Shrink);
        hit.fix = Some(
            "Make the request smaller before it is sent again: compact the context, split the input, \
                        or lower max_tokens; the size is refused, not the moment."
                .into(),
        );
    }
    Some(hit)
}

/// Failures only another request can cure.
pub(super) fn about_the_request(class: Class) -> bool {
    matches!(class, Class::InvalidRequest | Class::RequestTooLarge | Class::RequestOverLimit | Class::ContextTooLong)
}
