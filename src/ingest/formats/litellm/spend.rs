//! Rows of the spend log: one per request to the proxy, however many attempts it took.

use crate::ingest::formats::json_objects::Members;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

const FIELDS: &[(&str, Field)] = &[
    ("startTime", Field::StartedAt),
    ("endTime", Field::EndedAt),
    ("request_id", Field::RequestId),
    ("model", Field::Model),
    ("custom_llm_provider", Field::Provider),
    ("api_base", Field::Endpoint),
    ("api_key", Field::ApiKey),
    ("session_id", Field::RunId),
    ("prompt_tokens", Field::InputTokens),
    ("completion_tokens", Field::OutputTokens),
    ("spend", Field::CostUsd),
];

pub(super) fn read_object(row: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    if row.scalar("cache_hit").truth() == Some(true) {
        // A response from the cache: no request was sent to the provider.
        return sink.noise();
    }
    let metadata = row.object_text("metadata");
    let metadata = Members::of(&metadata).unwrap_or_default();
    let error = metadata.object("error_information");
    let message = error.scalar_text("error_message");
    let status = row.scalar_text("status").or_else(|| metadata.scalar_text("status"));
    let failed = status.as_deref() == Some("failure") || !error.is_empty() && error.has("error_class");
    let mut record = Record {
        client: Some(Cow::Borrowed("litellm")),
        layer: Some(Cow::Borrowed("gateway")),
        success: Some(!failed),
        ..Record::default()
    };
    if failed {
        super::error::put_error(&mut record, &error, message.as_deref());
    }
    row.put(&mut record, FIELDS);
    record.put(Field::Org, row.scalar("team_id"));
    // The proxy counts its retries, which have no rows of their own.
    record.headers.gateway_retries = metadata.integer("attempted_retries");
    sink.record(&record, raw, at);
}
