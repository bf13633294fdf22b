//! Calls in progress, assembled from the log lines of a TypeScript SDK.

use super::message::{AttemptLine, Message, Next, ObjectKind, Outcome};
use crate::ingest::formats::text::attempt::{Attempt, Call};
use crate::ingest::formats::text::clock::LineTime;
use crate::ingest::position::Position;
use crate::ingest::record::FINGERPRINT;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::sink::Sink;
use crate::model::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

/// Maximum number of calls in progress; the oldest is emitted to make room for another.
const MAX_CALLS: usize = 4096;

/// Bit in `Attempt::reported_by`: an object of the request or of the response headers was logged.
const HEADERS: u8 = 1;
/// Bit in `Attempt::reported_by`: the object with the response body was logged.
const PARSED: u8 = 2;

/// Calls in progress.
#[derive(Default)]
pub(super) struct Calls {
    /// Calls by the order in which they began.
    open: BTreeMap<CallNumber, OpenCall>,
    /// Number of calls begun so far.
    begun: CallNumber,
    /// Calls with an attempt in progress or announced.
    active: BTreeSet<CallNumber>,
    /// Calls updated since the last one began; only these can have become complete.
    updated: BTreeSet<CallNumber>,
    /// Whether the input contains printed objects besides lines.
    has_objects: bool,
}

/// Number of a call, in the order in which calls began.
type CallNumber = u64;

/// A call, and the values by which its lines are recognized.
#[derive(Default)]
struct OpenCall {
    call: Call,
    /// Ids of its attempts.
    ids: Vec<String>,
    /// Number of attempts left, including the next one, if a retry was announced.
    attempts_left: Option<i64>,
    /// Whether the call began while others were active, so that its attempts can only be recognized by a call id.
    is_concurrent: bool,
}

impl OpenCall {
    fn is_active(&self) -> bool {
        self.attempts_left.is_some() || self.call.is_active()
    }
}

impl Calls {
    /// Emits all remaining calls.
    pub(super) fn emit_all(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.open).into_values().for_each(|open| emit(open, sink));
    }

    /// Processes a request being sent, and returns that it is a new attempt. If it is a retry, the object that follows
    /// names the call.
    pub(super) fn request(
        &mut self,
        sink: &mut Sink<'_>,
        id: &str,
        line_time: LineTime,
        raw: &str,
        at: &Position<'_>,
    ) -> bool {
        let number = self.begin(sink);
        let mut attempt = Attempt::new(raw, at);
        attempt.begun = Some(line_time);
        self.add(number, id, attempt);
        true
    }

    /// Processes the outcome of an attempt. Returns whether that is a new attempt, and the time at which the line was
    /// written at the earliest.
    pub(super) fn outcome(
        &mut self,
        sink: &mut Sink<'_>,
        line: &AttemptLine<'_>,
        mut line_time: LineTime,
        raw: &str,
        at: &Position<'_>,
    ) -> (bool, Time) {
        let Message::Outcome { url, outcome, duration_ms, next } = line.message else { return (false, line_time.at) };
        if line_time.is_made_up() {
            line_time.at = line_time.at.plus_us((duration_ms.unwrap_or(0.0) * 1e3) as i64);
        }
        let in_progress = self.in_progress(line.id);
        let is_new = in_progress.is_none();
        let number = in_progress.unwrap_or_else(|| {
            let number = self.continued(line, next).unwrap_or_else(|| self.begin(sink));
            self.add(number, line.id, Attempt::new(raw, at));
            number
        });
        let Some(open) = self.open.get_mut(&number) else { return (is_new, line_time.at) };
        open.attempts_left = match next {
            Next::Retry { attempts_left } => Some(attempts_left),
            Next::Exhausted | Next::End => None,
        };
        if let Some(attempt) = open.call.attempts.last_mut() {
            attempt.set_line(raw, at);
            attempt.ended = Some(line_time);
            attempt.duration_ms = duration_ms;
            attempt.url = url.to_owned();
            attempt.request_id = line.request_id.map(str::to_owned);
            match outcome {
                Outcome::Status(status) => attempt.status = Some(status),
                Outcome::TimedOut => attempt.kind = Some("timeout"),
                Outcome::NoConnection => attempt.kind = Some("connection_error"),
            }
        }
        self.mark_updated(number);
        (is_new, line_time.at)
    }

    /// Processes an object, given as JSON.
    pub(super) fn object(&mut self, id: &str, kind: ObjectKind, json: &str) {
        self.has_objects = true;
        let Some(number) = self.latest(|open| open.ids.last().is_some_and(|last| last == id)) else { return };
        // The fields before a parse error are still used.
        let _ = match kind {
            ObjectKind::Request => self.read_request(number, json),
            _ => self.read_response(number, json),
        };
        if let Some(attempt) = self.attempt(number) {
            attempt.reported_by |= if kind == ObjectKind::Parsed { PARSED } else { HEADERS };
        }
        self.mark_updated(number);
    }

    fn read_request(&mut self, number: CallNumber, json: &str) -> Result<(), Fault> {
        let mut retry_of: Option<String> = None;
        let Some(OpenCall { call, .. }) = self.open.get_mut(&number) else { return Ok(()) };
        let read = Reader::new(json).object(|reader, key| {
            match &*key {
                "retryOf" => retry_of = reader.scalar()?.into_text().map(Into::into),
                "options" if reader.peek() == Some(b'{') => {
                    reader.object(|reader, key| read_options(reader, &key, json, call))?
                }
                "headers" if reader.peek() == Some(b'{') => reader.object(|reader, key| {
                    match &*key {
                        "user-agent" => call.user_agent = reader.scalar()?.into_text().map(Into::into),
                        "x-stainless-retry-count" => call.counted_from = reader.scalar()?.integer().unwrap_or(0),
                        "anthropic-version" => {
                            call.provider = Some("anthropic");
                            reader.skip()?;
                        }
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?,
                _ => reader.skip()?,
            }
            Ok(())
        });
        if let Some(first) = retry_of {
            self.join(number, &first);
        }
        read
    }

    /// Moves the attempts of a call to the call that began with attempt `first`.
    fn join(&mut self, number: CallNumber, first: &str) {
        let is_first = |open: &OpenCall| open.ids.first().is_some_and(|id| id == first);
        let before = self.open.range(..number).rev().find(|(_, open)| is_first(open)).map(|(known, _)| *known);
        let Some(known) = before else { return };
        let Some(added) = self.open.remove(&number) else { return };
        self.mark_updated(number);
        let Some(open) = self.open.get_mut(&known) else { return };
        open.attempts_left = None;
        open.ids.extend(added.ids);
        open.call.attempts.extend(added.call.attempts);
        self.mark_updated(known);
    }

    fn read_response(&mut self, number: CallNumber, json: &str) -> Result<(), Fault> {
        let Some(attempt) = self.attempt(number) else { return Ok(()) };
        Reader::new(json).object(|reader, key| {
            if key != "headers" || reader.peek() != Some(b'{') {
                return reader.skip();
            }
            let start = reader.offset();
            reader.skip()?;
            attempt.headers = json.get(start..reader.offset()).map(str::to_owned);
            Ok(())
        })
    }

    /// Processes an error printed by the application: `RateLimitError: 429 {"error":{..}}`.
    pub(super) fn error(&mut self, line: &str) {
        let Some((head, _)) = line.split_once(" {\"") else { return };
        let Some(status) = head.get(head.len().saturating_sub(3)..).and_then(|code| code.parse::<i64>().ok()) else {
            return;
        };
        let has_status = |open: &OpenCall| {
            !open.is_active()
                && open.call.last().is_some_and(|last| last.status == Some(status) && last.error.is_none())
        };
        let Some(open) = self.open.values_mut().rfind(|open| has_status(open)) else { return };
        if let Some(attempt) = open.call.attempts.last_mut().filter(|attempt| attempt.failed()) {
            attempt.error = Some(leading_json(&line[head.len() + 1..]).to_owned());
        }
    }

    fn add(&mut self, number: CallNumber, id: &str, attempt: Attempt) {
        let Some(open) = self.open.get_mut(&number) else { return };
        open.ids.push(id.to_owned());
        open.call.attempts.push(attempt);
        self.mark_updated(number);
    }

    /// Returns the last attempt of a call.
    fn attempt(&mut self, number: CallNumber) -> Option<&mut Attempt> {
        self.open.get_mut(&number)?.call.attempts.last_mut()
    }

    /// Returns the most recently begun call for which `fits` holds.
    fn latest(&self, fits: impl Fn(&OpenCall) -> bool) -> Option<CallNumber> {
        self.open.iter().rev().find(|(_, open)| fits(open)).map(|(number, _)| *number)
    }

    /// Records that a call was updated.
    fn mark_updated(&mut self, number: CallNumber) {
        self.updated.insert(number);
        if self.open.get(&number).is_some_and(OpenCall::is_active) {
            self.active.insert(number);
        } else {
            self.active.remove(&number);
        }
    }

    /// Returns the call whose attempt with this id is in progress.
    fn in_progress(&self, id: &str) -> Option<CallNumber> {
        let is_last = |open: &OpenCall| open.ids.last().is_some_and(|last| last == id);
        self.latest(|open| is_last(open) && open.call.last().is_some_and(|last| !last.is_over()))
    }

    /// Returns the call continued by an attempt whose start was not logged: the call the line names or, as lines
    /// about failed connections name none, one with a matching number of attempts left.
    fn continued(&self, line: &AttemptLine<'_>, next: Next) -> Option<CallNumber> {
        let by_name = |first: &str| self.latest(|open| open.ids.first().is_some_and(|id| id == first));
        let attempts_left = match next {
            Next::Retry { attempts_left } => attempts_left,
            Next::Exhausted => 0,
            Next::End => return by_name(line.retry_of?),
        };
        let by_count = || {
            let has_no_response = line.request_id.is_none();
            self.latest(|open| has_no_response && open.attempts_left == Some(attempts_left + 1))
        };
        match line.retry_of {
            Some(first) => by_name(first),
            None => by_count(),
        }
    }

    /// Begins a call, after emitting those that are complete.
    fn begin(&mut self, sink: &mut Sink<'_>) -> CallNumber {
        let has_objects = self.has_objects;
        let is_complete = |open: &OpenCall| {
            // A successful attempt is followed by the object of its body, a failed one by that of its headers.
            let has_last_object =
                |last: &Attempt| !has_objects || last.reported_by & if last.failed() { HEADERS } else { PARSED } > 0;
            !open.is_active() && open.call.last().is_none_or(has_last_object)
        };
        for number in std::mem::take(&mut self.updated) {
            if self.open.get(&number).is_some_and(is_complete) {
                self.open.remove(&number).into_iter().for_each(|open| emit(open, sink));
            }
        }
        if self.open.len() >= MAX_CALLS
            && let Some((oldest, open)) = self.open.pop_first()
        {
            self.active.remove(&oldest);
            emit(open, sink);
        }
        let is_concurrent = !self.active.is_empty();
        let call = Call { is_counted: true, ..Call::default() };
        self.begun += 1;
        self.open.insert(self.begun, OpenCall { call, is_concurrent, ..OpenCall::default() });
        self.begun
    }
}

fn read_options(reader: &mut Reader<'_>, key: &str, json: &str, call: &mut Call) -> Result<(), Fault> {
    match key {
        "timeout" => call.timeout_ms = reader.scalar()?.number(),
        "stream" => call.is_stream = reader.scalar()?.truth() == Some(true),
        "body" if reader.peek() == Some(b'{') => {
            let start = reader.offset();
            reader.object(|reader, key| {
                match &*key {
                    "model" => call.model = reader.scalar()?.into_text().map(Into::into),
                    "max_tokens" | "max_completion_tokens" | "max_output_tokens" => {
                        call.max_tokens = reader.scalar()?.integer();
                    }
                    _ => reader.skip()?,
                }
                Ok(())
            })?;
            call.request_hash = json.get(start..reader.offset()).and_then(fingerprint_of);
        }
        _ => reader.skip()?,
    }
    Ok(())
}

/// Returns the fingerprint of a body printed in full; the console abbreviates nested values.
fn fingerprint_of(body: &str) -> Option<String> {
    const ABBREVIATIONS: [&str; 4] = ["[Object", "[Array", " more item", " more character"];
    let is_whole = !ABBREVIATIONS.iter().any(|text| body.contains(text));
    is_whole.then(|| format!("{:016x}", FINGERPRINT.hash_one(body)))
}

/// Returns the JSON value at the start of a text, or the whole text if it is not JSON.
fn leading_json(text: &str) -> &str {
    let mut reader = Reader::new(text);
    match reader.skip() {
        Ok(()) => &text[..reader.offset()],
        Err(_) => text,
    }
}

fn emit(mut open: OpenCall, sink: &mut Sink<'_>) {
    open.call.id = open.ids.into_iter().next().filter(|_| open.is_concurrent);
    open.call.emit(sink);
}
