//! Errors as Claude Code writes them, in every form used so far.

use crate::ingest::formats::draft::Draft;
use crate::ingest::formats::tree::Json;
use crate::ingest::record::json::Reader;

/// Reads the error of a retry's `system` line: an object with status and body, a message that contains both, the code
/// of a connection error, or plain words.
pub(super) fn of_retry(line: &Json<'_>, draft: &mut Draft) {
    match line.get("error") {
        Some(error @ Json::Object(_)) => of_object(error, draft),
        Some(error) => error.scalar_text().iter().for_each(|text| of_text(text, draft)),
        None => line.text_of("content").iter().for_each(|text| of_text(text, draft)),
    }
    // Older versions log the connection error under `cause`, beside `error`.
    if !draft.has("exception") {
        draft.set("exception", line.at(&["cause", "code"]).and_then(Json::text));
    }
}

fn of_object(error: &Json<'_>, draft: &mut Draft) {
    draft.set("status", error.get("status").and_then(Json::integer));
    draft.set("request_id", error.text_of("requestID").or(error.text_of("requestId")));
    draft.set("headers", error.get("headers").and_then(Json::raw));
    let code = |key| error.at(&[key, "code"]).and_then(Json::text);
    draft.set("exception", code("connection").or_else(|| code("cause")));
    let has_body = error.get("error").is_some_and(|body| body.raw().is_some());
    match error.text_of("message").or(error.text_of("formatted")) {
        Some(text) if !has_body => {
            of_text(text, draft);
            draft.set("error_type", error.text_of("type"));
        }
        _ => draft.set("error", error.raw()),
    }
}

/// Reads an error from displayed text: `API Error: 529 {"type":"error",...}`, `529 Overloaded`, or plain words.
pub(in crate::ingest::formats) fn of_text(text: &str, draft: &mut Draft) {
    let text = text.trim();
    let text = text.strip_prefix("API Error:").unwrap_or(text).trim();
    let (status, rest) = split_status(text);
    if let Some(status) = status.filter(|_| !draft.has("status")) {
        draft.set("status", status);
    }
    match body(rest) {
        Some(body) => draft.set("error", body),
        None => draft.set("error_message", text),
    }
}

/// Splits off a status at the start of `text`.
fn split_status(text: &str) -> (Option<i64>, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (status, rest) = text.split_at(digits);
    let is_word = rest.is_empty() || rest.starts_with([' ', ':']);
    match status.parse() {
        Ok(status @ 100..=599) if digits == 3 && is_word => (Some(status), rest),
        _ => (None, text),
    }
}

/// Returns the first JSON object contained in `text`.
fn body(text: &str) -> Option<&str> {
    let text = text.find('{').map(|start| &text[start..])?;
    let mut reader = Reader::new(text);
    reader.skip().ok()?;
    text.get(..reader.offset())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_from_the_start_of_a_text() {
        for (text, status, rest) in [
            ("529 Overloaded", Some(529), " Overloaded"),
            (r#"500 {"a":1}"#, Some(500), r#" {"a":1}"#),
            ("429", Some(429), ""),
            ("1200 tokens", None, "1200 tokens"),
            ("503rd request", None, "503rd request"),
            ("Request timed out.", None, "Request timed out."),
        ] {
            assert_eq!(split_status(text), (status, rest));
        }
        assert_eq!(body(r#"x {"a":{"b":"}"}} · see status"#), Some(r#"{"a":{"b":"}"}}"#));
        assert_eq!(body("set {x} of"), None);
    }
}
