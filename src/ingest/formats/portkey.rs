//! Portkey's log exports: one row per request, with the final response the gateway received.
//!
//! Source: the Portkey documentation of its logs export (fields that can be asked for) and of its response headers.

use super::json_objects::{Members, ObjectDecoder, match_members};
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Format of the rows of an export.
pub(in crate::ingest) struct Portkey;

impl Format for Portkey {
    fn name(&self) -> &'static str {
        "portkey"
    }

    fn description(&self) -> &'static str {
        "Rows of Portkey's logs export."
    }

    fn detected_by(&self) -> &'static str {
        "`ai_org`, `ai_model` and `response_status_code`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"ai_org\"", is_row)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

fn is_row(members: &Members<'_>) -> bool {
    members.has_all(&["ai_org", "response_status_code"]) && (members.has("ai_model") || members.has("request_url"))
}

const FIELDS: &[(&str, Field)] = &[
    ("created_at", Field::EndedAt),
    ("response_time", Field::DurationMs),
    ("response_status_code", Field::Status),
    ("ai_org", Field::Provider),
    ("ai_model", Field::Model),
    ("req_units", Field::InputTokens),
    ("res_units", Field::OutputTokens),
    ("id", Field::RequestId),
    ("trace_id", Field::RunId),
    ("request_url", Field::Endpoint),
];

fn read_object(row: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    if !is_row(row) {
        return sink.noise();
    }
    let mut record = Record { layer: Some(Cow::Borrowed("gateway")), ..Record::default() };
    row.put(&mut record, FIELDS);
    if row.scalar_text("cost_currency").is_some_and(|currency| currency.eq_ignore_ascii_case("usd")) {
        // Portkey reports costs in cents.
        record.put(Field::CostUsd, row.number("cost").map(|cents| cents / 100.0));
    }
    let response = row.object("response");
    let headers = response.object_text("headers");
    if headers.starts_with('{') {
        record.put_headers(&headers);
    }
    // The body is either `response` itself or a member of it.
    let body = if response.has("body") { response.object_text("body") } else { row.object_text("response") };
    if body.contains("\"error\"") && body.starts_with('{') {
        record.put_error(&body);
    }
    sink.record(&record, raw, at);
}
