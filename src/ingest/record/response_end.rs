//! Evidence that a response is complete or was cut off: outcomes, stop reasons, and the last event of its stream.

use super::event_stream::is_stream;
use super::scalar::Scalar;

/// Outcomes that mean the response was cut off.
const TRUNCATION_WORDS: [&str; 8] = [
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
    TRUNCATION_WORDS.iter().any(|word| word.eq_ignore_ascii_case(outcome))
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
pub(in crate::ingest) fn has_last_event(text: &str) -> Option<bool> {
    if !is_stream(text) {
        return None;
    }
    let is_last = |line: &str| {
        let line = line.strip_prefix("data:").or_else(|| line.strip_prefix("event:")).unwrap_or(line).trim();
        let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        LAST_EVENTS.contains(&line) || LAST_EVENT_DATA.iter().any(|part| compact.contains(part))
    };
    if text.lines().any(is_last) {
        return Some(true);
    }
    let data = text.lines().rev().find_map(|line| line.strip_prefix("data:"))?;
    let whole = text.ends_with('\n') && serde_json::from_str::<serde::de::IgnoredAny>(data.trim()).is_ok();
    whole.then_some(false)
}

/// Whether a text is a stream whose last line is incomplete, because the server stopped or the logger truncated it.
pub(in crate::ingest) fn is_cut_off(text: &str) -> bool {
    is_stream(text) && has_last_event(text).is_none()
}

/// Names of last events. Sources: Anthropic docs, Streaming messages; OpenAI API reference, Chat completions and
/// Responses streaming.
const LAST_EVENTS: [&str; 6] =
    ["[DONE]", "message_stop", "response.completed", "response.incomplete", "response.failed", "error"];
/// Parts of the data of last events, with white space removed. A quote after the colon means that a reason is given.
/// The last chunks of Gemini and of servers compatible with OpenAI have no event name.
const LAST_EVENT_DATA: [&str; 6] = [
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
    fn the_last_event_of_a_logged_stream_is_found() {
        let start = "event: message_start\ndata: {\"type\":\"message_start\"}\n\n";
        let ends = |rest: &str| has_last_event(&format!("{start}{rest}"));
        for end in [
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
            "data: {\"type\": \"message_stop\"}\n\n",
            "data: [DONE]\n\n",
            "data: {\"choices\":[{\"finish_reason\": \"length\"}]}\n\n",
            "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n",
            "event: response.completed\ndata: {}\n\n",
        ] {
            assert_eq!(ends(end), Some(true), "{end}");
        }
        assert_eq!(ends(""), Some(false));
        assert_eq!(ends("data: {\"choices\":[{\"finish_reason\":null}]}\n\n"), Some(false));
        // Truncated by the logger, or not a stream.
        assert_eq!(ends("data: {\"type\":\"content_bl"), None);
        assert_eq!(ends("data: {\"type\":\"content_bl\n"), None);
        assert_eq!(has_last_event("Overloaded"), None);
        assert_eq!(has_last_event(""), None);
    }
}
