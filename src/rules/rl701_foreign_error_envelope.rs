//! An error that a component between provider and client wrapped in another format.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::Call;
use crate::model::{Confidence, Flags, Remedy, Severity, Symbol};
use serde_json::Value;

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL701",
    name: "foreign-error-envelope",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "An error in another API's shape came back on a Messages route: something in between rewrote it.",
    why: "A client that looks for the provider's error type finds \"None\" or a number, and the true cause sits \
          in the text of the message. Retry decisions then rest on the status alone, or fail.",
    fix: "Have the gateway pass the provider's error through unchanged, or map its shape back; until then read \
          the cause out of the message before deciding on a retry.",
    remedy: Remedy::Fix,
    source: "LiteLLM, Messages route: type and param the string \"None\", the code a string, the message encoded \
             JSON; Anthropic API documentation, Errors: the shape that belongs there",
    needs: &[Field::Provider],
    settings: &[],
    exceptions: &[&[
        "It judges attempts for a Messages client, and those of which neither provider nor client is logged.",
        "An exception's text that quotes the provider's own body is no foreign envelope.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":503,"error_type":"None","error_code":"503","error_message":"{\"message\":\"The upstream is unable to process your request.\"}"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":500,"client":{"name":"Anthropic/Python","version":"2.14.0"},"body":{"error":{"message":"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}","type":"None","param":"None","code":"500"}}}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"t","try":2,"status_code":200,"client":{"name":"Anthropic/Python","version":"2.14.0"}}"#,
    ],
    near_misses: &[
        // The provider's own envelope.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529,"body":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}}"#,
        // On an OpenAI route, this is the native envelope.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"openai","status":500,"body":{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}}"#,
        // The text of the SDK's exception quotes the provider's own body.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"provider":"anthropic","status":529,"error_message":"529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let foreign = |&p: &usize| call.at(p).flags.has(Flags::FOREIGN_ENVELOPE) && is_foreign(call, p);
    let position = (0..call.len()).find(foreign)?;
    let count = (0..call.len()).filter(foreign).count() as u64;
    let message = call.detail(position).and_then(|detail| call.table().names.get(detail.message));
    let cause = message.map(|message| shared::cut(&unwrapped(message).unwrap_or_else(|| message.to_owned()), 160));
    let mut hit = Hit::new("an error in another API's shape came back on a Messages route")
        .about(call.at(position).class)
        .count("attempts", count);
    if let Some(cause) = cause {
        hit.message = format!("{}; inside it: {}", hit.message, cause.trim_end_matches('.'));
        hit = hit.text("cause", cause);
    }
    hit.rows.extend((0..call.len()).filter(foreign).map(|position| call.rows()[position]));
    if !shared::is_messages_api(call, position) {
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Returns whether the envelope does not belong to its route, which is that of a Messages client, or unknown.
fn is_foreign(call: &Call<'_>, position: usize) -> bool {
    let origin = call.origin(position);
    let unknown = origin.provider == Symbol::NONE && origin.client == Symbol::NONE;
    (unknown || shared::is_messages_api(call, position)) && !is_quoted(call, position)
}

/// Returns whether the error is an SDK's exception text that quotes the provider's body unchanged, so that the envelope
/// is correct.
fn is_quoted(call: &Call<'_>, position: usize) -> bool {
    let Some(detail) = call.detail(position) else { return false };
    let names = &call.table().names;
    let native = names.get(detail.message).and_then(json_in).is_some_and(|value| {
        value.get("type").and_then(Value::as_str) == Some("error") && value.get("error").is_some()
    });
    let foreign_word = |symbol: Symbol| {
        names.get(symbol).is_some_and(|word| word == "None" || word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    native && !foreign_word(detail.error_type) && !foreign_word(detail.error_code)
}

/// Returns the innermost message of an error wrapped in the text of another.
fn unwrapped(message: &str) -> Option<String> {
    // Up to three levels of nesting occur in known logs, so four are enough.
    let mut text = message.to_owned();
    let mut found = None;
    for _ in 0..4 {
        let Some(inner) = json_in(&text).and_then(|value| inner_message(&value)) else { break };
        found = Some(inner.clone());
        text = inner;
    }
    found
}

/// Returns the first JSON value that a text contains.
fn json_in(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<Value>().next()?.ok()
}

fn inner_message(value: &Value) -> Option<String> {
    let error = value.get("error").unwrap_or(value);
    let words = error.as_str().or_else(|| error.get("message")?.as_str()).or_else(|| value.get("detail")?.as_str())?;
    Some(words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::unwrapped;

    #[test]
    fn the_innermost_message_is_found() {
        let twice = r#"Upstream: {"error":{"message":"{\"message\":\"busy\"}","type":"None"}} (1 try)"#;
        assert_eq!(unwrapped(twice).as_deref(), Some("busy"));
        assert_eq!(unwrapped("plain words"), None);
        assert_eq!(unwrapped(r#"{"message":"cut of"#), None);
    }
}
