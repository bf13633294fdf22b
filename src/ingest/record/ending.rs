//! How a response ended: by a stop reason, by the last event of its stream, or not at all.

use super::event_stream::is_stream;
use super::scalar::Scalar;

/// Outcomes that mean the response was cut off.
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

/// Whether an outcome means that the response was cut off.
pub(in crate::ingest) fn names_truncation(outcome: &str) -> bool {
    TRUNCATED.iter().any(|word| word.eq_ignore_ascii_case(outcome))
}

/// Values that loggers and SDKs write if there was no stop reason.
const NO_REASON: [&str; 8] = ["", "none", "null", "nil", "undefined", "unknown", "-", "n/a"];

/// Whether a value is a reason for which the model stopped.
pub(in crate::ingest) fn is_stop_reason(value: &Scalar<'_>) -> bool {
    match value {
        Scalar::Text(text) => !NO_REASON.iter().any(|word| word.eq_ignore_ascii_case(text.trim())),
        Scalar::First(first) => is_stop_reason(first),
        Scalar::Int(_) | Scalar::Float(_) => true,
        Scalar::Null | Scalar::Bool(_) | Scalar::Other => false,
    }
}

/// Whether a logged stream of server-sent events contains its last event; `None` if `text` is not such a stream, or if
/// its last event is incomplete because the logger truncated it.
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

/// Whether a text is a stream with an incomplete last event, because the writer stopped or the logger truncated it.
pub(in crate::ingest) fn cuts_off_response(text: &str) -> bool {
    is_stream(text) && ends_stream(text).is_none()
}

/// Names of last events. Sources: Anthropic docs, Streaming messages; OpenAI API reference, Chat completions and
/// Responses streaming.
const LAST_EVENTS: [&str; 6] =
    ["[DONE]", "message_stop", "response.completed", "response.incomplete", "response.failed", "error"];
/// Marks of last events in their data, with white space removed; a quote after the colon means that a reason is given.
/// The last chunks of Gemini and of compatible servers carry no event name.
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
        // Truncated by the logger, or not a stream.
        assert_eq!(whole("data: {\"type\":\"content_bl"), None);
        assert_eq!(whole("data: {\"type\":\"content_bl\n"), None);
        assert_eq!(ends_stream("Overloaded"), None);
        assert_eq!(ends_stream(""), None);
    }
}
