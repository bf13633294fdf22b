//! Calls in progress, assembled from the log lines of a TypeScript SDK.

use super::message::{AttemptLine, Message, Next, Object, Result};
use crate::ingest::formats::text::attempt::{Attempt, Call};
use crate::ingest::formats::text::clock::Moment;
use crate::ingest::position::Position;
use crate::ingest::record::FINGERPRINT;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::sink::Sink;
use crate::model::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

/// Maximum number of calls kept at once; beyond it, the oldest is emitted.
const MOST_CALLS: usize = 4096;

/// Bit in `Attempt::told`: an object of the request or of the response headers was logged.
const HEADERS: u8 = 1;
/// Bit in `Attempt::told`: the object with the response body was logged.
const PARSED: u8 = 2;

/// Calls in progress.
#[derive(Default)]
pub(super) struct Calls {
    /// Calls by the order in which they began.
    open: BTreeMap<Place, Open>,
    /// Number of calls begun so far.
    begun: Place,
    /// Calls with an attempt in progress or announced.
    active: BTreeSet<Place>,
    /// Calls updated since the last one began; only these can have become complete.
    touched: BTreeSet<Place>,
    /// Whether the input contains printed objects besides lines.
    has_objects: bool,
}

/// Number of a call, in the order in which calls began.
type Place = u64;

/// A call, and the values by which its lines are recognized.
#[derive(Default)]
struct Open {
    call: Call,
    /// Ids of its attempts.
    ids: Vec<String>,
    /// Attempts left when another was announced, including that one.
    left: Option<i64>,
    /// Whether the call began while others were active, so that it needs a name to keep its attempts together.
    is_beside_others: bool,
}

impl Open {
    fn is_active(&self) -> bool {
        self.left.is_some() || self.call.is_active()
    }
}

impl Calls {
    /// Emits all remaining calls.
    pub(super) fn give_all(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.open).into_values().for_each(|open| give(open, sink));
    }

    /// Processes a request being sent. Returns whether it is a new attempt. The call it continues is named in its
    /// object.
    pub(super) fn request(
        &mut self,
        sink: &mut Sink<'_>,
        id: &str,
        moment: Moment,
        raw: &str,
        at: &Position<'_>,
    ) -> bool {
        let place = self.open(sink);
        let mut attempt = Attempt::new(raw, at);
        attempt.begun = Some(moment);
        self.add(place, id, attempt);
        true
    }

    /// Processes the outcome of an attempt. Returns whether that is a new attempt, and the earliest possible current
    /// time.
    pub(super) fn outcome(
        &mut self,
        sink: &mut Sink<'_>,
        line: &AttemptLine<'_>,
        mut moment: Moment,
        raw: &str,
        at: &Position<'_>,
    ) -> (bool, Time) {
        let Message::Outcome { url, result, duration_ms, next } = line.message else { return (false, moment.at) };
        if moment.is_made_up() {
            moment.at = moment.at.plus_us((duration_ms.unwrap_or(0.0) * 1e3) as i64);
        }
        let place = self.under_way(line.id);
        let is_new = place.is_none();
        let place = place.unwrap_or_else(|| {
            let place = self.continued(line, next).unwrap_or_else(|| self.open(sink));
            self.add(place, line.id, Attempt::new(raw, at));
            place
        });
        let Some(open) = self.open.get_mut(&place) else { return (is_new, moment.at) };
        open.left = match next {
            Next::Retry { left } => Some(left),
            Next::Exhausted | Next::End => None,
        };
        if let Some(attempt) = open.call.attempts.last_mut() {
            attempt.stand(raw, at);
            attempt.ended = Some(moment);
            attempt.duration_ms = duration_ms;
            attempt.url = url.to_owned();
            attempt.request_id = line.request_id.map(str::to_owned);
            match result {
                Result::Status(status) => attempt.status = Some(status),
                Result::TimedOut => attempt.kind = Some("timeout"),
                Result::NoConnection => attempt.kind = Some("connection_error"),
            }
        }
        self.note(place);
        (is_new, moment.at)
    }

    /// Processes an object, given as JSON.
    pub(super) fn object(&mut self, id: &str, kind: Object, json: &str) {
        self.has_objects = true;
        let Some(place) = self.latest(|open| open.ids.last().is_some_and(|last| last == id)) else { return };
        // The fields before a parse error are still used.
        let _ = match kind {
            Object::Request => self.read_request(place, json),
            _ => self.read_response(place, json),
        };
        if let Some(attempt) = self.attempt(place) {
            attempt.told |= if kind == Object::Parsed { PARSED } else { HEADERS };
        }
        self.note(place);
    }

    fn read_request(&mut self, place: Place, json: &str) -> std::result::Result<(), Fault> {
        let mut retry_of: Option<String> = None;
        let Some(Open { call, .. }) = self.open.get_mut(&place) else { return Ok(()) };
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
            self.join(place, &first);
        }
        read
    }

    /// Moves the attempts of the call at `place` to the call that began with attempt `first`.
    fn join(&mut self, place: Place, first: &str) {
        let is_first = |open: &Open| open.ids.first().is_some_and(|id| id == first);
        let before = self.open.range(..place).rev().find(|(_, open)| is_first(open)).map(|(known, _)| *known);
        let Some(known) = before else { return };
        let Some(added) = self.open.remove(&place) else { return };
        self.note(place);
        let Some(open) = self.open.get_mut(&known) else { return };
        open.left = None;
        open.ids.extend(added.ids);
        open.call.attempts.extend(added.call.attempts);
        self.note(known);
    }

    fn read_response(&mut self, place: Place, json: &str) -> std::result::Result<(), Fault> {
        let Some(attempt) = self.attempt(place) else { return Ok(()) };
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
        let ends = |open: &Open| {
            !open.is_active()
                && open.call.last().is_some_and(|last| last.status == Some(status) && last.error.is_none())
        };
        let Some(open) = self.open.values_mut().rfind(|open| ends(open)) else { return };
        if let Some(attempt) = open.call.attempts.last_mut().filter(|attempt| attempt.failed()) {
            attempt.error = Some(to_end(&line[head.len() + 1..]).to_owned());
        }
    }

    fn add(&mut self, place: Place, id: &str, attempt: Attempt) {
        let Some(open) = self.open.get_mut(&place) else { return };
        open.ids.push(id.to_owned());
        open.call.attempts.push(attempt);
        self.note(place);
    }

    /// Returns the last attempt of a call.
    fn attempt(&mut self, place: Place) -> Option<&mut Attempt> {
        self.open.get_mut(&place)?.call.attempts.last_mut()
    }

    /// Returns the most recently begun call for which `fits` holds.
    fn latest(&self, fits: impl Fn(&Open) -> bool) -> Option<Place> {
        self.open.iter().rev().find(|(_, open)| fits(open)).map(|(place, _)| *place)
    }

    /// Records that a call was updated.
    fn note(&mut self, place: Place) {
        self.touched.insert(place);
        if self.open.get(&place).is_some_and(Open::is_active) {
            self.active.insert(place);
        } else {
            self.active.remove(&place);
        }
    }

    /// Returns the call whose attempt with this id is in progress.
    fn under_way(&self, id: &str) -> Option<Place> {
        let is_of_it = |open: &Open| open.ids.last().is_some_and(|last| last == id);
        self.latest(|open| is_of_it(open) && open.call.last().is_some_and(|last| !last.is_over()))
    }

    /// Returns the call continued by an attempt whose start was not logged: the call the line names or, as lines
    /// about failed connections name none, one with a matching number of attempts left.
    fn continued(&self, line: &AttemptLine<'_>, next: Next) -> Option<Place> {
        let by_name = |first: &str| self.latest(|open| open.ids.first().is_some_and(|id| id == first));
        let left = match next {
            Next::Retry { left } => left,
            Next::Exhausted => 0,
            Next::End => return by_name(line.retry_of?),
        };
        let by_count = || {
            let is_lost = line.request_id.is_none();
            self.latest(|open| is_lost && open.left == Some(left + 1))
        };
        match line.retry_of {
            Some(first) => by_name(first),
            None => by_count(),
        }
    }

    /// Opens a call, after emitting those that are complete.
    fn open(&mut self, sink: &mut Sink<'_>) -> Place {
        let has_objects = self.has_objects;
        let is_over = |open: &Open| {
            let is_told = |last: &Attempt| !has_objects || last.told & if last.failed() { HEADERS } else { PARSED } > 0;
            !open.is_active() && open.call.last().is_none_or(is_told)
        };
        for place in std::mem::take(&mut self.touched) {
            if self.open.get(&place).is_some_and(is_over) {
                self.open.remove(&place).into_iter().for_each(|open| give(open, sink));
            }
        }
        if self.open.len() >= MOST_CALLS
            && let Some((oldest, open)) = self.open.pop_first()
        {
            self.active.remove(&oldest);
            give(open, sink);
        }
        let is_beside_others = !self.active.is_empty();
        let call = Call { is_counted: true, ..Call::default() };
        self.begun += 1;
        self.open.insert(self.begun, Open { call, is_beside_others, ..Open::default() });
        self.begun
    }
}

fn read_options(reader: &mut Reader<'_>, key: &str, json: &str, call: &mut Call) -> std::result::Result<(), Fault> {
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
    const LEFT_OUT: [&str; 4] = ["[Object", "[Array", " more item", " more character"];
    let is_whole = !LEFT_OUT.iter().any(|mark| body.contains(mark));
    is_whole.then(|| format!("{:016x}", FINGERPRINT.hash_one(body)))
}

/// Returns the JSON value at the start of a text.
fn to_end(text: &str) -> &str {
    let mut reader = Reader::new(text);
    match reader.skip() {
        Ok(()) => &text[..reader.offset()],
        Err(_) => text,
    }
}

fn give(mut open: Open, sink: &mut Sink<'_>) {
    open.call.name = open.ids.into_iter().next().filter(|_| open.is_beside_others);
    open.call.give(sink);
}
