//! Observes the server-sent events of an answer: errors, the last event and token counts.

use super::scalars::Scalars;
use super::usage::Usage;
use crate::ingest::{error_fields, is_last_event};

/// Maximum size of an event that is parsed, in bytes. Longer ones are counted but not read, so that an endless line does
/// not fill the memory.
const MAX_EVENT_BYTES: usize = 256 << 10;

/// Observer of an event stream.
#[derive(Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    /// Lines of the current event.
    event: String,
    is_too_long: bool,
    /// Number of events that carried part of the answer.
    pub(crate) delivered: u64,
    /// Body of the first error.
    pub(crate) error: Option<String>,
    /// Whether the last event was received.
    pub(crate) is_ended: bool,
}

impl Events {
    /// Processes the next bytes. Returns whether they completed an event with part of the answer.
    pub(crate) fn push(&mut self, bytes: &[u8], usage: &mut Usage) -> bool {
        let before = self.delivered;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + self.event.len() + piece.len() > MAX_EVENT_BYTES {
                self.is_too_long = true;
                self.line.clear();
                self.event.clear();
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line(usage);
            }
        }
        self.delivered > before
    }

    fn end_line(&mut self, usage: &mut Usage) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        if !text.is_empty() {
            self.event.push_str(text);
            self.event.push('\n');
        } else if !self.event.is_empty() || self.is_too_long {
            self.end_event(usage);
        }
        // Reuses the allocation for the next line.
        self.line = line;
        self.line.clear();
    }

    fn end_event(&mut self, usage: &mut Usage) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.is_too_long) {
            // An event of this size can only be part of the answer.
            self.delivered += 1;
            return;
        }
        let name = event.lines().find_map(|line| line.strip_prefix("event:")).map_or("", str::trim);
        let data = event.lines().find_map(|line| line.strip_prefix("data:")).map_or("", str::trim);
        if let Some(error) = error_in(name, data) {
            self.error.get_or_insert_with(|| error.to_owned());
        } else if carries_answer(name, data) {
            self.delivered += 1;
        }
        // Most events carry no token counts, so a cheap search saves parsing them: every API names the object `usage`,
        // or `usageMetadata`.
        if data.contains("usage") {
            Scalars::default().push(data.as_bytes(), &mut |path, value| usage.take(path, value));
        }
        self.is_ended |= is_last_event(&event);
    }
}

/// Returns the error in an event, if any.
fn error_in<'d>(name: &str, data: &'d str) -> Option<&'d str> {
    const FAILED_EVENT: &str = "response.failed";
    if name == "error" {
        return Some(data);
    }
    let at = data.find("\"error\"")?;
    if name == FAILED_EVENT || data.contains("\"type\":\"response.failed\"") {
        // The error is nested in the response, and is null unless the response failed.
        let inner = data[at + "\"error\"".len()..].trim_start().strip_prefix(':')?.trim_start();
        return inner.starts_with('{').then_some(inner);
    }
    error_fields(data).is_named.then_some(data)
}

/// Whether an event carries part of the answer: the APIs also send events about the start and the end of a message, and
/// keep-alives.
fn carries_answer(name: &str, data: &str) -> bool {
    match name {
        "" => data.starts_with('{'),
        "content_block_delta" => true,
        _ => name.ends_with(".delta"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observe(text: &str, chunk_size: usize) -> (Events, Usage) {
        let (mut events, mut usage) = (Events::default(), Usage::default());
        for bytes in text.as_bytes().chunks(chunk_size) {
            events.push(bytes, &mut usage);
        }
        (events, usage)
    }

    #[test]
    fn errors_and_ends_are_recognized_however_the_stream_is_split() {
        let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n\
                     event: content_block_delta\ndata: {\"delta\":{\"text\":\"the \\\"error\\\": {}\"}}\n\n";
        for chunk_size in [1, 3, 4096] {
            let (events, usage) = observe(start, chunk_size);
            assert_eq!((events.delivered, events.is_ended, events.error.is_none()), (1, false, true));
            assert_eq!(usage.input, Some(9));
            let stop = format!("{start}event: message_stop\r\ndata: {{\"type\":\"message_stop\"}}\r\n\r\n");
            assert!(observe(&stop, chunk_size).0.is_ended);
            let body = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
            let failed = format!("{start}event: error\ndata: {body}\n\n");
            assert_eq!(observe(&failed, chunk_size).0.error.as_deref(), Some(body));
        }
    }

    #[test]
    fn ends_and_errors_of_chat_completions_and_responses_are_recognized() {
        let chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n";
        assert!(!observe(chunk, 64).0.is_ended);
        assert!(observe(&format!("{chunk}data: [DONE]\n\n"), 64).0.is_ended);
        let failed =
            format!("{chunk}data: {{\"error\":{{\"message\":\"m\",\"type\":\"server_error\",\"code\":null}}}}\n\n");
        assert!(observe(&failed, 64).0.error.is_some());
        let response = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"m\"}}}\n\n";
        let events = observe(response, 64).0;
        assert_eq!(error_fields(&events.error.unwrap_or_default()).code.as_deref(), Some("server_error"));
        let created =
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\n";
        assert!(observe(created, 64).0.error.is_none());
    }

    #[test]
    fn an_endless_line_does_not_fill_the_memory() {
        let (mut events, mut usage) = (Events::default(), Usage::default());
        for _ in 0..64 {
            events.push(&[b'x'; 64 << 10], &mut usage);
        }
        assert!(events.line.capacity() < 4 * MAX_EVENT_BYTES);
    }
}
