//! Session events of the GitHub Copilot CLI: compactions, each of which is a request to the model.

use super::claude_code::error;
use super::draft::Draft;
use super::json_lines::JsonLines;
use super::tree::{Json, Parsing, each_value};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;

/// Format of a session's `events.jsonl`.
pub(in crate::ingest) struct CopilotEvents;

/// Number of lines examined by `detect`.
const EXAMINED_LINES: usize = 50;
const START: &str = "session.compaction_start";
const COMPLETE: &str = "session.compaction_complete";

impl Format for CopilotEvents {
    fn name(&self) -> &'static str {
        "copilot-events"
    }

    fn description(&self) -> &'static str {
        "Session events of the GitHub Copilot CLI: how compactions of the conversation went."
    }

    fn detected_by(&self) -> &'static str {
        "objects with `id`, `timestamp`, `data` and a `type` such as `session.compaction_complete`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut all, mut fit, mut certain) = (0, 0, 0);
        for members in head.parsed().take(EXAMINED_LINES).filter_map(|(_, members)| members) {
            let is_event = ["id", "timestamp", "data"].iter().all(|key| members.contains_key(key));
            let name = members.text("type").filter(|_| is_event).unwrap_or_default();
            all += 1;
            fit += usize::from(name.contains('.'));
            certain += usize::from(matches!(&*name, START | COMPLETE));
        }
        if certain > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
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

#[derive(Default)]
struct EventDecoder {
    /// Start time of the compaction in progress.
    started: Option<String>,
    lines: JsonLines,
}

impl Decoder for EventDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        each_value(block, sink, Parsing::Lazy, |_, json, at| {
            let draft = self.read(json, at);
            draft.iter().for_each(|draft| draft.write(&mut self.lines));
            draft.is_some()
        });
        self.lines.decode(sink);
    }
}

impl EventDecoder {
    fn read(&mut self, json: &Json<'_>, at: Position<'_>) -> Option<Draft> {
        match json.text_of("type")? {
            START => self.started = json.scalar_text_of("timestamp"),
            COMPLETE => {
                let data = json.get("data")?;
                let success = data.get("success").and_then(Json::truth)?;
                let mut draft = Draft::at(at);
                draft.set("started_at", self.started.take());
                draft.set("ended_at", json.scalar_text_of("timestamp"));
                // The client compacts anew at each turn, so every compaction is a call of its own.
                draft.set("call_id", json.text_of("id"));
                draft.set("outcome", if success { "ok" } else { "error" });
                if let Some(text) = data.text_of("error") {
                    error::of_text(text, &mut draft);
                }
                return Some(draft);
            }
            _ => {}
        }
        None
    }
}
