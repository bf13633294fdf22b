//! Groups the attempts of a transcript into calls.

use crate::ingest::formats::draft::Draft;
use crate::model::Time;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// A transcript line that concerns attempts.
#[derive(Debug)]
pub(in crate::ingest::formats) struct Entry {
    pub(in crate::ingest::formats) stream: Stream,
    pub(in crate::ingest::formats) time: Option<Time>,
    pub(in crate::ingest::formats) what: What,
    pub(in crate::ingest::formats) draft: Draft,
}

/// A sequence of requests sent one after the other: a session, or a sub-agent of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ingest::formats) struct Stream {
    pub(in crate::ingest::formats) session: String,
    pub(in crate::ingest::formats) agent: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest::formats) enum What {
    /// This attempt of a call failed and will be retried; the attempt number, if logged.
    Retry(Option<i64>),
    /// The failure that ended a call.
    Final,
    /// An answer.
    Answer,
    /// Input for a new request; no earlier call continues after it.
    Prompt,
    /// A request being sent; only newer versions log it.
    Request,
}

impl What {
    /// Returns whether the line reports the outcome of an attempt.
    pub(in crate::ingest::formats) fn is_attempt(self) -> bool {
        !matches!(self, What::Prompt | What::Request)
    }
}

/// A call whose last attempt failed.
struct Open {
    id: String,
    /// Number of the last attempt, from 1; 0 if none is known.
    last: i64,
    /// Latest time at which the next attempt may end.
    until: Option<Time>,
    /// End of the announced wait.
    due: Option<Time>,
}

/// Maximum time from a failure to the end of the next attempt, not counting the announced wait, in µs. Long enough
/// for a slow answer, short enough that a session resumed another day starts a new call.
const LONGEST_ATTEMPT_US: i64 = 3_600_000_000;

impl Open {
    /// Starts a call with `entry`. The call is named after its first record.
    fn new(entry: &Entry) -> Open {
        let line = || format!("line {}", entry.draft.place().0);
        let id = entry.draft.get("uuid").map_or_else(line, str::to_owned);
        Open { id, last: 0, until: None, due: None }
    }

    /// Returns the call after attempt `number` failed as `entry` reports.
    fn failed(self, number: i64, entry: &Entry) -> Open {
        let wait_ms: Option<f64> = entry.draft.get("planned_wait_ms").and_then(|ms| ms.parse().ok());
        let wait_us = wait_ms.map(|ms| (ms * 1e3) as i64);
        let until = |time: Time| time.plus_us(LONGEST_ATTEMPT_US.saturating_add(wait_us.unwrap_or(0)));
        let due = entry.time.zip(wait_us).map(|(time, us)| time.plus_us(us));
        Open { last: number, until: entry.time.map(until), due, ..self }
    }
}

/// Assigns every attempt to a call and returns the attempts in input order.
pub(in crate::ingest::formats) fn settle(mut entries: Vec<Entry>) -> Vec<Draft> {
    entries.sort_by(|a, b| (&a.stream, a.time).cmp(&(&b.stream, b.time)));
    for stream in entries.chunk_by_mut(|a, b| a.stream == b.stream) {
        find_starts(stream);
        name_calls(stream);
        name_models(stream);
    }
    let attempts = entries.into_iter().filter(|entry| entry.what.is_attempt());
    let mut drafts: Vec<Draft> = attempts.map(|entry| entry.draft).collect();
    drafts.sort_by_key(Draft::place);
    drafts
}

/// Sets the start of each attempt to the last request before its record. Earlier requests of the same kind were
/// attempts that left no other record. If requests of several kinds are pending, they cannot be assigned and are
/// ignored.
fn find_starts(stream: &mut [Entry]) {
    let mut sent: Vec<(String, String)> = Vec::new();
    for entry in stream {
        match entry.what {
            What::Prompt => sent.clear(),
            What::Request => {
                let of = |key: &str| entry.draft.get(key).unwrap_or_default().to_owned();
                sent.push((of("started_at"), of("request_kind")));
            }
            What::Retry(_) | What::Final | What::Answer => {
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

fn name_calls(stream: &mut [Entry]) {
    // The call tried most recently is last.
    let mut open: Vec<Open> = Vec::new();
    for entry in stream {
        open.retain(|call| call.until.is_none_or(|until| entry.time.is_none_or(|time| time <= until)));
        match entry.what {
            What::Prompt => open.clear(),
            What::Request => {}
            What::Retry(number) => {
                let call = continued(&mut open, number).unwrap_or_else(|| Open::new(entry));
                let number = number.unwrap_or(call.last.saturating_add(1));
                if number == call.last.saturating_add(1) {
                    note_start(&call, entry);
                }
                entry.draft.set("call_id", call.id.clone());
                open.push(call.failed(number, entry));
            }
            What::Answer | What::Final => {
                let call = open.pop().unwrap_or_else(|| Open::new(entry));
                note_start(&call, entry);
                // An entry without a session may be a further attempt of whoever started the program.
                if call.last > 0 || !entry.stream.session.is_empty() {
                    // For an answer without logged retries, it is only likely that it was the first attempt.
                    let is_numbered = call.last > 0 || entry.what == What::Final;
                    entry.draft.set("attempt", is_numbered.then_some(call.last.saturating_add(1)));
                    entry.draft.set("call_id", call.id);
                }
            }
        }
    }
}

/// Sets the start of an attempt to the end of the wait announced by the failure before it, unless a request line gave
/// the start. The records themselves carry only the end of the attempt.
fn note_start(call: &Open, entry: &mut Entry) {
    if let Some(due) = call.due.filter(|due| entry.time.is_some_and(|time| *due <= time)) {
        entry.draft.fill("started_at", due.0);
    }
}

/// Removes and returns the open call that attempt `number` continues; lines of attempts in between may be missing.
fn continued(open: &mut Vec<Open>, number: Option<i64>) -> Option<Open> {
    let Some(number) = number else { return open.pop() };
    let next = open.iter().rposition(|call| call.last.saturating_add(1) == number);
    let place = next.or_else(|| open.iter().rposition(|call| call.last < number))?;
    (number > 1).then(|| open.remove(place))
}

/// Sets the model of failures, whose records have none: that of the answer to the same call, else of the closest
/// answer before, else of the first one after.
fn name_models(stream: &mut [Entry]) {
    let model = |entry: &Entry| entry.draft.get("model").map(str::to_owned);
    let by_call: HashMap<String, String, RandomState> =
        stream.iter().filter_map(|entry| Some((entry.draft.get("call_id")?.to_owned(), model(entry)?))).collect();
    let mut near = stream.iter().find_map(model);
    for entry in stream {
        near = model(entry).or(near);
        let of_call = entry.draft.get("call_id").and_then(|id| by_call.get(id)).cloned();
        entry.draft.fill("model", of_call.or_else(|| near.clone()));
    }
}
