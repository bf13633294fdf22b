//! Output of `claude -p --output-format stream-json`, also passed on by the Agent SDK: retries, messages, the result.

use super::claude_code::calls::{self, Agent, Entry, EntryKind};
use super::claude_code::{error, line};
use super::draft::{Draft, decode_all};
use super::json_lines::JsonLines;
use super::tree::{Json, Parsing, each_value};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{FINGERPRINT, Members};
use crate::ingest::sink::Sink;
use crate::ingest::timestamp;
use crate::model::{Time, Zone};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Format of one JSON object per message, usually without times.
pub(in crate::ingest) struct ClaudeStreamJson;

/// Number of lines examined by `detect`.
const EXAMINED_LINES: usize = 50;

impl Format for ClaudeStreamJson {
    fn name(&self) -> &'static str {
        "claude-stream-json"
    }

    fn description(&self) -> &'static str {
        "Output of `claude -p --output-format stream-json` and messages of the Agent SDK: retries, answers, results."
    }

    fn detected_by(&self) -> &'static str {
        "`system` messages with `session_id` and subtype `init` or `api_retry`, or `result` messages with `is_error`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut all, mut certain, mut fit) = (0, 0, 0);
        for members in head.parsed().take(EXAMINED_LINES).filter_map(|(_, members)| members) {
            let is_certain = is_certain(members);
            certain += usize::from(is_certain);
            fit += usize::from(is_certain || members.contains_key("session_id"));
            all += 1;
        }
        if certain > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
    }

    fn notes(&self, head: &Head<'_>) -> Vec<String> {
        let is_retry = |members: &&Members<'_>| members.text("subtype").as_deref() == Some("api_retry");
        let mut retries = head.objects().filter(is_retry);
        let note = "claude-stream-json has no times: attempts stand in their order, apart by the waits the client \
                    announced, in a time that is made up (from 1970 on)";
        if retries.any(|members| !members.contains_key("timestamp")) { vec![note.to_owned()] } else { Vec::new() }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn raw_is_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(StreamDecoder::default())
    }
}

fn is_certain(members: &Members<'_>) -> bool {
    let has = |key: &str| members.contains_key(key);
    match (members.text("type").as_deref(), members.text("subtype").as_deref()) {
        (Some("system"), Some("init")) => has("session_id") && (has("apiKeySource") || has("permissionMode")),
        (Some("system"), Some("api_retry")) => has("retry_delay_ms") || has("error_status"),
        (Some("result"), Some(_)) => has("is_error") && (has("num_turns") || has("api_error_status")),
        _ => false,
    }
}

#[derive(Default)]
struct StreamDecoder {
    entries: Vec<Entry>,
    /// Identity of each message or result read so far, with the index of its entry.
    known: HashMap<String, usize, RandomState>,
    lines: JsonLines,
}

impl Decoder for StreamDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        each_value(block, sink, Parsing::Lazy, |_, json, at| self.take(json, at));
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        let mut clock = MadeUpClock::default();
        self.known.clear();
        let stamped = |mut draft: Draft| {
            clock.stamp(&mut draft);
            draft
        };
        let drafts = calls::assign_calls(std::mem::take(&mut self.entries));
        decode_all(drafts.into_iter().map(stamped), &mut self.lines, sink);
    }
}

impl StreamDecoder {
    /// Returns whether the line contains an attempt not read before.
    fn take(&mut self, json: &Json<'_>, at: Position<'_>) -> bool {
        let Some(entry) = read(json, at) else { return false };
        let session = &entry.agent.session;
        let id = match entry.kind {
            EntryKind::Prompt | EntryKind::Request => String::new(),
            EntryKind::Response => json.at(&["message", "id"]).and_then(Json::text).unwrap_or_default().to_owned(),
            // An `assistant` message and the `result` report the same failure.
            EntryKind::Final if !session.is_empty() => format!("final {session}"),
            _ => json.scalar_text_of("uuid").unwrap_or_default(),
        };
        let known = self.known.get(&id).copied().filter(|_| !id.is_empty());
        if let Some(first) = known.and_then(|known| self.entries.get_mut(known)) {
            let replaced: &[&str] = if first.kind == EntryKind::Response { &["usage", "stop_reason"] } else { &[] };
            replaced.iter().for_each(|key| first.draft.set(*key, entry.draft.get(key).map(str::to_owned)));
            for key in ["status", "error", "error_message"] {
                first.draft.set_if_missing(key, entry.draft.get(key).map(str::to_owned));
            }
            return false;
        }
        // If the session continues, it may end with another failure.
        if entry.kind != EntryKind::Final {
            self.known.remove(&format!("final {session}"));
        }
        let is_attempt = entry.kind.is_attempt();
        self.known.insert(id, self.entries.len());
        self.entries.push(entry);
        is_attempt
    }
}

fn read(json: &Json<'_>, at: Position<'_>) -> Option<Entry> {
    let message = json.get("message");
    let mut draft = Draft::at(at);
    let kind = match (json.text_of("type"), json.text_of("subtype")) {
        (Some("system"), Some("api_retry")) => retry(json, &mut draft),
        (Some("assistant"), _) if json.text_of("error").is_some() => failure(message?.get("content"), json, &mut draft),
        (Some("assistant"), _) => response(message?, &mut draft)?,
        (Some("user"), _) => EntryKind::Prompt,
        (Some("result"), _) if is_failure(json) => failure(json.get("result"), json, &mut draft),
        _ => return None,
    };
    draft.set("ended_at", json.scalar_text_of("timestamp"));
    draft.set("run_id", json.text_of("session_id"));
    draft.set("uuid", json.text_of("uuid"));
    draft.set("client", r#"{"name":"claude-code"}"#);
    let time = json.text_of("timestamp").and_then(|text| timestamp::from_text(text, Zone::UTC));
    // Messages of a sub-agent name the tool call they belong to, but retries do not, so sub-agents are not told apart.
    let session = json.text_of("session_id").unwrap_or_default().to_owned();
    Some(Entry { agent: Agent { session, sub_agent: String::new() }, time, kind, draft })
}

fn retry(json: &Json<'_>, draft: &mut Draft) -> EntryKind {
    let number = json.get("attempt").and_then(Json::integer);
    draft.set("outcome", "error");
    draft.set("decision", "retry");
    draft.set("attempt", number);
    draft.set("max_retries", json.scalar_text_of("max_retries"));
    draft.set("planned_wait_ms", json.scalar_text_of("retry_delay_ms"));
    let status = json.get("error_status").and_then(Json::integer);
    draft.set("status", status);
    let word = json.text_of("error").filter(|word| *word != "unknown");
    draft.set("error_type", word);
    // A null status means that no response was received.
    draft.set("kind", (status.is_none() && word.is_none()).then_some("connection_error"));
    EntryKind::Retry(number)
}

fn response(message: &Json<'_>, draft: &mut Draft) -> Option<EntryKind> {
    let model = message.text_of("model").filter(|model| *model != line::SYNTHETIC)?;
    draft.set("outcome", "ok");
    draft.set("model", model);
    draft.set("message_id", message.text_of("id"));
    draft.set("usage", message.get("usage").and_then(Json::raw));
    draft.set("stop_reason", message.text_of("stop_reason"));
    Some(EntryKind::Response)
}

fn is_failure(json: &Json<'_>) -> bool {
    let is_error = json.get("is_error").and_then(Json::truth) == Some(true);
    let of_api = json.text_of("terminal_reason") == Some("api_error") || json.get("api_error_status").is_some();
    is_error && of_api
}

/// Reads the failure that ended a call; `content` is the text shown to the user.
fn failure(content: Option<&Json<'_>>, json: &Json<'_>, draft: &mut Draft) -> EntryKind {
    draft.set("outcome", "error");
    draft.set("status", json.get("api_error_status").and_then(Json::integer));
    if json.get("session_id").is_some() {
        draft.set("decision", "fail");
    }
    if let Some(text) = content.and_then(line::message_text) {
        error::of_text(&text, draft);
    }
    draft.set("error_type", json.text_of("error").filter(|word| *word != "unknown"));
    EntryKind::Final
}

/// Assigns made-up times to attempts that have none, in their order.
#[derive(Default)]
struct MadeUpClock {
    run: String,
    call: String,
    /// Time of the next attempt of the same call.
    next: Option<Time>,
}

/// Made-up time between two calls in µs: long enough that no rule takes them for a burst of requests.
const BETWEEN_CALLS_US: i64 = 60_000_000;
/// Range of the made-up start times of runs, in µs: ten years. The start of a run is derived from its name, so that
/// runs do not seem to be concurrent.
const START_RANGE_US: u64 = 3_650 * 86_400_000_000;

impl MadeUpClock {
    /// Sets the time of an attempt that has none.
    fn stamp(&mut self, draft: &mut Draft) {
        if draft.has("ended_at") || draft.defaults().is_some_and(|defaults| defaults.time.is_some()) {
            return;
        }
        let of = |key: &str| draft.get(key).unwrap_or_default().to_owned();
        let (run, call) = (of("run_id"), of("call_id"));
        let time = match self.next {
            Some(next) if run == self.run && call == self.call && !call.is_empty() => next,
            Some(next) if run == self.run => next.plus_us(BETWEEN_CALLS_US),
            _ => Time((FINGERPRINT.hash_one(&run) % START_RANGE_US) as i64),
        };
        draft.set("ended_at", time.utc().to_rfc3339());
        let wait_ms = draft.get("planned_wait_ms").and_then(|ms| ms.parse::<f64>().ok()).unwrap_or(0.0);
        self.next = Some(time.plus_us((wait_ms * 1e3) as i64));
        (self.run, self.call) = (run, call);
    }
}
