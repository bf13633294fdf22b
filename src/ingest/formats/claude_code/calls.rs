//! Groups the attempts of a transcript into calls.

use crate::ingest::formats::draft::Draft;
use crate::model::Time;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// A transcript line that concerns attempts.
#[derive(Debug)]
pub(in crate::ingest::formats) struct Entry {
    pub(in crate::ingest::formats) agent: Agent,
    pub(in crate::ingest::formats) time: Option<Time>,
    pub(in crate::ingest::formats) kind: EntryKind,
    pub(in crate::ingest::formats) draft: Draft,
}

/// The agent of a session, or a sub-agent. Each sends its requests one after the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ingest::formats) struct Agent {
    pub(in crate::ingest::formats) session: String,
    /// Name of the sub-agent; empty for the agent of the session.
    pub(in crate::ingest::formats) sub_agent: String,
}

/// What a transcript line reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest::formats) enum EntryKind {
    /// This attempt of a call failed and will be retried; the attempt number, if logged.
    Retry(Option<i64>),
    /// The failure that ended a call.
    Final,
    /// A response of the model.
    Response,
    /// Input for a new request; no earlier call continues after it.
    Prompt,
    /// A request being sent; only newer versions log it.
    Request,
}

impl EntryKind {
    /// Returns whether the line reports the outcome of an attempt.
    pub(in crate::ingest::formats) fn is_attempt(self) -> bool {
        !matches!(self, EntryKind::Prompt | EntryKind::Request)
    }
}

/// A call whose last attempt failed.
struct OpenCall {
    id: String,
    /// Number of the last attempt, from 1; 0 if none is known.
    last_number: i64,
    /// Latest time at which the next attempt may end.
    deadline: Option<Time>,
    /// End of the announced wait.
    wait_ends: Option<Time>,
}

/// Maximum time from a failure to the end of the next attempt, not counting the announced wait, in µs: an hour. It is
/// long enough for a slow response, and short enough that a session resumed another day starts a new call.
const LONGEST_ATTEMPT_US: i64 = 3_600_000_000;

impl OpenCall {
    /// Starts a call with `entry`. The call is named after its first record.
    fn new(entry: &Entry) -> OpenCall {
        let line = || format!("line {}", entry.draft.position().0);
        let id = entry.draft.get("uuid").map_or_else(line, str::to_owned);
        OpenCall { id, last_number: 0, deadline: None, wait_ends: None }
    }

    /// Returns the call after attempt `number` failed as `entry` reports.
    fn failed(self, number: i64, entry: &Entry) -> OpenCall {
        let wait_ms: Option<f64> = entry.draft.get("planned_wait_ms").and_then(|ms| ms.parse().ok());
        let wait_us = wait_ms.map(|ms| (ms * 1e3) as i64);
        let deadline = |time: Time| time.plus_us(LONGEST_ATTEMPT_US.saturating_add(wait_us.unwrap_or(0)));
        let wait_ends = entry.time.zip(wait_us).map(|(time, us)| time.plus_us(us));
        OpenCall { last_number: number, deadline: entry.time.map(deadline), wait_ends, ..self }
    }
}

/// Assigns every attempt to a call and returns the attempts in input order.
pub(in crate::ingest::formats) fn assign_calls(mut entries: Vec<Entry>) -> Vec<Draft> {
    entries.sort_by(|a, b| (&a.agent, a.time).cmp(&(&b.agent, b.time)));
    for of_agent in entries.chunk_by_mut(|a, b| a.agent == b.agent) {
        set_starts(of_agent);
        set_calls(of_agent);
        set_models(of_agent);
    }
    let attempts = entries.into_iter().filter(|entry| entry.kind.is_attempt());
    let mut drafts: Vec<Draft> = attempts.map(|entry| entry.draft).collect();
    drafts.sort_by_key(Draft::position);
    drafts
}

/// Sets the start of each attempt to the last request before its record. Earlier requests of the same kind were
/// attempts of which nothing else was recorded. Requests of several kinds cannot be assigned and are ignored.
fn set_starts(entries: &mut [Entry]) {
    // Start and kind of the requests since the last outcome.
    let mut sent: Vec<(String, String)> = Vec::new();
    for entry in entries {
        match entry.kind {
            EntryKind::Prompt => sent.clear(),
            EntryKind::Request => {
                let of = |key: &str| entry.draft.get(key).unwrap_or_default().to_owned();
                sent.push((of("started_at"), of("request_kind")));
            }
            EntryKind::Retry(_) | EntryKind::Final | EntryKind::Response => {
                let is_one_kind = sent.iter().all(|(_, kind)| sent.first().is_some_and(|(_, first)| first == kind));
                if let Some((start, _)) = sent.last().filter(|_| is_one_kind) {
                    entry.draft.set("started_at", start.as_str());
                    let resends = sent.len() as i64 - 1;
                    entry.draft.set("http.request.resend_count", (resends > 0).then_some(resends));
                }
                sent.clear();
            }
        }
    }
}

/// Sets the call of each attempt, and the number of the last attempt of a call.
fn set_calls(entries: &mut [Entry]) {
    // The call of the most recent attempt is last.
    let mut open: Vec<OpenCall> = Vec::new();
    for entry in entries {
        open.retain(|call| call.deadline.is_none_or(|deadline| entry.time.is_none_or(|time| time <= deadline)));
        match entry.kind {
            EntryKind::Prompt => open.clear(),
            EntryKind::Request => {}
            EntryKind::Retry(number) => {
                let call = take_continued(&mut open, number).unwrap_or_else(|| OpenCall::new(entry));
                let number = number.unwrap_or(call.last_number.saturating_add(1));
                if number == call.last_number.saturating_add(1) {
                    set_start_after_wait(&call, entry);
                }
                entry.draft.set("call_id", call.id.clone());
                open.push(call.failed(number, entry));
            }
            EntryKind::Response | EntryKind::Final => {
                let call = open.pop().unwrap_or_else(|| OpenCall::new(entry));
                set_start_after_wait(&call, entry);
                // Without a session, the entry may be an attempt of a program that runs Claude Code again to retry.
                if call.last_number > 0 || !entry.agent.session.is_empty() {
                    // A response without logged retries was probably, but not certainly, the first attempt.
                    let is_numbered = call.last_number > 0 || entry.kind == EntryKind::Final;
                    entry.draft.set("attempt", is_numbered.then_some(call.last_number.saturating_add(1)));
                    entry.draft.set("call_id", call.id);
                }
            }
        }
    }
}

/// Sets the start of an attempt to the end of the wait announced by the failure before it, unless a request line gave
/// the start. The records themselves have only the end of the attempt.
fn set_start_after_wait(call: &OpenCall, entry: &mut Entry) {
    if let Some(start) = call.wait_ends.filter(|start| entry.time.is_some_and(|time| *start <= time)) {
        entry.draft.set_if_missing("started_at", start.0);
    }
}

/// Removes and returns the open call that attempt `number` continues; lines of attempts in between may be missing.
fn take_continued(open: &mut Vec<OpenCall>, number: Option<i64>) -> Option<OpenCall> {
    let Some(number) = number else { return open.pop() };
    let next = open.iter().rposition(|call| call.last_number.saturating_add(1) == number);
    let index = next.or_else(|| open.iter().rposition(|call| call.last_number < number))?;
    (number > 1).then(|| open.remove(index))
}

/// Sets the model of failures, whose records name none: that of the response to the same call, else of the closest
/// response before, else of the first one after.
fn set_models(entries: &mut [Entry]) {
    let model = |entry: &Entry| entry.draft.get("model").map(str::to_owned);
    let by_call: HashMap<String, String, RandomState> =
        entries.iter().filter_map(|entry| Some((entry.draft.get("call_id")?.to_owned(), model(entry)?))).collect();
    let mut latest = entries.iter().find_map(model);
    for entry in entries {
        latest = model(entry).or(latest);
        let of_call = entry.draft.get("call_id").and_then(|id| by_call.get(id)).cloned();
        entry.draft.set_if_missing("model", of_call.or_else(|| latest.clone()));
    }
}
