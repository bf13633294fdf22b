//! Spans as printed by the console exporter for JavaScript.

use super::attributes::Attributes;
use super::span::{self, ScopeContext};
use super::{OtlpDecoder, node_literal};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Framing, Match, Order};
use crate::ingest::formats::tree::{Json, Parsing};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;

/// Format of objects printed over several lines with bare keys and strings in single quotes.
pub(in crate::ingest) struct Console;

impl Format for Console {
    fn name(&self) -> &'static str {
        "otel-js-console"
    }

    fn description(&self) -> &'static str {
        "OpenTelemetry spans as the console exporter for JavaScript prints them."
    }

    fn detected_by(&self) -> &'static str {
        "objects over several lines with `traceId`, `kind` and `attributes` as bare keys"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let has_object = || head.lines().any(begins_object);
        let has = |key: &str| head.contains(key) && head.lines().any(|line| line.starts_with(key));
        let is_span = ["traceId: '", "kind: ", "attributes: {", "instrumentationScope: {"].iter().all(|key| has(key));
        if is_span && has_object() { Match::Sure } else { Match::No }
    }

    fn framing(&self) -> Framing {
        Framing::Stanzas(begins_object)
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn raw_is_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ConsoleDecoder::default())
    }
}

/// Returns whether a line begins an object.
fn begins_object(line: &str) -> bool {
    line == "{"
}

#[derive(Default)]
struct ConsoleDecoder {
    spans: OtlpDecoder,
}

impl Decoder for ConsoleDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_stanza(begins_object, sink, |sink, text, at| self.stanza(text, sink, at));
        self.spans.emit_if_many(sink);
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.spans.finish(sink);
    }
}

impl ConsoleDecoder {
    fn stanza(&mut self, text: &str, sink: &mut Sink<'_>, at: Position<'_>) {
        if !text.starts_with('{') {
            return sink.noise();
        }
        // Other output of the program may follow the object.
        let end = text.find("\n}").map_or(text.len(), |end| end + 2);
        let json = node_literal::to_json(&text[..end]);
        let Ok(json) = Json::parse(&json, Parsing::Eager) else {
            return sink.reject("no object as Node.js prints it", 0, text, at);
        };
        let of_scope = |key: &str| json.at(&["instrumentationScope", key]).and_then(Json::text).unwrap_or_default();
        let context = ScopeContext {
            resource: Attributes::of(json.at(&["resource", "attributes"])),
            scope: of_scope("name"),
            scope_version: of_scope("version"),
            kinds_from_zero: true,
        };
        match span::read(&json, &context, at) {
            Some(span) => self.spans.hold(span),
            None => sink.noise(),
        }
    }
}
