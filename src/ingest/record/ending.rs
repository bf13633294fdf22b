//! How an answer ended: by a stop reason, by the last event of its stream, or not at all.

use super::event_stream::is_stream;
use super::scalar::Scalar;

/// Outcomes that say that the answer broke off.
const TRUNCATED: [&str; 8] = [
    "interrupted",
    "incomplete",
    "truncated",
    "stalled",
    "cut_off",
    "stream_error",
    "stream_interrupted",
    "ended_early",
];

/// Whether an outcome says that the answer broke off.
pub(in crate::ingest) fn names_truncation(outcome: &str) -> bool {
    TRUNCATED.iter().any(|word| word.eq_ignore_ascii_case(outcome))
}

/// What loggers and SDKs write where no stop reason came.
const NO_REASON: [&str; 8] = ["", "none", "null", "nil", "undefined", "unknown", "-", "n/a"];

/// Whether a value names a reason for which the model stopped.
pub(in crate::ingest) fn is_stop_reason(value: &Scalar<'_>) -> bool {
    match value {
        Scalar::Text(text) => !NO_REASON.iter().any(|word| word.eq_ignore_ascii_case(text.trim())),
        Scalar::First(first) => is_stop_reason(first),
        Scalar::Int(_) | Scalar::Float(_) => true,
        Scalar::Null | Scalar::Bool(_) | Scalar::Other => false,
    }
}

/// Whether a kept stream of server-sent events has its last event; `None` where `text` is no such stream, or where
/// the logger cut it: its last event is then no whole one.
pub(in crate::ingest) fn ends_stream(text: &str) -> Option<bool> {
    if !is_stream(text) {
        return None;
    }
    let is_last = |line: &str| {
        let line = line.strip_prefix("data:").or_else(|| line.strip_prefix("event:")).unwrap_or(line).trim();
        let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        LAST_EVENTS.contains(&line) || LAST_MARKS.iter().any(|mark| compact.contains(mark))
    };
    if text.lines().any(is_last) {
        return Some(true);
    }
    let data = text.lines().rev().find_map(|line| line.strip_prefix("data:"))?;
    let whole = text.ends_with('\n') && serde_json::from_str::<serde::de::IgnoredAny>(data.trim()).is_ok();
    whole.then_some(false)
}

/// Whether a text is a stream whose last event is no whole one: who wrote it was cut short, or who kept it cut it.
pub(in crate::ingest) fn breaks_off(text: &str) -> bool {
    is_stream(text) && ends_stream(text).is_none()
}

/// Sources: Anthropic docs, Streaming messages; OpenAI API reference, Chat completions and Responses streaming.
const LAST_EVENTS: [&str; 6] =
    ["[DONE]", "message_stop", "response.completed", "response.incomplete", "response.failed", "error"];
/// The same inside the data of an event, blanks removed; a reason in quotes is one that is given. The last chunks of
/// Gemini and of compatible servers carry no event name.
const LAST_MARKS: [&str; 6] = [
    "\"type\":\"message_stop\"",
    "\"type\":\"response.completed\"",
    "\"finish_reason\":\"",
    "\"finishReason\":\"",
    "\"stop_reason\":\"",
    "\"done\":true",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_stream_shows_its_end() {
        let start = "event: message_start\ndata: {\"type\":\"message_start\"}\n\n";
        let whole = |rest: &str| ends_stream(&format!("{start}{rest}"));
        for end in [
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
            "data: {\"type\": \"message_stop\"}\n\n",
            "data: [DONE]\n\n",
            "data: {\"choices\":[{\"finish_reason\": \"length\"}]}\n\n",
            "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n",
            "event: response.completed\ndata: {}\n\n",
        ] {
            assert_eq!(whole(end), Some(true), "{end}");
        }
        assert_eq!(whole(""), Some(false));
        assert_eq!(whole("data: {\"choices\":[{\"finish_reason\":null}]}\n\n"), Some(false));
        // The logger cut it, or it is something else.
        assert_eq!(whole("data: {\"type\":\"content_bl"), None);
        assert_eq!(whole("data: {\"type\":\"content_bl\n"), None);
        assert_eq!(ends_stream("Overloaded"), None);
        assert_eq!(ends_stream(""), None);
    }
}
