//! A spend limit set by the account's owner is reported as 400 and looks like a malformed request.

use super::{Check, Field, Hit, Rule, Scope, Settings, refused};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL103",
    name: "spend-limit-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call was retried after a spend limit set by the account's owner was reached.",
    why: "The limit holds until the date its message names or until someone raises it; until then every \
          further attempt is refused, with another key of the same organisation or workspace as well. The status is \
          400, yet nothing is wrong with the request. Where an attempt of the call succeeded after all, this is for \
          information only.",
    fix: "Recognise the message \"You have reached your specified API usage limits\" before the status 400 is \
          taken for a bad request: stop, alert whoever owns the limit, resume when it reopens or is raised.",
    remedy: Remedy::Wait,
    source: "Anthropic API documentation, Errors: a limit you set yourself is a 400 invalid_request_error whose \
             message begins \"You have reached your specified API usage limits\"",
    needs: &[Field::CallIdentity, Field::ErrorText],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &refused::DECISIONS,
        &["Another key of the organisation and workspace draws on the same limit; where keys differ and no \
             organisation is logged, that is not known."],
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"You have reached your specified API usage limits. You will regain access on 2026-06-01 at 00:00 UTC."}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"You have reached your specified API usage limits. You will regain access on 2026-06-01 at 00:00 UTC."}"#,
        r#"{"timestamp":"2026-05-20T10:00:00.100Z","session_id":"s","turn_id":"t","try":1,"status_code":400,"body":{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified workspace API usage limits. You will regain access on 2026-06-01 at 00:00 UTC."}}}
{"timestamp":"2026-05-20T10:00:00.700Z","session_id":"s","turn_id":"t","try":2,"status_code":400,"body":{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified workspace API usage limits. You will regain access on 2026-06-01 at 00:00 UTC."}}}
{"timestamp":"2026-05-20T10:00:01.900Z","session_id":"s","turn_id":"t","try":3,"status_code":400,"body":{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified workspace API usage limits. You will regain access on 2026-06-01 at 00:00 UTC."}}}"#,
    ],
    near_misses: &[
        // The call correctly ends at the limit.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"You have reached your specified API usage limits. You will regain access on 2026-06-01 at 00:00 UTC.","decision":"fail"}"#,
        // The call was resumed after the date the message names.
        r#"{"ts":"2026-05-31T23:59:58Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"You have reached your specified API usage limits. You will regain access on 2026-06-01 at 00:00 UTC."}
{"ts":"2026-06-01T00:00:30Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // A 400 of another kind: that is RL104.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"messages: at least one message is required"}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"messages: at least one message is required"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Result<Option<Hit>, Field> {
    let limited = |p: usize| call.at(p).class == Some(Class::SpendLimit);
    let retried = refused::retried_cap(call, limited, |_, _| true);
    let found = refused::or_decided_to_retry(retried, call, limited)?;
    Ok(found.map(|retried| {
        let message = format!("{} although the account's own spend limit was reached", retried.retried());
        retried.hit(&message, "no attempt can succeed before it reopens or is raised")
    }))
}
