//! Cloudflare AI Gateway: rows of its log, as returned by its API.
//!
//! Source: Cloudflare API reference, AI Gateway, List Gateway Logs.

use super::json_objects::{Members, ObjectDecoder, match_members};
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Format of one request per row, as single rows or as a response of the API.
pub(in crate::ingest) struct Cloudflare;

impl Format for Cloudflare {
    fn name(&self) -> &'static str {
        "cloudflare-ai-gateway"
    }

    fn description(&self) -> &'static str {
        "Rows of the log of Cloudflare AI Gateway."
    }

    fn detected_by(&self) -> &'static str {
        "`tokens_in`, `tokens_out`, `cached`, `created_at` and `provider`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"tokens_in\"", |members| is_row(members) || rows_of(members).iter().any(is_row))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

fn is_row(members: &Members<'_>) -> bool {
    let has = |key: &str| members.iter().any(|(name, _)| name == key);
    ["tokens_in", "tokens_out", "cached", "created_at", "provider", "success"].into_iter().all(has)
}

/// Returns the rows of an API response.
fn rows_of<'t>(members: &Members<'t>) -> Vec<Members<'t>> {
    members.objects("result")
}

const FIELDS: &[(&str, Field)] = &[
    ("created_at", Field::Ts),
    ("duration", Field::DurationMs),
    ("id", Field::RequestId),
    ("provider", Field::Provider),
    ("model", Field::Model),
    ("status_code", Field::Status),
    ("success", Field::Success),
    ("tokens_in", Field::InputTokens),
    ("tokens_out", Field::OutputTokens),
    ("cost", Field::CostUsd),
    ("path", Field::Endpoint),
];

fn read_object(members: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let rows = rows_of(members);
    if rows.is_empty() {
        return read_row(members, sink, raw, at);
    }
    for (row, nth) in rows.iter().zip(0..) {
        read_row(row, sink, &format!("{raw} {nth}"), Position { record: nth, ..at });
    }
}

fn read_row(row: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    if !is_row(row) || row.scalar("cached").truth() == Some(true) {
        // A response served from the cache was not requested from the provider.
        return sink.noise();
    }
    let mut record = Record { layer: Some(Cow::Borrowed("gateway")), ..Record::default() };
    row.put(&mut record, FIELDS);
    sink.record(&record, raw, at);
}
