//! Logs of the Python SDKs of Anthropic and OpenAI and of their HTTP client.

mod calls;
mod log_line;
mod message;
mod options;
mod sdk_behavior;

use super::text::clock::Clock;
use super::text::literal::to_json;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;
use calls::{Calls, Response};
use log_line::LogLine;
use message::{Message, Source};
use options::Options;
use sdk_behavior::is_model_path;

/// Format of lines of `httpx`, `anthropic._base_client` and `openai._base_client`, with any prefix before the
/// messages.
pub(in crate::ingest) struct PythonSdk;

impl Format for PythonSdk {
    fn name(&self) -> &'static str {
        "python-sdk"
    }

    fn description(&self) -> &'static str {
        "Log lines of the Anthropic and OpenAI Python SDKs and of httpx, with or without times."
    }

    fn detected_by(&self) -> &'static str {
        "`Retrying request to .. in .. seconds`, or `HTTP Request: POST` to the path of a model API"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut fit, mut all, mut is_sure) = (0, 0, false);
        for line in head.lines().filter(|line| !line.starts_with(char::is_whitespace)) {
            all += 1;
            if line.starts_with('{') {
                continue;
            }
            match message::read(line).map(|(message, _)| message) {
                Some(Message::Retry { .. } | Message::Count(_)) => is_sure = true,
                Some(Message::Options(options)) if options.contains("'idempotency_key'") => is_sure = true,
                Some(Message::Response { source: Source::Client, url, .. }) if is_model_path(url) => {}
                Some(Message::Sent { url }) if is_model_path(url) => {}
                _ => continue,
            }
            fit += 1;
        }
        // A few such lines among JSON lines belong to a log of another format.
        let is_mixed = head.lines().filter(|line| line.starts_with('{')).count() > fit;
        if is_sure && !is_mixed { Match::Sure } else { Match::weak(fit, all) }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(PythonDecoder::default())
    }
}

#[derive(Default)]
struct PythonDecoder {
    clock: Clock,
    calls: Calls,
    /// Whether a traceback is in progress; its last line names the exception.
    is_in_traceback: bool,
}

impl Decoder for PythonDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| self.line(sink, line, at));
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.calls.emit_all(sink);
    }
}

impl PythonDecoder {
    fn line(&mut self, sink: &mut Sink<'_>, line: &str, at: Position<'_>) {
        let Some((message, start)) = message::read(line) else {
            if self.is_in_traceback && !line.starts_with(' ') {
                self.traceback(line);
            }
            return sink.noise();
        };
        self.is_in_traceback = false;
        let time = self.clock.read(line, &at, sink.zone());
        let log_line = LogLine { text: line, at, time, provider: provider_in(&line[..start]) };
        let begins_attempt = self.take(sink, message, &log_line);
        self.clock.set_earliest(self.calls.passed);
        // The line at which an attempt begins is counted when the attempt is complete.
        if !begins_attempt {
            sink.noise();
        }
    }

    /// Processes a message. Returns whether it began an attempt.
    fn take(&mut self, sink: &mut Sink<'_>, message: Message<'_>, line: &LogLine<'_>) -> bool {
        let calls = &mut self.calls;
        match message {
            Message::Options(literal) => calls.next_options = Options::of(&to_json(literal).0),
            Message::Count(count) => calls.next_count = Some(count),
            Message::Sent { url } => return calls.sent(sink, url, line),
            Message::Response { source, url, status, headers } => {
                let headers = (!headers.is_empty()).then(|| to_json(headers).0);
                return calls.response(sink, Response { source, url, status, headers }, line);
            }
            Message::RequestId(id) => calls.request_id(id),
            Message::ServerSays { retry } => calls.server_says(retry),
            Message::Raised { exception } => {
                calls.raised(exception, line);
                self.is_in_traceback = exception.is_empty();
            }
            Message::Retry { path, seconds, count } => {
                let (is_new, due) = calls.retry(sink, path, seconds * 1e3, count, line);
                self.clock.advance_to(due);
                return is_new;
            }
            Message::Error { status, body } => calls.error(status, body),
        }
        false
    }

    /// Reads the last line of a traceback.
    fn traceback(&mut self, line: &str) {
        if let Some(exception) = message::exception_of(line) {
            self.calls.set_exception(exception);
        }
    }
}

/// Returns the provider whose SDK wrote a line with this text before the message.
fn provider_in(prefix: &str) -> Option<&'static str> {
    let is = |name: &str| prefix.contains(name);
    if is("anthropic") {
        Some("anthropic")
    } else if is("openai") {
        Some("openai")
    } else {
        None
    }
}
