//! Telemetry of Qwen Code, one event per line: answers, failures, and the waits between them.

use super::draft::{Draft, decode_all};
use super::events::{self, Event};
use super::json_lines::JsonLines;
use super::tree::{Json, Parsing, each_value};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Format of events as JSON objects.
pub(in crate::ingest) struct QwenCode;

/// Number of lines examined by `detect`.
const EXAMINED_LINES: usize = 50;

impl Format for QwenCode {
    fn name(&self) -> &'static str {
        "qwen-code"
    }

    fn description(&self) -> &'static str {
        "Telemetry of Qwen Code: an event for each answer, each failure and each wait before a retry."
    }

    fn detected_by(&self) -> &'static str {
        "objects with `event.name`, `event.timestamp` and `prompt_id`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut all, mut fit) = (0, 0);
        for (_, members) in head.parsed().take(EXAMINED_LINES) {
            all += 1;
            fit +=
                usize::from(members.is_some_and(|members| REQUIRED_KEYS.iter().all(|key| members.text(key).is_some())));
        }
        if fit > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn raw_is_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(EventDecoder::default())
    }
}

/// Keys of every event about a request.
const REQUIRED_KEYS: [&str; 3] = ["event.name", "event.timestamp", "prompt_id"];

#[derive(Default)]
struct EventDecoder {
    drafts: Vec<Draft>,
    /// For each prompt, the index of the latest failure, after which a wait may be logged.
    failed: HashMap<String, usize, RandomState>,
    /// For each prompt, the call being retried.
    open: HashMap<String, String, RandomState>,
    lines: JsonLines,
}

impl Decoder for EventDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        each_value(block, sink, Parsing::Lazy, |_, json, at| self.take(json, at));
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        decode_all(self.drafts.drain(..), &mut self.lines, sink);
    }
}

impl EventDecoder {
    /// Returns whether the line is an attempt.
    fn take(&mut self, json: &Json<'_>, at: Position<'_>) -> bool {
        let mut draft = Draft::at(at);
        let get = |key: &str| json.scalar_text_of(key);
        let event = json.text_of("event.name").and_then(|name| events::read(name, &get, &mut draft));
        let prompt = json.text_of("prompt_id").unwrap_or_default().to_owned();
        match event {
            None => false,
            Some(Event::Wait) => {
                self.add_wait(&prompt, &draft);
                false
            }
            Some(Event::Attempt) => {
                draft.set("ended_at", json.scalar_text_of("event.timestamp"));
                // A prompt involves many calls; each is named after its first event.
                let (line, record) = draft.position();
                let call = self.open.remove(&prompt).unwrap_or_else(|| format!("{prompt} {line}.{record}"));
                draft.set("call_id", call);
                draft.set_if_missing("run_id", Some(prompt.clone()).filter(|prompt| !prompt.is_empty()));
                if draft.get("outcome") == Some("error") {
                    self.failed.insert(prompt, self.drafts.len());
                }
                self.drafts.push(draft);
                true
            }
        }
    }

    /// Marks the latest failure of a prompt as retried after this wait.
    fn add_wait(&mut self, prompt: &str, wait: &Draft) {
        let Some(failed) = self.failed.remove(prompt).and_then(|index| self.drafts.get_mut(index)) else { return };
        failed.set("decision", "retry");
        for key in ["attempt", "planned_wait_ms"] {
            failed.set_if_missing(key, wait.get(key).map(str::to_owned));
        }
        if let Some(call) = failed.get("call_id") {
            self.open.insert(prompt.to_owned(), call.to_owned());
        }
    }
}
