//! Streams of server-sent events that were logged as the body of a response: their errors and their token counts.

use std::borrow::Cow;

/// Whether a text is a stream of server-sent events, and not prose that begins with the name of a field.
///
/// Source: WHATWG HTML, Server-sent events, 9.2.5: fields `event`, `data`, `id` and `retry`; a line that begins with a
/// colon is a comment, which gateways send to keep the connection open.
pub(super) fn is_stream(text: &str) -> bool {
    let text = text.trim_start();
    let begins_with_field = ["event:", "data:", "id:", "retry:", ":"].iter().any(|field| text.starts_with(field));
    let is_event = |line: &str| match line.strip_prefix("data:") {
        Some(data) => data.trim_start().starts_with(['{', '[']),
        None => line.strip_prefix("event:").is_some_and(|name| !name.trim().contains(' ')),
    };
    begins_with_field && text.lines().any(is_event)
}

/// An event.
#[derive(Default)]
struct Event<'t> {
    name: &'t str,
    data: Cow<'t, str>,
}

impl<'t> Event<'t> {
    fn push(&mut self, line: &'t str) {
        if let Some(name) = line.strip_prefix("event:") {
            self.name = name.trim();
        } else if let Some(data) = line.strip_prefix("data:") {
            match self.data.is_empty() {
                true => self.data = Cow::Borrowed(data.trim()),
                false => self.data.to_mut().push_str(data.trim()),
            }
        }
    }

    /// Whether it may contain an error: its name is `error`, or its data has a member of that name.
    fn may_be_an_error(&self) -> bool {
        self.name == ERROR_EVENT || (self.data.starts_with(['{', '[']) && self.data.contains("\"error\""))
    }
}

/// Name of error events. Sources: Anthropic docs, Streaming, Error events; OpenAI API reference, Responses streaming,
/// `error`.
const ERROR_EVENT: &str = "error";

/// Iterates over the events of a stream that may contain an error: whether the event is named `error`, and its data.
pub(super) fn possible_errors(text: &str) -> impl Iterator<Item = (bool, Cow<'_, str>)> {
    events(text).filter(Event::may_be_an_error).map(|event| (event.name == ERROR_EVENT, event.data))
}

/// Iterates over the data of the events of a stream that may contain token counts.
///
/// Sources: Anthropic docs, Streaming messages, `message_start` and `message_delta`; OpenAI API reference, Chat
/// completions, `stream_options.include_usage`, and Responses streaming, `response.completed`.
pub(in crate::ingest) fn possible_usages(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    events(text).map(|event| event.data).filter(|data| data.starts_with('{') && data.contains("\"usage\""))
}

/// Iterates over the events of a stream, which are separated by empty lines.
fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let mut event = Event::default();
        let mut is_end = true;
        for line in lines.by_ref() {
            is_end = false;
            if line.trim().is_empty() {
                break;
            }
            event.push(line);
        }
        (!is_end).then_some(event)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_distinguished_from_prose() {
        for text in [
            "event: message_start\ndata: {\"type\":\"message_start\"}\n\n",
            ": PROCESSING\n\ndata: {\"choices\":[]}\n\n",
            "id: 7\nevent: ping\ndata: 1\n\n",
            "data: {\"cut",
        ] {
            assert!(is_stream(text), "{text}");
        }
        for text in ["data: the field is missing", "event: none was found", ": x", "id: 5 is unknown", "", "{}"] {
            assert!(!is_stream(text), "{text}");
        }
    }

    #[test]
    fn events_that_may_be_errors_are_found() {
        let stream = "data: {\"delta\":\"an \\\"error\\\": {}\"}\n\nevent: error\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n\
                      data: {\"error\":{\"code\":502}}";
        let found: Vec<_> =
            possible_errors(stream).map(|(is_named_error, data)| (is_named_error, data.into_owned())).collect();
        assert_eq!(found, [(true, "{\"a\":1}".to_owned()), (false, "{\"error\":{\"code\":502}}".to_owned())]);
    }
}
