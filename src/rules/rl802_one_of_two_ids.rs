//! Two companies process each request, and the log has the id of only one of them.

use super::{Check, Field, Hit, Rule, Scope, Settings};
use crate::measure::Fleet;
use crate::model::{Remedy, Severity, units};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL802",
    name: "one-of-two-ids",
    severity: Severity::Info,
    scope: Scope::Fleet,
    summary: "Responses that came through the AWS platform carry its own id, and not the provider's.",
    why: "The platform finds a request by x-amzn-requestid, the provider by request-id: with one of them, a failure \
          can be followed to the border between the two and no further.",
    fix: "Log both headers of every response, x-amzn-requestid and request-id.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors, request id: on the AWS platform a response carries \
             x-amzn-requestid and request-id",
    needs: &[Field::Provider],
    settings: &[],
    exceptions: &[&["Bedrock itself answers with one id and is not counted."]],
    check: Check::Fleet(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","provider":"anthropic-aws","call_id":"a","status":200,"aws_request_id":"x1"}
{"ts":"2026-05-20T10:00:01Z","provider":"anthropic-aws","call_id":"b","status":200,"aws_request_id":"x2","request_id":"req_2"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","llm_provider":"aws","turn_id":"a","status_code":429,"headers":{"X-Amzn-RequestId":"x1"}}"#,
    ],
    near_misses: &[
        r#"{"ts":"2026-05-20T10:00:00Z","provider":"anthropic-aws","call_id":"a","status":200,"aws_request_id":"x1","request_id":"req_1"}"#,
        // Bedrock itself answers with a single id.
        r#"{"ts":"2026-05-20T10:00:00Z","provider":"aws.bedrock","call_id":"a","status":200,"aws_request_id":"x1"}"#,
        // On other platforms there is no second id.
        r#"{"ts":"2026-05-20T10:00:00Z","provider":"anthropic","call_id":"a","status":200,"request_id":"req_1"}"#,
    ],
};

fn check(fleet: &Fleet<'_>, _: &Settings) -> Vec<Hit> {
    let tally = &fleet.tally;
    if tally.with_one_id == 0 {
        return Vec::new();
    }
    let all = tally.with_one_id + tally.with_both_ids;
    let mut hit = Hit::new(format!(
        "{} of {} through the AWS platform carry x-amzn-requestid without request-id",
        tally.with_one_id,
        units::counted(all, "response")
    ))
    .count("with_one_id", tally.with_one_id)
    .count("with_both_ids", tally.with_both_ids);
    hit.rows.extend(tally.first_with_one_id.map(|row_ref| row_ref.row));
    vec![hit]
}
