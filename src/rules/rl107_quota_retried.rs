//! Exhausted credit or a daily allowance is reported with the status of a rate limit.

use super::{Check, Field, Hit, Rule, Scope, Settings, refused};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL107",
    name: "quota-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call was retried after its credit or quota was used up.",
    why: "Only money or the next day refills it. The status is that of an ordinary rate limit, so clients that \
          go by the status wait and retry for nothing. Another key of the same organisation does not help, nor does \
          another model that is refused alike. Where an attempt of the call succeeded after all, this is for \
          information only.",
    fix: "Read the error's code before its status: stop at insufficient_quota and its kin, or at a quota counted \
          per day; add credit or switch to an account that has some.",
    remedy: Remedy::Stop,
    source: "OpenAI documentation, Error codes: a 429 with insufficient_quota is about plan and billing; Gemini \
             API documentation, Rate limits: a quota id with PerDay refills at midnight Pacific time",
    needs: &[Field::CallIdentity, Field::ErrorText],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &refused::DECISIONS,
        &[
            "Another key of the organisation draws on the same quota; where keys differ and no organisation is \
             logged, that is not known.",
            "An attempt on another model that is let in is a way out.",
        ],
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"insufficient_quota","error_code":"insufficient_quota"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":429,"error_type":"insufficient_quota","error_code":"insufficient_quota"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","trace_id":"t","logical_id":"l","try":1,"status_code":400,"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits."}}
{"timestamp":"2026-05-20T10:00:05Z","trace_id":"t","logical_id":"l","try":2,"status_code":400,"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits."}}"#,
    ],
    near_misses: &[
        // A rate limit that ends by waiting.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1,"error_type":"requests","error_code":"rate_limit_exceeded"}
{"ts":"2026-05-20T10:00:01.1Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // The second attempt went to an account that has credit.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_code":"insufficient_quota","api_key_id":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"api_key_id":"b"}"#,
        // A smaller request was accepted: the remaining credit covers it.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_code":"insufficient_quota","max_tokens":32000}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"max_tokens":4000}"#,
        // The call stopped at once.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_code":"insufficient_quota","decision":"fail"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Result<Option<Hit>, Field> {
    let spent = |p: usize| call.at(p).class == Some(Class::QuotaExhausted);
    let retried = refused::retried_cap(call, spent, |p, q| repeats(call, p, q));
    let found = refused::or_decided_to_retry(retried, call, spent)?;
    Ok(found.map(|retried| {
        let message = format!("{} although the quota was used up", retried.retried());
        retried.hit(&message, "waiting does not refill it")
    }))
}

/// Some quotas are counted per model, and some are checked in advance against the maximum cost of a request. Therefore
/// a changed request is a repeat only if it failed with the same class.
fn repeats(call: &Call<'_>, p: usize, q: usize) -> bool {
    !call.body_changed(p, q) || call.at(p).class == call.at(q).class
}
