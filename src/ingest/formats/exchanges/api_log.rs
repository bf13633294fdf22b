//! Requests and responses as JSON lines: `{"request": {...}, "response": {...}}`, as written by claude-trace and
//! proxies.

use super::{put_request, put_response};
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::formats::json_objects::{Members, ObjectDecoder, match_members};
use crate::ingest::formats::model_api;
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Format of pairs of a request and its response.
pub(in crate::ingest) struct ApiLog;

impl Format for ApiLog {
    fn name(&self) -> &'static str {
        "api-log"
    }

    fn description(&self) -> &'static str {
        "Requests and responses as JSON lines, of which requests to model APIs are attempts."
    }

    fn detected_by(&self) -> &'static str {
        "`request.url` of a model API beside `response.status` or `response.status_code`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"request\"", |members| {
            is_pair(members) && url_of(&members.object("request")).is_some_and(|url| model_api::is_request(&url))
        })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

/// Keys of a status.
const STATUS: [&str; 3] = ["status_code", "statusCode", "status"];
/// Keys of a time.
const TIMES: [&str; 5] = ["timestamp", "ts", "time", "started_at", "start_time"];
const DURATIONS_MS: [&str; 3] = ["duration_ms", "latency_ms", "elapsed_ms"];

fn is_pair(members: &Members<'_>) -> bool {
    let request = members.object("request");
    let response = members.object("response");
    // A request without a response has null as its response.
    let ended = members.has("error") || STATUS.iter().any(|key| response.has(key));
    request.has("method") && url_of(&request).is_some() && (ended || !members.has("response"))
}

fn url_of<'t>(request: &Members<'t>) -> Option<Cow<'t, str>> {
    request.first(&["url", "path"]).into_text()
}

fn read_object(pair: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let (request, response) = (pair.object("request"), pair.object("response"));
    let Some(url) = url_of(&request).filter(|url| model_api::is_request(url) && is_pair(pair)) else {
        return sink.noise();
    };
    let (request_body, response_body) = (body_of(&request), body_of(&response));
    let error = pair.object_text("error");
    if error.is_empty() && response.is_empty() {
        // The request was still pending when the log ended.
        return sink.unended(at);
    }
    let mut record = Record::default();
    put_times(&mut record, pair, &request, &response);
    put_request(&mut record, url, request.json("headers"), Some(&request_body));
    if let Some(headers) = response.json("headers") {
        record.put_headers(headers);
    }
    record.put(Field::Status, response.first(&STATUS));
    if !error.is_empty() {
        record.put_error(&error);
    }
    put_response(&mut record, &response_body);
    sink.record(&record, raw, at);
}

fn put_times<'t>(record: &mut Record<'t>, pair: &Members<'t>, request: &Members<'t>, response: &Members<'t>) {
    record.put(Field::StartedAt, request.first(&TIMES));
    record.put(Field::EndedAt, response.first(&TIMES));
    record.put(Field::Ts, pair.first(&TIMES));
    record.put(Field::DurationMs, pair.first(&DURATIONS_MS));
    for key in ["duration", "latency"] {
        record.put(Field::DurationUnitless, pair.scalar(key));
    }
    record.put(Field::RunId, pair.first(&["session_id", "run_id"]));
    record.put(Field::RequestId, pair.scalar("request_id"));
}

/// Returns a body as JSON, or as text that may contain JSON or an event stream.
fn body_of<'t>(message: &Members<'t>) -> Cow<'t, str> {
    match message.object_text("body") {
        body if body.is_empty() => message.object_text("body_raw"),
        body => body,
    }
}
