//! HAR 1.2, as recorded by browsers, mitmproxy, Proxyman and others.

use super::{put_request, put_response};
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::formats::json_objects::{Members, ObjectDecoder, match_members};
use crate::ingest::formats::model_api;
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record, is_cut_off};
use crate::ingest::sink::Sink;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

/// Format of the entries of a HAR document, one per line.
pub(in crate::ingest) struct Har;

impl Format for Har {
    fn name(&self) -> &'static str {
        "har"
    }

    fn description(&self) -> &'static str {
        "HTTP Archive 1.2, of which requests to model APIs are attempts."
    }

    fn detected_by(&self) -> &'static str {
        "`log.entries[]` with `startedDateTime`, `request.url` and `response`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"startedDateTime\"", is_entry)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

fn is_entry(members: &Members<'_>) -> bool {
    members.has_all(&["startedDateTime", "request", "response"]) && members.object("request").has("url")
}

fn read_object(entry: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let (request, response) = (entry.object("request"), entry.object("response"));
    let Some(url) = request.scalar_text("url").filter(|url| model_api::is_request(url)) else { return sink.noise() };
    if request.scalar_text("method").is_some_and(|method| method.eq_ignore_ascii_case("OPTIONS")) {
        // A CORS preflight request of a browser.
        return sink.noise();
    }
    let request_body = request.object("postData").scalar_text("text");
    let content = response.object("content");
    let response_body = text_of(&content);
    let failure = response.scalar_text("_error").filter(|words| !words.trim().is_empty());
    let comment = failure.clone().or_else(|| entry.scalar_text("comment")).unwrap_or_default();
    let mut record = Record::default();
    record.put(Field::StartedAt, entry.scalar("startedDateTime"));
    record.duration_ms = entry.number("time").filter(|ms| *ms >= 0.0);
    put_request(&mut record, url, request.json("headers"), request_body.as_deref());
    match response.integer("status").filter(|status| *status > 0) {
        Some(status) => {
            record.put(Field::Status, status);
            if let Some(headers) = response.json("headers") {
                record.put_headers(headers);
            }
            put_response(&mut record, &response_body);
            if status < 400 && (failure.is_some() || is_truncated(&response_body, &content)) {
                // The response headers arrived, but not the complete body.
                record.complete = Some(false);
                record.put(Field::Transport, failure);
            }
        }
        None => put_failure(&mut record, &comment),
    }
    sink.record(&record, raw, at);
}

/// Sets the failure of a request without a response, classified by the recorder's comment such as
/// `net::ERR_TIMED_OUT`.
fn put_failure<'t>(record: &mut Record<'t>, comment: &'t str) {
    let mentions = |word: &str| comment.to_ascii_lowercase().contains(word);
    let kind = if mentions("timed_out") || mentions("timeout") || mentions("timed out") {
        "timeout"
    } else if mentions("err_aborted") || mentions("cancel") {
        "cancelled"
    } else {
        "connection_error"
    };
    record.put(Field::Kind, kind);
    record.put(Field::ErrorMessage, Some(comment).filter(|comment| !comment.is_empty()));
}

/// Returns whether a stream ends within an event although everything received was recorded.
fn is_truncated(body: &str, content: &Members<'_>) -> bool {
    let is_whole = content.integer("size").is_some_and(|size| size >= 0 && size.unsigned_abs() == body.len() as u64);
    is_whole && is_cut_off(body)
}

/// Returns the body of a response, decoded if it is base64.
fn text_of<'t>(content: &Members<'t>) -> Cow<'t, str> {
    let text = content.scalar_text("text").unwrap_or_default();
    if content.scalar_text("encoding").as_deref() != Some("base64") {
        return text;
    }
    let bytes = STANDARD.decode(text.trim()).unwrap_or_default();
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}
