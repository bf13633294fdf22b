//! Telemetry of Qwen Code, one event per line: answers, failures, and the waits between them.

use super::draft::{Draft, read_all};
use super::events::{self, Event};
use super::json_lines::JsonLines;
use super::tree::{Inside, Json, each_value};
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
const LINES_LOOKED_AT: usize = 50;

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
        for (_, members) in head.parsed().take(LINES_LOOKED_AT) {
            all += 1;
            fit += usize::from(members.is_some_and(|members| KEYS.iter().all(|key| members.text(key).is_some())));
        }
        if fit > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn gives_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(EventDecoder::default())
    }
}

/// Keys of every event about a request.
const KEYS: [&str; 3] = ["event.name", "event.timestamp", "prompt_id"];

#[derive(Default)]
struct EventDecoder {
    drafts: Vec<Draft>,
    /// For each prompt, the index of the latest failure, whose wait may follow.
    failed: HashMap<String, usize, RandomState>,
    /// For each prompt, the call being retried.
    open: HashMap<String, String, RandomState>,
    lines: JsonLines,
}

impl Decoder for EventDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        each_value(block, sink, Inside::WhenAsked, |_, json, at| self.take(json, at));
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        read_all(self.drafts.drain(..), &mut self.lines, sink);
    }
}

impl EventDecoder {
    fn take(&mut self, json: &Json<'_>, at: Position<'_>) -> bool {
        let mut draft = Draft::at(at);
        let get = |key: &str| json.words_of(key);
        let event = json.text_of("event.name").and_then(|name| events::read(name, &get, &mut draft));
        let prompt = json.text_of("prompt_id").unwrap_or_default().to_owned();
        match event {
            None => false,
            Some(Event::Wait) => {
                self.waited(&prompt, &draft);
                false
            }
            Some(Event::Attempt) => {
                draft.set("ended_at", json.words_of("event.timestamp"));
                // A prompt involves many calls; each is named after its first event.
                let place = draft.place();
                let call = self.open.remove(&prompt).unwrap_or_else(|| format!("{prompt} {}.{}", place.0, place.1));
                draft.set("call_id", call);
                draft.fill("run_id", Some(prompt.clone()).filter(|prompt| !prompt.is_empty()));
                if draft.get("outcome") == Some("error") {
                    self.failed.insert(prompt, self.drafts.len());
                }
                self.drafts.push(draft);
                true
            }
        }
    }

    /// Marks the previous failure as retried.
    fn waited(&mut self, prompt: &str, wait: &Draft) {
        let Some(failed) = self.failed.remove(prompt).and_then(|place| self.drafts.get_mut(place)) else { return };
        failed.set("decision", "retry");
        for key in ["attempt", "planned_wait_ms"] {
            failed.fill(key, wait.get(key).map(str::to_owned));
        }
        if let Some(call) = failed.get("call_id") {
            self.open.insert(prompt.to_owned(), call.to_owned());
        }
    }
}
