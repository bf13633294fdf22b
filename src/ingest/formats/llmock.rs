//! LLMock: the requests received by the mock server, as listed by `GET /_llmock/requests`.

use super::json_objects::{Members, ObjectDecoder, match_members};
use super::model_api;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record, TimePrecision};
use crate::ingest::sink::Sink;
use crate::model::UNDATED_START;

/// Format of the listed requests, one per line.
pub(in crate::ingest) struct LlMock;

impl Format for LlMock {
    fn name(&self) -> &'static str {
        "llmock"
    }

    fn description(&self) -> &'static str {
        "Requests to the mock server LLMock; its clock has no date, order and spacing hold."
    }

    fn detected_by(&self) -> &'static str {
        "`requests[]` with `seq`, `fingerprint`, `sdk_retry_count` and `started_at`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"fingerprint\"", is_request)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

fn is_request(members: &Members<'_>) -> bool {
    // The counter is null for clients that send none.
    let counts = || members.iter().any(|(key, _)| key == "sdk_retry_count");
    members.has_all(&["seq", "fingerprint", "started_at", "path"]) && counts()
}

/// Converts seconds since an unknown time to µs since the date that stands for an unknown one.
fn undated_us(seconds: f64) -> i64 {
    UNDATED_START.plus_us((seconds * 1e6) as i64).0
}

const FIELDS: &[(&str, Field)] = &[
    ("provider", Field::Provider),
    ("model", Field::Model),
    ("stream", Field::Stream),
    ("status", Field::Status),
    ("fingerprint", Field::RequestHash),
    ("sdk_retry_count", Field::SdkRetryCount),
    ("retry_after", Field::RetryAfter),
    ("completed", Field::Complete),
    ("chunks_sent", Field::Delivered),
];

fn read_object(request: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let path = request.scalar_text("path");
    if !is_request(request) || !path.as_deref().is_some_and(model_api::is_request) {
        return sink.noise();
    }
    let mut record = Record { time_precision: TimePrecision::Undated, ..Record::default() };
    request.put(&mut record, FIELDS);
    record.put(Field::StartedAt, request.number("started_at").map(undated_us));
    record.put(Field::EndedAt, request.number("ended_at").map(undated_us));
    record.put(Field::MaxTokens, request.object("body").first(&["max_tokens", "max_completion_tokens"]));
    if let Some(path) = path {
        model_api::put_url(&mut record, path);
    }
    if !record.stream {
        // A response that is not streamed has one chunk and is never delivered in part.
        record.delivered = None;
    }
    sink.record(&record, raw, at);
}
