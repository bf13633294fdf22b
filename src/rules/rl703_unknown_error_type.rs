//! An error type that the provider does not have.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::Call;
use crate::classify::kind_of_exception;
use crate::model::{Flags, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL703",
    name: "unknown-error-type",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A Messages client received an error type that the provider does not have.",
    why: "Whoever sent it is not the provider, and code that decides by type (overloaded_error: wait; \
          rate_limit_error: wait longer) does not know what to do with it.",
    fix: "Find the hop that answers with its own types (a self-hosted engine, a gateway) and map them to the \
          provider's, or add them to the client's table of failures.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors: the table of error types; vLLM: status 503 with type \"Service \
             Unavailable\" when its queue is full",
    needs: &[Field::Provider, Field::ErrorType],
    settings: &[],
    exceptions: &[&[
        "Names of exceptions, numbers and words for nothing are the logger's.",
        "Attempts without a status, and foreign envelopes (RL701), are not judged.",
        "Only attempts for a Messages server are judged.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":503,"error_type":"Service Unavailable","error_message":"The engine is currently busy and cannot accept new requests."}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"client":{"name":"Anthropic/Python","version":"2.14.0"},"body":{"error":{"type":"tokens_exceeded","message":"slow down please"}}}
{"timestamp":"2026-05-20T10:00:09Z","session_id":"s","turn_id":"t","try":2,"status_code":200,"client":{"name":"Anthropic/Python","version":"2.14.0"}}"#,
    ],
    near_misses: &[
        // One of the provider's own types.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200}"#,
        // Another provider has other types.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"openai","status":429,"error_type":"requests","error_code":"rate_limit_exceeded"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":2,"provider":"openai","status":200}"#,
        // So does one that a client of the Messages API called, in a stream that began with 200.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"openai","client":{"name":"Anthropic/Python","version":"0.50.0"},"status":200,"stream":true,"mid_stream":true,"error_type":"server_error"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":2,"provider":"openai","client":{"name":"Anthropic/Python","version":"0.50.0"},"status":200}"#,
        // The logger wrote the exception's name instead of the type.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529,"error_type":"APIStatusError"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200}"#,
        // A number instead of the type.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":503,"error_type":"503"}"#,
        // There was no response, so the type is the logger's.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","error_type":"broken pipe","outcome":"error"}"#,
    ],
};

/// Error types of the provider, and the `type` of its envelope itself. `conflict_error` is not in the table of the
/// documentation, but the client has it for a 409.
const TYPES: [&str; 12] = [
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
    "rate_limit_error",
    "api_error",
    "timeout_error",
    "overloaded_error",
    "conflict_error",
    "error",
];

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let (position, word) = (0..call.len()).find_map(|p| Some((p, unknown_type(call, p)?)))?;
    let count = (0..call.len()).filter(|&p| unknown_type(call, p) == Some(word)).count();
    let word = shared::cut(word, 60);
    let mut hit = Hit::new(format!(
        "the error type \"{word}\" came back {}; the provider has none of that name",
        shared::times(count)
    ))
    .about(call.at(position).class)
    .text("error_type", word)
    .count("status", u64::from(call.at(position).status))
    .count("attempts", count as u64);
    hit.rows.extend((0..call.len()).filter(|&p| unknown_type(call, p).is_some()).map(|p| call.rows()[p]));
    Some(hit)
}

/// Returns the error type of the attempt at `position`, if there was a response and the type is none of the provider's.
fn unknown_type<'a>(call: &Call<'a>, position: usize) -> Option<&'a str> {
    let attempt = call.at(position);
    let word = call.table().names.get(call.detail(position)?.error_type)?.trim();
    if TYPES.contains(&word) {
        return None;
    }
    // Foreign envelopes are reported by RL701.
    let is_judged = attempt.failed()
        && attempt.status > 0
        && !attempt.flags.has(Flags::FOREIGN_ENVELOPE)
        && shared::is_messages_api(call, position);
    (is_judged && !is_written_by_logger(word)).then_some(word)
}

/// Returns whether the word is empty, a number or the name of an exception, which loggers write if they have no type.
fn is_written_by_logger(word: &str) -> bool {
    let is_placeholder = word.is_empty() || matches!(word, "None" | "null" | "unknown");
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    // Exception names are like `RateLimitError`, `anthropic.APIStatusError`, `ECONNRESET`; a type is in lower case or
    // prose.
    let bare = word.rsplit('.').next().unwrap_or(word);
    let is_exception_name = bare.starts_with(|first: char| first.is_ascii_uppercase()) && !bare.contains([' ', '_']);
    is_placeholder || is_number || is_exception_name || kind_of_exception(word).is_some()
}
