//! Logs of the TypeScript SDKs of Anthropic and OpenAI.

mod calls;
mod message;

use super::text::clock::Clock;
use super::text::literal::to_json;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;
use calls::Calls;
use message::{Message, ObjectKind};

/// Format of lines with the id of an attempt, `[log_25c70c]`, and objects printed by `util.inspect` after them.
pub(in crate::ingest) struct NodeSdk;

impl Format for NodeSdk {
    fn name(&self) -> &'static str {
        "node-sdk"
    }

    fn description(&self) -> &'static str {
        "Console lines of the Anthropic and OpenAI TypeScript SDKs, with the objects that their debug level prints."
    }

    fn detected_by(&self) -> &'static str {
        "`[log_` and six hexadecimal digits, in front of what became of a request"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        if !head.contains("[log_") {
            return Match::No;
        }
        let has_message = |line: &str| message::read(line).is_some_and(|line| line.message != Message::Other);
        let is_json = |line: &&str| line.starts_with('{') && line.ends_with('}');
        let fit = head.lines().filter(|line| has_message(line)).count();
        if fit > 0 && fit > head.lines().filter(is_json).count() { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(NodeDecoder::default())
    }
}

/// Maximum length of an object assembled from several lines, in bytes.
const MAX_OBJECT: usize = 1 << 20;

#[derive(Default)]
struct NodeDecoder {
    clock: Clock,
    calls: Calls,
    /// An object of which not all lines were read: id of its attempt, its kind, and its text so far.
    object: Option<(String, ObjectKind, String)>,
}

impl Decoder for NodeDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| self.line(sink, line, at));
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.close();
        self.calls.emit_all(sink);
    }
}

impl NodeDecoder {
    fn line(&mut self, sink: &mut Sink<'_>, line: &str, at: Position<'_>) {
        // Lines of an object are indented, up to its closing brace.
        if let Some((_, _, text)) = &mut self.object
            && (line.starts_with(' ') || line.starts_with('}'))
        {
            if text.len() < MAX_OBJECT {
                text.push('\n');
                text.push_str(line);
            }
            if line.starts_with('}') {
                self.close();
            }
            return sink.noise();
        }
        self.close();
        let Some(attempt_line) = message::read(line) else {
            self.calls.error(line);
            return sink.noise();
        };
        let is_new = match attempt_line.message {
            Message::Outcome { .. } => {
                let line_time = self.clock.read(line, &at, sink.zone());
                let (is_new, earliest) = self.calls.outcome(sink, &attempt_line, line_time, line, &at);
                self.clock.advance_to(earliest);
                is_new
            }
            Message::Object { kind, literal } => {
                let is_new = kind == ObjectKind::Request && {
                    let line_time = self.clock.read(line, &at, sink.zone());
                    self.calls.request(sink, attempt_line.id, line_time, line, &at)
                };
                self.object = Some((attempt_line.id.to_owned(), kind, literal.to_owned()));
                if literal.trim_end().ends_with('}') {
                    self.close();
                }
                is_new
            }
            Message::Other => false,
        };
        if !is_new {
            sink.noise();
        }
    }

    /// Reads the object, all lines of which were read.
    fn close(&mut self) {
        let Some((id, kind, literal)) = self.object.take() else { return };
        if kind != ObjectKind::Other {
            self.calls.object(&id, kind, &to_json(&literal).0);
        }
    }
}
