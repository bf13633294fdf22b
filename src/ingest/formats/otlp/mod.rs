//! OpenTelemetry: traces and logs as OTLP/JSON, and spans as printed by Python's console exporter.

mod attributes;
pub(super) mod console;
mod log;
mod node_literal;
mod select_attempts;
mod span;

use super::draft::{Draft, decode_all};
use super::json_lines::JsonLines;
use super::tree::{Json, Parsing, each_value};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::Members;
use crate::ingest::record::json::Reader;
use crate::ingest::sink::Sink;
use attributes::Attributes;
use select_attempts::{ParentsOfAttempts, select_attempts};
use span::{ScopeContext, Span};

/// Format of lines of a collector's file exporter, and of whole documents.
pub(in crate::ingest) struct Otlp;

/// Keys of which an export contains one.
const EXPORTS: [&str; 4] = ["resourceSpans", "resourceLogs", "resource_spans", "resource_logs"];
/// Maximum number of spans held until their parent or children arrive.
const MAX_HELD: usize = 1 << 14;

impl Format for Otlp {
    fn name(&self) -> &'static str {
        "otlp"
    }

    fn description(&self) -> &'static str {
        "OpenTelemetry traces and logs as JSON: HTTP requests, calls of models, events of coding agents."
    }

    fn detected_by(&self) -> &'static str {
        "objects with `resourceSpans` or `resourceLogs`, or spans with a trace, a start and attributes"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        // The head ends within the first line, so that the line cannot be parsed.
        let is_cut_off = !head.is_whole && !head.text().trim_end().contains('\n');
        let (mut all, mut fit) = (0, 0);
        for (line, members) in head.parsed().filter(|(line, _)| line.starts_with('{')) {
            all += 1;
            fit += usize::from(match members {
                Some(members) => is_export(members) || is_span(members),
                None => is_cut_off && begins_export(line),
            });
        }
        if fit > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn raw_is_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(OtlpDecoder::default())
    }
}

/// Returns whether an object has the key of an export.
fn is_export(members: &Members<'_>) -> bool {
    members.iter().any(|(key, value)| EXPORTS.contains(&key) && value.starts_with('['))
}

/// Like [`is_export`] for an object cut off at the end of the head.
fn begins_export(line: &str) -> bool {
    let mut found = false;
    let _ = Reader::new(line).object(|reader, key| {
        found |= EXPORTS.contains(&&*key) && matches!(reader.peek(), Some(b'['));
        reader.skip()
    });
    found
}

/// Returns whether an object is a span without an enclosing export.
fn is_span(members: &Members<'_>) -> bool {
    let has_attributes = members.json("attributes").is_some_and(|value| value.starts_with(['{', '[']));
    has_attributes
        && is_bare_span(&|key| members.contains_key(key), &|| members.object("context").contains_key("trace_id"))
}

/// Like [`is_span`] for an object with attributes: `has` tells whether it has a member, `has_context` whether its
/// context has a trace id.
fn is_bare_span(has: &dyn Fn(&str) -> bool, has_context: &dyn Fn() -> bool) -> bool {
    let of_python = || has("start_time") && has_context();
    let of_protocol = || has("startTimeUnixNano") && has("endTimeUnixNano");
    has("name") && (of_python() || of_protocol())
}

#[derive(Default)]
struct OtlpDecoder {
    /// Spans whose parent or children may follow.
    held: Vec<Span>,
    parents: ParentsOfAttempts,
    lines: JsonLines,
}

impl Decoder for OtlpDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        each_value(block, sink, Parsing::Eager, |sink, json, at| {
            let mut reader = LineReader { decoder: self, sink, at, count: 0 };
            reader.export(json);
            reader.count > 0
        });
        self.emit_if_many(sink);
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.emit_held(sink);
        self.lines.decode(sink);
    }
}

impl OtlpDecoder {
    /// Keeps a span until its parent and its children are known.
    fn hold(&mut self, span: Span) {
        self.held.push(span);
    }

    /// Emits the attempts of log records, and those among the held spans if there are many.
    fn emit_if_many(&mut self, sink: &mut Sink<'_>) {
        if self.held.len() >= MAX_HELD {
            self.emit_held(sink);
        }
        self.lines.decode(sink);
    }

    /// Emits the attempts among the held spans.
    fn emit_held(&mut self, sink: &mut Sink<'_>) {
        let (drafts, others) = select_attempts(std::mem::take(&mut self.held), &mut self.parents);
        (0..others).for_each(|_| sink.noise());
        decode_all(drafts, &mut self.lines, sink);
    }
}

/// Reads the spans and log records of one line.
struct LineReader<'d, 's, 'c, 'g> {
    decoder: &'d mut OtlpDecoder,
    sink: &'s mut Sink<'c>,
    at: Position<'g>,
    /// Number of spans and log records read so far.
    count: u32,
}

impl LineReader<'_, '_, '_, '_> {
    fn export(&mut self, json: &Json<'_>) {
        for resource in list(json, &["resourceSpans", "resource_spans"]) {
            self.each_scope(
                resource,
                &["scopeSpans", "scope_spans", "instrumentationLibrarySpans"],
                &["spans"],
                LineReader::span,
            );
        }
        for resource in list(json, &["resourceLogs", "resource_logs"]) {
            let records = ["logRecords", "log_records"];
            self.each_scope(resource, &["scopeLogs", "scope_logs"], &records, LineReader::log);
        }
        let has_attributes = matches!(json.get("attributes"), Some(Json::Object(_) | Json::List(_)));
        let has_context = || json.at(&["context", "trace_id"]).is_some();
        if has_attributes && is_bare_span(&|key| json.get(key).is_some(), &has_context) {
            let resource = Attributes::of(json.at(&["resource", "attributes"]));
            self.span(json, &ScopeContext { resource, ..ScopeContext::default() });
        }
    }

    fn each_scope(
        &mut self,
        resource: &Json<'_>,
        scopes: &[&str],
        units: &[&str],
        take: fn(&mut Self, &Json<'_>, &ScopeContext<'_>),
    ) {
        for scope in list(resource, scopes) {
            let of_scope = |key: &str| {
                scope
                    .get("scope")
                    .or(scope.get("instrumentationLibrary"))
                    .and_then(|s| s.text_of(key))
                    .unwrap_or_default()
            };
            let context = ScopeContext {
                resource: Attributes::of(resource.at(&["resource", "attributes"])),
                scope: of_scope("name"),
                scope_version: of_scope("version"),
                kinds_from_zero: false,
            };
            list(scope, units).iter().for_each(|unit| take(self, unit, &context));
        }
    }

    fn span(&mut self, json: &Json<'_>, context: &ScopeContext<'_>) {
        match span::read(json, context, self.position()) {
            Some(span) => self.decoder.hold(span),
            None => self.sink.noise(),
        }
        self.count += 1;
    }

    fn log(&mut self, json: &Json<'_>, context: &ScopeContext<'_>) {
        match log::read(json, context, self.position()) {
            Some(draft) => Draft::write(&draft, &mut self.decoder.lines),
            None => self.sink.noise(),
        }
        self.count += 1;
    }

    fn position(&self) -> Position<'static> {
        Position { record: self.at.record.saturating_add(self.count), ..Position::line(self.at.line) }
    }
}

fn list<'j, 't>(json: &'j Json<'t>, keys: &[&str]) -> &'j [Json<'t>] {
    keys.iter().find_map(|key| json.get(key)).map_or(&[], Json::items)
}
