//! A status that the provider never sends.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL702",
    name: "gateway-status",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A Messages client received 502, 503 or 520 to 524: something between it and the provider answered.",
    why: "The Messages API answers with 500, 504 or 529 when it is in trouble. Another status comes from a proxy, \
          a load balancer or a gateway: its limits and its logs are the ones to look at, and there is no request \
          id to ask the provider about.",
    fix: "Find the hop that answered (its name is often in the body or the server header), look at its own \
          health, timeouts and limits, and let it pass the provider's status through.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors: the table has no 502, 503 or 52x but 529; Cloudflare \
             documentation, 5xx errors: 520 to 524 are its own",
    needs: &[Field::Provider],
    settings: &[],
    exceptions: &[&[
        "Only attempts for a Messages server are judged; platforms that host the models (Bedrock, Vertex) have \
         statuses of their own.",
        "A 502 or 503 with an error of the provider's in its body is the provider's.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":502,"error_message":"<html><title>502 Bad Gateway</title></html>"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":522,"client":{"name":"Anthropic/JS","version":"1.14.0"}}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"t","try":2,"status_code":522,"client":{"name":"Anthropic/JS","version":"1.14.0"}}"#,
    ],
    near_misses: &[
        // The provider's own status for an overload.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"provider":"anthropic","status":200}"#,
        // Other providers do answer 503 themselves.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"openai","status":503}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"provider":"openai","status":200}"#,
        // A platform that hosts the model has its own statuses.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"aws.bedrock","client":{"name":"AnthropicBedrock/Python","version":"2.14.0"},"status":503}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"provider":"aws.bedrock","status":200}"#,
        // The body is the provider's own error.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":503,"error_type":"overloaded_error"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let is_foreign_status = |&p: &usize| {
        let attempt = call.at(p);
        attempt.class == Some(Class::GatewayError)
            && matches!(attempt.status, 502 | 503 | 520..=524)
            && shared::is_messages_api(call, p)
    };
    let position = (0..call.len()).find(is_foreign_status)?;
    let count = (0..call.len()).filter(is_foreign_status).count();
    let status = call.at(position).status;
    let mut hit = Hit::new(format!(
        "status {status} came back {} on a Messages route, where the provider does not send it",
        shared::times(count)
    ))
    .about(Some(Class::GatewayError))
    .count("status", u64::from(status))
    .count("attempts", count as u64);
    let message = call.detail(position).and_then(|detail| call.table().names.get(detail.message));
    if let Some(message) = message {
        hit = hit.text("body", shared::cut(message, 120));
    }
    hit.rows.extend((0..call.len()).filter(is_foreign_status).map(|position| call.rows()[position]));
    Some(hit)
}
