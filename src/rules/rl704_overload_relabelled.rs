//! A component between provider and client turned an overload into a client error.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Confidence, Flags, Outcome, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL704",
    name: "overload-relabelled",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "An overload reached the client under a status it does not retry, and the call ended there.",
    why: "Clients go by the status: a lack of capacity that arrives as a 4xx looks like a fault of the request, so \
          no retry layer ever sees it, and its owner is sent to look for a bug in the prompt.",
    fix: "Have the gateway pass the provider's status through (529, or 503 where 529 is impossible); until then, let \
          the client read the body and retry when it says overloaded.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors: overloaded_error is status 529; official SDKs, _base_client.py: \
             of the 4xx only 408, 409 and 429 are retried",
    needs: &[Field::ErrorType],
    settings: &[],
    exceptions: &[&[
        "408, 409 and 429 are retried by clients, so they mislead nobody.",
        "It says nothing where the client decided to go on, its declared attempts are spent, or it retried the same \
         status before.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"overloaded_error","error_message":"Overloaded","decision":"fail"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":403,"error":{"type":"None","message":"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"},"decision":"fail"}
{"timestamp":"2026-05-20T10:01:00Z","session_id":"s","turn_id":"u","try":1,"status_code":200}"#,
    ],
    near_misses: &[
        // The provider's own status, by which the client can recognise the overload.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","decision":"fail"}"#,
        // Within a stream the status is always 200: that is RL202.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"mid_stream":true,"error_type":"overloaded_error","decision":"fail"}"#,
        // The client recognised the overload.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // Clients do retry a 429.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"overloaded_error","decision":"fail"}"#,
        // The declared attempts were used up.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"status":400,"error_type":"overloaded_error"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    if !is_misled(call) {
        return None;
    }
    let last = call.last();
    let detail = call.detail(call.len() - 1)?;
    let said = shared::cut(call.table().names.text(detail.message), 80);
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let mut hit = Hit::new(format!("an overload arrived as status {} and ended the call{said}", last.status))
        .on(call, call.len() - 1)
        .about(last.class)
        .count("status", u64::from(last.status));
    hit.message = hit.message.trim_end_matches('.').to_owned();
    if last.flags.has(Flags::LOW_CONFIDENCE) {
        hit.confidence = Confidence::Low;
    }
    if !call.origin(call.len() - 1).client.is_some() && !last.flags.has(Flags::DECIDED_FAIL) {
        hit.confidence = hit.confidence.min(Confidence::Medium);
    }
    Some(hit)
}

/// Returns whether an overload ended the call with a status that clients do not retry.
pub(super) fn is_misled(call: &Call<'_>) -> bool {
    let last = call.last();
    let relabelled = last.class == Some(Class::Overloaded)
        && (400..500).contains(&last.status)
        && !matches!(last.status, 408 | 409 | 429);
    let continues = last.flags.has(Flags::DECIDED_RETRY) || last.flags.has(Flags::DECIDED_OTHER);
    let is_last_allowed = last.max_attempts > 1 && last.number >= last.max_attempts;
    // If the client retries this very status, the status is not what ended the call.
    let is_retried_status = call.retried().any(|p| call.at(p).status == last.status);
    relabelled && !continues && !is_last_allowed && !is_retried_status && call.outcome == Outcome::Failed
}
