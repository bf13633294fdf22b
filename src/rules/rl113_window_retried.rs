//! A spent usage window reopens at a known time, and retries before that fail.

use super::refused::Retried;
use super::{Check, Field, Hit, Rule, Scope, Settings, refused};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL113",
    name: "window-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call was retried while its usage window was spent, or although the plan does not cover the request.",
    why: "The window is shut for the whole account until its reset, often hours away. A backoff of seconds or \
          minutes cannot reach it, and the retries only keep the job alive for nothing. Another key of the same organisation does not help, nor does another \
          model that is refused alike. Where an attempt of the call succeeded after all, this is for information \
          only.",
    fix: "Read the reset time (anthropic-ratelimit-unified-reset, or the time in the message), end the job so \
          that it can resume, and start it again at that time; a plan that lacks the feature needs another plan \
          or model.",
    remedy: Remedy::Wait,
    source: "Response headers anthropic-ratelimit-unified-status and -reset of subscription accounts; messages \
             such as \"You've hit your session limit\"",
    needs: &[Field::CallIdentity, Field::ErrorText],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &refused::DECISIONS,
        &[
            "Another key of the organisation draws on the same window; where keys differ and no organisation is \
             logged, that is not known.",
            "A plan that does not cover the request is answered by another plan or model, not by waiting.",
            "An attempt on another model that is let in is a way out.",
        ],
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"1779282000"},"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:01:00Z","run_id":"r","call_id":"c","attempt":2,"status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"1779282000"},"error_type":"rate_limit_error"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"t","try":2,"status_code":429,"error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}"#,
    ],
    near_misses: &[
        // The second attempt came after the window had reopened.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"1779282000"},"error_type":"rate_limit_error"}
{"ts":"2026-05-20T13:00:05Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // A rate limit within a window that is not spent.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":2,"headers":{"anthropic-ratelimit-unified-status":"allowed"},"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:02.5Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // The second attempt went to another account.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"org":"a","status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected"},"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"org":"b","status":200}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Result<Option<Hit>, Field> {
    let shut = |p: usize| call.at(p).class.is_some_and(Class::is_window);
    let retried = refused::retried_cap(call, shut, |p, q| repeats(call, p, q));
    Ok(refused::or_decided_to_retry(retried, call, shut)?.map(|retried| hit(&retried)))
}

fn hit(retried: &Retried<'_, '_>) -> Hit {
    if retried.class() == Some(Class::Entitlement) {
        let message = format!("{} although the plan does not cover the request", retried.retried());
        let mut hit = retried.hit(&message, "");
        hit.remedy = Some(Remedy::Stop);
        return hit;
    }
    let until = retried.until().map_or(String::new(), |until| format!("; it resets at {until}"));
    retried.hit(&format!("{} although the usage window was spent{until}", retried.retried()), "")
}

/// Some windows apply to one model only, so a changed request is a repeat only if it failed with the same class.
fn repeats(call: &Call<'_>, p: usize, q: usize) -> bool {
    !call.body_changed(p, q) || call.at(p).class == call.at(q).class
}
