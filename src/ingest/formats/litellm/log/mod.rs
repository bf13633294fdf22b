//! LiteLLM's own log as text or JSON, written by programs that use the library and by the proxy.
//!
//! What it contains depends on the level. DEBUG logs every request and its outcome; INFO logs each attempt of the
//! router when it is complete; at other levels the proxy logs only its responses to clients, and the number of
//! retries of requests that finally failed.

mod message;
mod requests;

use crate::ingest::ansi;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::formats::text::clock::Clock;
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;
use message::{Message, read};
use requests::{Requests, TimedLine};

/// Format of lines from the loggers of LiteLLM and of the server its proxy runs on.
pub(in crate::ingest) struct LiteLlmLog;

impl Format for LiteLlmLog {
    fn name(&self) -> &'static str {
        "litellm-log"
    }

    fn description(&self) -> &'static str {
        "The log of LiteLLM and of its proxy, text or JSON."
    }

    fn detected_by(&self) -> &'static str {
        "lines of the loggers LiteLLM, LiteLLM Router and LiteLLM Proxy"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        // The logs of the SDKs it calls are more detailed, so their formats are preferred.
        if !head.text().contains("LiteLLM")
            || ["HTTP Request: POST", "HTTP Response: POST"].iter().any(|of_sdk| head.text().contains(of_sdk))
        {
            return Match::No;
        }
        let (mut of_litellm, mut all, mut json, mut has_messages) = (0, 0, 0, false);
        for text in head.text().lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '\t'])) {
            all += 1;
            json += usize::from(text.starts_with('{'));
            let text = ansi::without(text);
            let Some(line) = message::line(&text) else { continue };
            of_litellm += 1;
            has_messages |= line.message.contains("Proxy initialized")
                || line.message.lines().any(|text| read(text, false).is_some());
        }
        let is_large_part = of_litellm * 4 >= all && of_litellm * 2 >= json;
        if has_messages && is_large_part {
            Match::Sure
        } else {
            Match::weak(if has_messages { of_litellm } else { 0 }, all)
        }
    }

    fn notes(&self, head: &Head<'_>) -> Vec<String> {
        let detailed = ["POST Request Sent from LiteLLM", "completion(model=", "responses(model="];
        if detailed.iter().any(|text| head.text().contains(text)) {
            return Vec::new();
        }
        vec![
            "LiteLLM's log at this level tells what clients of the proxy were answered: its own retries are only counted \
             where a request failed; set LITELLM_LOG=INFO, or log its payloads, to have each attempt"
                .to_owned(),
        ]
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(LogDecoder::default())
    }
}

#[derive(Default)]
struct LogDecoder {
    clock: Clock,
    requests: Requests,
    /// Line format and text of the latest message.
    latest: (u8, String),
    /// Whether the raw response is expected on the next line.
    expects_response: bool,
    /// Whether the latest line repeats a message already written by another handler.
    is_repeated: bool,
}

impl Decoder for LogDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let line = ansi::without(line);
            if !self.line(sink, &line, &at) {
                sink.noise();
            }
        });
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.requests.emit_all(sink);
    }
}

/// Maximum length of the message kept for comparison, in bytes.
const MAX_COMPARED: usize = 4096;

impl LogDecoder {
    /// Processes a line. Returns whether it is counted as an attempt.
    fn line(&mut self, sink: &mut Sink<'_>, text: &str, at: &Position<'_>) -> bool {
        let Some(line) = message::line(text) else {
            // The line continues the message of the line before.
            let line_time = self.clock.read("", at, sink.zone());
            return !self.is_repeated && self.message(sink, text, &TimedLine { raw: text, at, time: line_time });
        };
        let message = line.message.trim();
        let compared = &message[..message.floor_char_boundary(MAX_COMPARED)];
        self.is_repeated = !compared.is_empty() && self.latest.0 != line.line_format && self.latest.1 == compared;
        if self.is_repeated {
            return false;
        }
        self.latest = (line.line_format, compared.to_owned());
        self.expects_response = false;
        let time = line.members.scalar_text("timestamp");
        let timed_line =
            TimedLine { raw: text, at, time: self.clock.read(time.as_deref().unwrap_or(text), at, sink.zone()) };
        // The proxy's message on giving up spans several lines and is read as a whole.
        if message.contains("Exception occured") {
            return self.message(sink, message, &timed_line);
        }
        let ids = (line.members.scalar_text("trace_id"), line.members.scalar_text("session_id"));
        self.requests.trace = ids.0.map(|id| id.into_owned());
        self.requests.session = ids.1.map(|id| id.into_owned());
        let mut is_attempt = false;
        for part in message.lines() {
            is_attempt |= self.message(sink, part, &timed_line);
        }
        is_attempt
    }

    /// Processes a message, or a line of it. Returns whether it is counted as an attempt.
    fn message(&mut self, sink: &mut Sink<'_>, text: &str, line: &TimedLine<'_>) -> bool {
        let Some(message) = read(text, self.expects_response) else {
            self.expects_response &= text.trim().is_empty();
            return false;
        };
        self.expects_response = message == Message::RawResponse;
        self.requests.take(sink, message, line)
    }
}
