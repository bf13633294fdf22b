//! Claude Code session transcripts: failures that are retried, failures that end a call, and responses.

pub(super) mod calls;
pub(super) mod error;
pub(super) mod line;

use super::draft::decode_all;
use super::json_lines::JsonLines;
use super::tree::{Json, Parsing, each_value};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::Members;
use crate::ingest::sink::Sink;
use calls::Entry;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

/// Format of `~/.claude/projects/<folder>/<session>.jsonl` and of the transcripts of sub-agents.
pub(in crate::ingest) struct ClaudeCode;

/// Number of lines examined by `detect`.
const EXAMINED_LINES: usize = 50;

impl Format for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn description(&self) -> &'static str {
        "Session transcripts of Claude Code: a line for each retried failure and for each block of an answer."
    }

    fn detected_by(&self) -> &'static str {
        "lines with `isSidechain`, `sessionId` and `uuid`, or `system` lines with subtype `api_error`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut all, mut certain, mut fit) = (0, 0, 0);
        for (line, members) in head.parsed().take(EXAMINED_LINES) {
            let is_certain = members.map_or_else(|| is_certain_but_cut_off(line), is_certain);
            certain += usize::from(is_certain);
            fit += usize::from(is_certain || members.is_some_and(is_of_other_type));
            all += 1;
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
        Box::new(TranscriptDecoder::default())
    }
}

/// Returns whether only Claude Code writes a line with these members.
fn is_certain(members: &Members<'_>) -> bool {
    let has = |key: &str| members.contains_key(key);
    let kind = members.text("type");
    let is_retry = kind.as_deref() == Some("system") || !has("type");
    (has("isSidechain") && has("sessionId") && has("uuid"))
        || (has("isApiErrorMessage") && kind.as_deref() == Some("assistant"))
        || (is_retry && members.text("subtype").as_deref() == Some("api_error") && has_retry(members))
}

/// Like [`is_certain`] for a line cut off at the end of the head, which cannot be parsed: searches for the keys.
/// Inside a string, their quotes would be escaped.
fn is_certain_but_cut_off(line: &str) -> bool {
    line.starts_with('{') && ["\"isSidechain\":", "\"sessionId\":", "\"uuid\":"].iter().all(|key| line.contains(key))
}

fn has_retry(members: &Members<'_>) -> bool {
    ["retryAttempt", "retryInMs", "sessionId"].iter().any(|key| members.contains_key(key))
}

/// Returns whether a line is of a type that occurs in transcripts and does not concern attempts.
fn is_of_other_type(members: &Members<'_>) -> bool {
    const TYPES: [&str; 11] = [
        "file-history-snapshot",
        "summary",
        "permission-mode",
        "queue-operation",
        "last-prompt",
        "ai-title",
        "custom-title",
        "agent-name",
        "pr-link",
        "attachment",
        "progress",
    ];
    members.text("type").is_some_and(|name| TYPES.contains(&&*name))
}

/// Keeps all entries until the end of the input: a failure may be written after the response to its retry.
#[derive(Default)]
struct TranscriptDecoder {
    entries: Vec<Entry>,
    /// Identity of each record read so far, with the index of its entry.
    known: HashMap<String, usize, RandomState>,
    lines: JsonLines,
}

impl Decoder for TranscriptDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        each_value(block, sink, Parsing::Lazy, |_, json, at| self.take(json, at));
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.known.clear();
        decode_all(calls::assign_calls(std::mem::take(&mut self.entries)), &mut self.lines, sink);
    }
}

impl TranscriptDecoder {
    /// Returns whether the line contains an attempt not read before.
    fn take(&mut self, json: &Json<'_>, at: Position<'_>) -> bool {
        let Some(entry) = line::read(json, at) else { return false };
        let is_attempt = entry.kind.is_attempt();
        match self.known.entry(line::identity(json, &entry)) {
            Slot::Occupied(known) => {
                // A further block of the same response, or a repetition of the record.
                let Some(first) = self.entries.get_mut(*known.get()) else { return false };
                if is_attempt {
                    line::merge_response(first, &entry);
                }
                false
            }
            Slot::Vacant(slot) => {
                slot.insert(self.entries.len());
                self.entries.push(entry);
                is_attempt
            }
        }
    }
}
