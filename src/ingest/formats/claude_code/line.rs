//! Reads one line of a transcript.

use super::calls::{Entry, Stream, What};
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
    let what = kind(json)?;
    let mut draft = Draft::at(at);
    draft.set("ended_at", json.words_of("timestamp"));
    draft.set("run_id", json.text_of("sessionId"));
    // Records with equal content are distinct unless they share an id.
    draft.set("uuid", json.text_of("uuid"));
    draft.set("client", json.text_of("version").map(client));
    match what {
        What::Prompt => {}
        What::Request => request(json, &mut draft),
        What::Retry(number) => retry(json, number, &mut draft),
        What::Final => last_failure(json, &mut draft),
        What::Answer => answer(json, &mut draft),
    }
    let time = json.text_of("timestamp").and_then(|text| timestamp::from_text(text, Zone::UTC));
    Some(Entry { stream: stream(json), time, what, draft })
}

/// Returns the identity of a record, by which repeated records are recognized: the ids of an answer, else the id of
/// the line, else the fields that distinguish it.
pub(super) fn identity(json: &Json<'_>, entry: &Entry) -> String {
    let said = |key: &str| json.words_of(key).unwrap_or_default();
    match (entry.what, json.at(&["message", "id"]).and_then(Json::text)) {
        (What::Answer, Some(id)) => format!("{id} {} {}", said("requestId"), entry.stream.session),
        _ if json.text_of("uuid").is_some() => said("uuid"),
        (What::Request, _) => said("id"),
        _ if entry.time.is_some() => {
            [said("timestamp"), said("retryAttempt"), said("sessionId"), said("type")].join(" ")
        }
        // A record with neither id nor time is never considered a repetition.
        _ => format!("{:?}", entry.draft.place()),
    }
}

/// Merges a further line of the same answer into `first`: the later line has the complete token counts.
pub(super) fn fold(first: &mut Entry, further: &Entry) {
    if first.what != What::Answer || further.what != What::Answer {
        return;
    }
    let is_later = further.draft.get("ended_at") > first.draft.get("ended_at");
    for key in ["ended_at", "usage", "stop_reason"] {
        if is_later || !first.draft.has(key) {
            first.draft.set(key, further.draft.get(key).map(str::to_owned));
        }
    }
}

fn kind(json: &Json<'_>) -> Option<What> {
    let is_failure = json.get("isApiErrorMessage").and_then(Json::truth) == Some(true);
    match json.text_of("type") {
        Some("assistant") if is_failure => {
            // The answer arrived but exceeded the client's output limit.
            (json.text_of("error") != Some("max_output_tokens")).then_some(What::Final)
        }
        Some("assistant") => {
            let message = json.get("message")?;
            let is_answer = message.text_of("model").is_some_and(|model| model != SYNTHETIC);
            (is_answer && message.text_of("id").is_some()).then_some(What::Answer)
        }
        Some("user") => {
            let is_aside = json.get("isMeta").and_then(Json::truth) == Some(true);
            (!is_aside && json.get("timestamp").is_some()).then_some(What::Prompt)
        }
        Some("api-request") => json.get("timestamp").map(|_| What::Request),
        None | Some("system") if json.text_of("subtype") == Some("api_error") => {
            Some(What::Retry(json.get("retryAttempt").and_then(Json::integer)))
        }
        _ => None,
    }
}

/// Returns the stream of a line; a sub-agent is a stream beside its session.
fn stream(json: &Json<'_>) -> Stream {
    let is_sidechain = json.get("isSidechain").and_then(Json::truth) == Some(true);
    let agent = json.text_of("agentId").unwrap_or(if is_sidechain { "sidechain" } else { "" });
    Stream { session: json.text_of("sessionId").unwrap_or_default().to_owned(), agent: agent.to_owned() }
}

/// Sets the start and the kind of a request: `shapeHash` separates the requests of one conversation from others.
fn request(json: &Json<'_>, draft: &mut Draft) {
    let said = |key: &str| json.words_of(key).unwrap_or_default();
    let model = json.at(&["params", "model"]).and_then(Json::text).unwrap_or_default();
    draft.set("started_at", json.words_of("timestamp"));
    draft.set("request_kind", format!("{} {} {model}", said("querySource"), said("shapeHash")));
}

fn client(version: &str) -> String {
    let version: String =
        version.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')).collect();
    format!(r#"{{"name":"claude-code","version":"{version}"}}"#)
}

fn retry(json: &Json<'_>, number: Option<i64>, draft: &mut Draft) {
    draft.set("outcome", "error");
    draft.set("decision", "retry");
    draft.set("attempt", number);
    draft.set("max_retries", json.words_of("maxRetries"));
    draft.set("planned_wait_ms", json.words_of("retryInMs"));
    error::of_retry(json, draft);
}

fn last_failure(json: &Json<'_>, draft: &mut Draft) {
    draft.set("outcome", "error");
    draft.set("decision", "fail");
    draft.set("status", json.words_of("apiErrorStatus"));
    draft.set("request_id", json.text_of("requestId"));
    let text = json.at(&["message", "content"]).and_then(said).or_else(|| json.words_of("errorDetails"));
    if let Some(text) = text {
        error::of_text(&text, draft);
    }
    let word = json.text_of("error").filter(|word| *word != "unknown");
    if !draft.has("error") {
        draft.set("error_type", word);
    }
}

/// Returns the text of a message, whose content is a string or a list of blocks.
pub(in crate::ingest::formats) fn said(content: &Json<'_>) -> Option<String> {
    let block = || content.items().iter().find_map(|block| block.text_of("text"));
    content.text().or_else(block).map(str::to_owned)
}

fn answer(json: &Json<'_>, draft: &mut Draft) {
    let Some(message) = json.get("message") else { return };
    draft.set("outcome", "ok");
    draft.set("request_id", json.text_of("requestId"));
    draft.set("message_id", message.text_of("id"));
    draft.set("model", message.text_of("model"));
    draft.set("usage", message.get("usage").and_then(Json::raw));
    // Early blocks are written before the stop reason is known, so a missing reason says nothing about the outcome.
    draft.set("stop_reason", message.text_of("stop_reason"));
}
