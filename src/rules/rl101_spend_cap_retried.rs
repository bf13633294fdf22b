//! A monthly spend cap is reported as 429, so clients that look only at the status retry it.

use super::{Check, Field, Hit, Rule, Scope, Settings, refused};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL101",
    name: "spend-cap-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call was retried after the organisation's monthly spend cap was reached.",
    why: "The cap holds until 00:00 UTC on the first of the next month or until it is raised; until then \
          every further attempt is refused, and the client waits for nothing. The cap is the organisation's: \
          another key or workspace of it does not help. Where an attempt of the call succeeded after all, the cap \
          had been raised, and this is for information only.",
    fix: "Read error.details.error_code before the status: stop at enforced_spend_limit_reached, alert \
          whoever owns the budget, and resume when the cap reopens.",
    remedy: Remedy::Wait,
    source: "Anthropic API documentation, Errors: a 429 with error_code enforced_spend_limit_reached carries \
             no retry-after, and retrying fails until the cap reopens",
    needs: &[Field::CallIdentity, Field::ErrorText],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &refused::DECISIONS,
        &["Another key or workspace of the organisation draws on the same cap; where keys or workspaces differ and \
             no organisation is logged, that is not known."],
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error":{"type":"rate_limit_error","message":"You have reached your API usage limits: the monthly threshold was crossed."}}
{"ts":"2026-03-10T09:00:04Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // Another key of the same organisation.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"org":"o","api_key_id":"a","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:00:01Z","run_id":"r","call_id":"c","attempt":2,"org":"o","api_key_id":"b","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
    ],
    near_misses: &[
        // The call correctly ends at the cap.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached","decision":"fail"}"#,
        // The second attempt went to another organisation.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"org":"a","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:00:01Z","run_id":"r","call_id":"c","attempt":2,"org":"b","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        // A rate limit of the same type and status.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:01.2Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Result<Option<Hit>, Field> {
    let capped = |p: usize| call.at(p).class == Some(Class::SpendCap);
    let retried = refused::retried_cap(call, capped, |_, _| true);
    let found = refused::or_decided_to_retry(retried, call, capped)?;
    Ok(found.map(|retried| {
        let message = format!("{} although the monthly spend cap was reached", retried.retried());
        retried.hit(&message, "no attempt can succeed before it reopens")
    }))
}
