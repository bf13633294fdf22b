//! A failure that the log calls a success.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AnswerEnd, Attempt, Flags, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL808",
    name: "error-logged-as-success",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "The log calls an attempt a success whose status or body says that it failed.",
    why: "Every count built on that field is wrong: the run looks green, no alert fires, and whoever uses the \
          answer gets part of one or none.",
    fix: "Write the outcome after the body or the whole stream has been read, from the error in it, and not from \
          the status line or from the absence of an exception.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Streaming messages: an error can follow a 200 as an event; OpenTelemetry \
             semantic conventions, HTTP spans: status 4xx and 5xx are errors for a client",
    needs: &[Field::Outcome],
    settings: &[],
    exceptions: &[&[
        "A refusal, an answer that missed its schema and a cancellation under a 2xx did arrive: calling them a \
         success is no mistake.",
        "A stream that broke off is RL207.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"rate_limit_error","outcome":"ok"}
{"ts":"2026-05-20T10:00:09Z","run_id":"r","call_id":"c","attempt":2,"status":200,"outcome":"ok"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"statusCode":200,"stream":true,"success":true,"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    ],
    near_misses: &[
        // The log says that it failed.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"rate_limit_error","outcome":"error"}
{"ts":"2026-05-20T10:00:09Z","run_id":"r","call_id":"c","attempt":2,"status":200,"outcome":"ok"}"#,
        // The transport did succeed; the content of the answer is another matter.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"kind":"schema_error","outcome":"ok"}"#,
        // The log does not say how it ended.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":500,"error_type":"api_error"}
{"ts":"2026-05-20T10:00:09Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let position = (0..call.len()).find(|&p| is_mislabelled(call.at(p)))?;
    let attempt = call.at(position);
    let count = call.attempts().filter(|attempt| is_mislabelled(attempt)).count() as u64;
    let what = shared::class_words(attempt.class);
    let status = if attempt.status == 0 { String::new() } else { format!(" (status {})", attempt.status) };
    let mut hit = Hit::new(format!("{what}{status} is logged as a success"))
        .about(attempt.class)
        .count("attempts", count)
        .count("status", u64::from(attempt.status));
    hit.rows.extend((0..call.len()).filter(|&p| is_mislabelled(call.at(p))).map(|p| call.rows()[p]));
    Some(hit)
}

fn is_mislabelled(attempt: &Attempt) -> bool {
    // A refusal, an answer that does not match its schema, and a cancelled request did get a response, so logging it as
    // a success is acceptable.
    let has_response = (200..300).contains(&attempt.status)
        && matches!(attempt.class, Some(Class::SchemaError | Class::ContentPolicy | Class::Cancelled));
    // A truncated answer is reported by RL207.
    let is_truncated = attempt.flags.end() == AnswerEnd::Truncated;
    attempt.failed() && attempt.flags.has(Flags::LOGGED_OK) && !has_response && !is_truncated
}
