//! Reads one log record.

use super::attributes::{Attributes, first_time, value};
use super::span::ScopeContext;
use crate::ingest::formats::draft::Draft;
use crate::ingest::formats::events::{self, Event};
use crate::ingest::formats::tree::{Json, Parsing};
use crate::ingest::position::Position;
use crate::ingest::record::{Field, field_of};

/// Prefix of Claude Code's event names, and the name of its logger.
const CLAUDE_CODE: &str = "claude_code.";
const CLAUDE_CODE_EVENTS: &str = "com.anthropic.claude_code.events";

/// Returns the attempt a log record describes, if any.
pub(super) fn read(json: &Json<'_>, context: &ScopeContext<'_>, at: Position<'_>) -> Option<Draft> {
    let attributes = Attributes::of(json.get("attributes"));
    let body = json.get("body");
    let body_text = body.and_then(value).unwrap_or_default();
    let time = first_time(json, &["timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano"]);
    let mut draft = Draft::at(at);
    let name = attributes.get("event.name").or(json.text_of("eventName")).unwrap_or(&body_text);
    let is_claude =
        context.scope == CLAUDE_CODE_EVENTS || name.starts_with(CLAUDE_CODE) || body_text.starts_with(CLAUDE_CODE);
    let get = |key: &str| attributes.get(key).map(str::to_owned);
    match events::read(name, &get, &mut draft) {
        Some(Event::Attempt) => {
            draft.set("ended_at", get("event.timestamp").or(time));
            if is_claude {
                set_claude_code_fields(&attributes, &mut draft);
            }
            Some(draft)
        }
        Some(Event::Wait) => None,
        None if is_claude => None,
        None => from_native_fields(json, &attributes, &body_text, time, draft),
    }
}

/// Sets the fields of a Claude Code event; one event covers all attempts of a call.
fn set_claude_code_fields(attributes: &Attributes, draft: &mut Draft) {
    let sequence = || Some(format!("{} {}", attributes.get("session.id")?, attributes.get("event.sequence")?));
    let id = attributes.first(&["client_request_id", "request_id"]).map(str::to_owned);
    draft.set("call_id", id.or_else(sequence));
    let resends = attributes.integer(&["attempt", "total_attempts"]).map(|attempts| attempts.saturating_sub(1));
    draft.set("http.request.resend_count", resends.filter(|resends| *resends > 0));
    draft.set("client", r#"{"name":"claude-code"}"#);
    if draft.get("outcome") == Some("error") {
        draft.set("decision", "fail");
    }
}

/// Reads a record of any program whose attributes or body contain an attempt in native fields.
fn from_native_fields(
    json: &Json<'_>,
    attributes: &Attributes,
    body_text: &str,
    time: Option<String>,
    mut draft: Draft,
) -> Option<Draft> {
    let body = Json::parse(body_text, Parsing::Lazy).ok().filter(|body| !body.members().is_empty());
    let members = body.iter().flat_map(Json::members);
    let members = members
        .filter_map(|(key, item)| Some((key.to_string(), item.scalar_text().or(item.raw().map(str::to_owned))?)));
    let pairs: Vec<(String, String)> =
        members.chain(attributes.iter().map(|(key, value)| (key.to_owned(), value.to_owned()))).collect();
    let fields: Vec<Field> = pairs.iter().filter_map(|(key, _)| field_of(key)).collect();
    let has = |wanted: &[Field]| fields.iter().any(|field| wanted.contains(field));
    // Programs log errors of all kinds; only those of a model request are attempts.
    if !has(&[Field::Model, Field::Provider, Field::RequestId, Field::CallId, Field::Number, Field::SdkRetryCount]) {
        return None;
    }
    let is_timed = has(&[Field::Ts, Field::StartedAt, Field::EndedAt]);
    pairs.into_iter().for_each(|(key, value)| draft.set(key, value));
    draft.set("ended_at", time.filter(|_| !is_timed));
    draft.set_if_missing("trace_id", json.scalar_text_of("traceId"));
    Some(draft)
}
