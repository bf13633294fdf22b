//! Output of `claude -p --output-format stream-json`, also passed on by the Agent SDK: retries, messages, the result.

use super::claude_code::calls::{self, Entry, Stream, What};
use super::claude_code::{error, line};
use super::draft::{Draft, read_all};
use super::json_lines::JsonLines;
use super::tree::{Inside, Json, each_value};
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
const LINES_LOOKED_AT: usize = 50;

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
        for members in head.parsed().take(LINES_LOOKED_AT).filter_map(|(_, members)| members) {
            let is_certain = is_certain(members);
            certain += usize::from(is_certain);
            fit += usize::from(is_certain || members.names("session_id"));
            all += 1;
        }
        if certain > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
    }

    fn notes(&self, head: &Head<'_>) -> Vec<String> {
        let is_retry = |members: &&Members<'_>| members.text("subtype").as_deref() == Some("api_retry");
        let mut retries = head.objects().filter(is_retry);
        let note = "claude-stream-json has no times: attempts stand in their order, apart by the waits the client \
                    announced, in a time that is made up (from 1970 on)";
        if retries.any(|members| !members.names("timestamp")) { vec![note.to_owned()] } else { Vec::new() }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn gives_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(StreamDecoder::default())
    }
}

fn is_certain(members: &Members<'_>) -> bool {
    let has = |key: &str| members.names(key);
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
        each_value(block, sink, Inside::WhenAsked, |_, json, at| self.take(json, at));
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        let mut clock = Clock::default();
        self.known.clear();
        let stamped = |mut draft: Draft| {
            clock.stamp(&mut draft);
            draft
        };
        let settled = calls::settle(std::mem::take(&mut self.entries));
        read_all(settled.into_iter().map(stamped), &mut self.lines, sink);
    }
}

impl StreamDecoder {
    /// Returns whether the line contains an attempt not read before.
    fn take(&mut self, json: &Json<'_>, at: Position<'_>) -> bool {
        let Some(entry) = read(json, at) else { return false };
        let session = &entry.stream.session;
        let id = match entry.what {
            What::Prompt | What::Request => String::new(),
            What::Answer => json.at(&["message", "id"]).and_then(Json::text).unwrap_or_default().to_owned(),
            // A failure message and the result report the same failure.
            What::Final if !session.is_empty() => format!("final {session}"),
            _ => json.words_of("uuid").unwrap_or_default(),
        };
        let known = self.known.get(&id).copied().filter(|_| !id.is_empty());
        if let Some(first) = known.and_then(|known| self.entries.get_mut(known)) {
            let replaced: &[&str] = if first.what == What::Answer { &["usage", "stop_reason"] } else { &[] };
            replaced.iter().for_each(|key| first.draft.set(*key, entry.draft.get(key).map(str::to_owned)));
            for key in ["status", "error", "error_message"] {
                first.draft.fill(key, entry.draft.get(key).map(str::to_owned));
            }
            return false;
        }
        // A session that continues may end again.
        if entry.what != What::Final {
            self.known.remove(&format!("final {session}"));
        }
        let is_attempt = entry.what.is_attempt();
        self.known.insert(id, self.entries.len());
        self.entries.push(entry);
        is_attempt
    }
}

fn read(json: &Json<'_>, at: Position<'_>) -> Option<Entry> {
    let message = json.get("message");
    let mut draft = Draft::at(at);
    let what = match (json.text_of("type"), json.text_of("subtype")) {
        (Some("system"), Some("api_retry")) => retry(json, &mut draft),
        (Some("assistant"), _) if json.text_of("error").is_some() => failure(message?.get("content"), json, &mut draft),
        (Some("assistant"), _) => answer(message?, &mut draft)?,
        (Some("user"), _) => What::Prompt,
        (Some("result"), _) if is_failure(json) => failure(json.get("result"), json, &mut draft),
        _ => return None,
    };
    draft.set("ended_at", json.words_of("timestamp"));
    draft.set("run_id", json.text_of("session_id"));
    draft.set("uuid", json.text_of("uuid"));
    draft.set("client", r#"{"name":"claude-code"}"#);
    let time = json.text_of("timestamp").and_then(|text| timestamp::from_text(text, Zone::UTC));
    // Messages of a sub-agent name the tool call they belong to, but retries do not, so a session is one stream.
    let stream = Stream { session: json.text_of("session_id").unwrap_or_default().to_owned(), agent: String::new() };
    Some(Entry { stream, time, what, draft })
}

fn retry(json: &Json<'_>, draft: &mut Draft) -> What {
    let number = json.get("attempt").and_then(Json::integer);
    draft.set("outcome", "error");
    draft.set("decision", "retry");
    draft.set("attempt", number);
    draft.set("max_retries", json.words_of("max_retries"));
    draft.set("planned_wait_ms", json.words_of("retry_delay_ms"));
    let status = json.get("error_status").and_then(Json::integer);
    draft.set("status", status);
    let word = json.text_of("error").filter(|word| *word != "unknown");
    draft.set("error_type", word);
    // A null status means that no response was received.
    draft.set("kind", (status.is_none() && word.is_none()).then_some("connection_error"));
    What::Retry(number)
}

fn answer(message: &Json<'_>, draft: &mut Draft) -> Option<What> {
    let model = message.text_of("model").filter(|model| *model != line::SYNTHETIC)?;
    draft.set("outcome", "ok");
    draft.set("model", model);
    draft.set("message_id", message.text_of("id"));
    draft.set("usage", message.get("usage").and_then(Json::raw));
    draft.set("stop_reason", message.text_of("stop_reason"));
    Some(What::Answer)
}

fn is_failure(json: &Json<'_>) -> bool {
    let is_error = json.get("is_error").and_then(Json::truth) == Some(true);
    let of_api = json.text_of("terminal_reason") == Some("api_error") || json.get("api_error_status").is_some();
    is_error && of_api
}

fn failure(said: Option<&Json<'_>>, json: &Json<'_>, draft: &mut Draft) -> What {
    draft.set("outcome", "error");
    draft.set("status", json.get("api_error_status").and_then(Json::integer));
    if json.get("session_id").is_some() {
        draft.set("decision", "fail");
    }
    if let Some(text) = said.and_then(line::said) {
        error::of_text(&text, draft);
    }
    draft.set("error_type", json.text_of("error").filter(|word| *word != "unknown"));
    What::Final
}

/// Assigns made-up times to attempts that have none, in their order.
#[derive(Default)]
struct Clock {
    run: String,
    call: String,
    now: Option<Time>,
}

/// Distance between two calls in µs, long enough for no rule to see them as one burst.
const BETWEEN_CALLS_US: i64 = 60_000_000;
/// Range of the start times of runs, in µs. Each run's start is derived from its name, so that two runs do not seem
/// to have run concurrently.
const SPREAD_US: u64 = 3_650 * 86_400_000_000;

impl Clock {
    fn stamp(&mut self, draft: &mut Draft) {
        if draft.has("ended_at") || draft.defaults().is_some_and(|defaults| defaults.time.is_some()) {
            return;
        }
        let of = |key: &str| draft.get(key).unwrap_or_default().to_owned();
        let (run, call) = (of("run_id"), of("call_id"));
        let now = match self.now {
            Some(now) if run == self.run && call == self.call && !call.is_empty() => now,
            Some(now) if run == self.run => now.plus_us(BETWEEN_CALLS_US),
            _ => Time((FINGERPRINT.hash_one(&run) % SPREAD_US) as i64),
        };
        draft.set("ended_at", now.utc().to_rfc3339());
        let wait_ms = draft.get("planned_wait_ms").and_then(|ms| ms.parse::<f64>().ok()).unwrap_or(0.0);
        self.now = Some(now.plus_us((wait_ms * 1e3) as i64));
        (self.run, self.call) = (run, call);
    }
}
