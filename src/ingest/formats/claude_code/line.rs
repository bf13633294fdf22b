//! Reads one line of a transcript.

use super::calls::{Agent, Entry, EntryKind};
use super::error;
use crate::ingest::formats::draft::Draft;
use crate::ingest::formats::tree::Json;
use crate::ingest::position::Position;
use crate::ingest::timestamp;
use crate::model::Zone;

/// Model name of messages that no model produced.
pub(in crate::ingest::formats) const SYNTHETIC: &str = "<synthetic>";

/// Reads a transcript line; `None` if it does not concern attempts.
pub(super) fn read(json: &Json<'_>, at: Position<'_>) -> Option<Entry> {
    let kind = kind(json)?;
    let mut draft = Draft::at(at);
    draft.set("ended_at", json.scalar_text_of("timestamp"));
    draft.set("run_id", json.text_of("sessionId"));
    // Records with equal content are distinct unless they share an id.
    draft.set("uuid", json.text_of("uuid"));
    draft.set("client", json.text_of("version").map(client));
    match kind {
        EntryKind::Prompt => {}
        EntryKind::Request => set_request(json, &mut draft),
        EntryKind::Retry(number) => set_retry(json, number, &mut draft),
        EntryKind::Final => set_last_failure(json, &mut draft),
        EntryKind::Response => set_response(json, &mut draft),
    }
    let time = json.text_of("timestamp").and_then(|text| timestamp::from_text(text, Zone::UTC));
    Some(Entry { agent: agent(json), time, kind, draft })
}

/// Returns a text that identifies a record, by which repeated records are recognized: the ids of a response, else the
/// id of the line, else the fields that distinguish it.
pub(super) fn identity(json: &Json<'_>, entry: &Entry) -> String {
    let value = |key: &str| json.scalar_text_of(key).unwrap_or_default();
    match (entry.kind, json.at(&["message", "id"]).and_then(Json::text)) {
        (EntryKind::Response, Some(id)) => format!("{id} {} {}", value("requestId"), entry.agent.session),
        _ if json.text_of("uuid").is_some() => value("uuid"),
        (EntryKind::Request, _) => value("id"),
        _ if entry.time.is_some() => {
            [value("timestamp"), value("retryAttempt"), value("sessionId"), value("type")].join(" ")
        }
        // A record with neither id nor time is never considered a repetition.
        _ => format!("{:?}", entry.draft.position()),
    }
}

/// Merges a further line of the same response into `first`: the later line has the complete token counts.
pub(super) fn merge_response(first: &mut Entry, further: &Entry) {
    if first.kind != EntryKind::Response || further.kind != EntryKind::Response {
        return;
    }
    let is_later = further.draft.get("ended_at") > first.draft.get("ended_at");
    for key in ["ended_at", "usage", "stop_reason"] {
        if is_later || !first.draft.has(key) {
            first.draft.set(key, further.draft.get(key).map(str::to_owned));
        }
    }
}

/// Returns what a line reports; `None` if it does not concern attempts.
fn kind(json: &Json<'_>) -> Option<EntryKind> {
    let is_failure = json.get("isApiErrorMessage").and_then(Json::truth) == Some(true);
    match json.text_of("type") {
        Some("assistant") if is_failure => {
            // The response arrived, but exceeded the client's limit on its length.
            (json.text_of("error") != Some("max_output_tokens")).then_some(EntryKind::Final)
        }
        Some("assistant") => {
            let message = json.get("message")?;
            let is_of_model = message.text_of("model").is_some_and(|model| model != SYNTHETIC);
            (is_of_model && message.text_of("id").is_some()).then_some(EntryKind::Response)
        }
        Some("user") => {
            let is_meta = json.get("isMeta").and_then(Json::truth) == Some(true);
            (!is_meta && json.get("timestamp").is_some()).then_some(EntryKind::Prompt)
        }
        Some("api-request") => json.get("timestamp").map(|_| EntryKind::Request),
        None | Some("system") if json.text_of("subtype") == Some("api_error") => {
            Some(EntryKind::Retry(json.get("retryAttempt").and_then(Json::integer)))
        }
        _ => None,
    }
}

/// Returns the agent that wrote a line.
fn agent(json: &Json<'_>) -> Agent {
    let is_sidechain = json.get("isSidechain").and_then(Json::truth) == Some(true);
    let sub_agent = json.text_of("agentId").unwrap_or(if is_sidechain { "sidechain" } else { "" });
    Agent { session: json.text_of("sessionId").unwrap_or_default().to_owned(), sub_agent: sub_agent.to_owned() }
}

/// Sets the start and the kind of a request, which consists of its source, its model and `shapeHash`, which differs
/// between conversations.
fn set_request(json: &Json<'_>, draft: &mut Draft) {
    let value = |key: &str| json.scalar_text_of(key).unwrap_or_default();
    let model = json.at(&["params", "model"]).and_then(Json::text).unwrap_or_default();
    draft.set("started_at", json.scalar_text_of("timestamp"));
    draft.set("request_kind", format!("{} {} {model}", value("querySource"), value("shapeHash")));
}

/// Returns the client as JSON; characters that do not occur in versions are dropped.
fn client(version: &str) -> String {
    let version: String =
        version.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')).collect();
    format!(r#"{{"name":"claude-code","version":"{version}"}}"#)
}

fn set_retry(json: &Json<'_>, number: Option<i64>, draft: &mut Draft) {
    draft.set("outcome", "error");
    draft.set("decision", "retry");
    draft.set("attempt", number);
    draft.set("max_retries", json.scalar_text_of("maxRetries"));
    draft.set("planned_wait_ms", json.scalar_text_of("retryInMs"));
    error::of_retry(json, draft);
}

fn set_last_failure(json: &Json<'_>, draft: &mut Draft) {
    draft.set("outcome", "error");
    draft.set("decision", "fail");
    draft.set("status", json.scalar_text_of("apiErrorStatus"));
    draft.set("request_id", json.text_of("requestId"));
    let text = json.at(&["message", "content"]).and_then(message_text).or_else(|| json.scalar_text_of("errorDetails"));
    if let Some(text) = text {
        error::of_text(&text, draft);
    }
    let word = json.text_of("error").filter(|word| *word != "unknown");
    if !draft.has("error") {
        draft.set("error_type", word);
    }
}

/// Returns the text of a message, whose content is a string or a list of blocks.
pub(in crate::ingest::formats) fn message_text(content: &Json<'_>) -> Option<String> {
    let block = || content.items().iter().find_map(|block| block.text_of("text"));
    content.text().or_else(block).map(str::to_owned)
}

fn set_response(json: &Json<'_>, draft: &mut Draft) {
    let Some(message) = json.get("message") else { return };
    draft.set("outcome", "ok");
    draft.set("request_id", json.text_of("requestId"));
    draft.set("message_id", message.text_of("id"));
    draft.set("model", message.text_of("model"));
    draft.set("usage", message.get("usage").and_then(Json::raw));
    // The first blocks of a response are written before its stop reason is known, so a missing one means nothing.
    draft.set("stop_reason", message.text_of("stop_reason"));
}
