//! The calls that lines of a TypeScript SDK tell of, while they go on.

use super::message::{Line, Message, Next, Object, Result};
use crate::ingest::formats::text::attempt::{Attempt, Call};
use crate::ingest::formats::text::clock::Moment;
use crate::ingest::position::Position;
use crate::ingest::record::FINGERPRINT;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::sink::Sink;
use crate::model::Time;
use std::hash::BuildHasher;

/// Calls that are kept at once; of more, the oldest are given.
const MOST_CALLS: usize = 4096;

/// The lines that told of an attempt.
const HEADERS: u8 = 1;
/// The same.
const PARSED: u8 = 2;

/// The calls that go on, the oldest first.
#[derive(Default)]
pub(super) struct Calls {
    open: Vec<Open>,
    /// The input has objects besides lines.
    has_objects: bool,
}

/// A call, and what its lines are known by.
#[derive(Default)]
struct Open {
    call: Call,
    /// The ids of its attempts.
    ids: Vec<String>,
    /// Attempts left when another one was announced, that included.
    left: Option<i64>,
    /// What belongs together is known here and nowhere else.
    is_beside_others: bool,
}

impl Open {
    fn is_active(&self) -> bool {
        self.left.is_some() || self.call.is_active()
    }
}

impl Calls {
    /// Gives what is left.
    pub(super) fn give_all(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.open).into_iter().for_each(|open| give(open, sink));
    }

    /// A request goes out; whether that is a new attempt. Which call it continues stands in its object.
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

    /// Takes in how an attempt went; whether that is a new attempt, and how late it is by now at least.
    pub(super) fn outcome(
        &mut self,
        sink: &mut Sink<'_>,
        line: &Line<'_>,
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
        let open = &mut self.open[place];
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
        (is_new, moment.at)
    }

    /// Takes in an object, as JSON.
    pub(super) fn object(&mut self, id: &str, kind: Object, json: &str) {
        self.has_objects = true;
        let is_of_it = |open: &Open| open.ids.last().is_some_and(|last| last == id);
        let Some(place) = self.open.iter().rposition(is_of_it) else { return };
        // What breaks off tells what stands before.
        let _ = match kind {
            Object::Request => self.read_request(place, json),
            _ => self.read_response(place, json),
        };
        if let Some(attempt) = self.open.get_mut(place).and_then(|open| open.call.attempts.last_mut()) {
            attempt.told |= if kind == Object::Parsed { PARSED } else { HEADERS };
        }
    }

    fn read_request(&mut self, place: usize, json: &str) -> std::result::Result<(), Fault> {
        let mut retry_of: Option<String> = None;
        let call = &mut self.open[place].call;
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

    /// Has the attempt of the call at `place` be one more of the call that began with `first`.
    fn join(&mut self, place: usize, first: &str) {
        let is_first = |open: &Open| open.ids.first().is_some_and(|id| id == first);
        let Some(known) = self.open[..place].iter().rposition(is_first) else { return };
        let added = self.open.remove(place);
        let open = &mut self.open[known];
        open.left = None;
        open.ids.extend(added.ids);
        open.call.attempts.extend(added.call.attempts);
    }

    fn read_response(&mut self, place: usize, json: &str) -> std::result::Result<(), Fault> {
        let Some(attempt) = self.open[place].call.attempts.last_mut() else { return Ok(()) };
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

    /// An error that the application was given, as it prints it: `RateLimitError: 429 {"error":{..}}`.
    pub(super) fn error(&mut self, line: &str) {
        let Some((head, _)) = line.split_once(" {\"") else { return };
        let Some(status) = head.get(head.len().saturating_sub(3)..).and_then(|code| code.parse::<i64>().ok()) else {
            return;
        };
        let ends = |open: &Open| {
            !open.is_active()
                && open.call.last().is_some_and(|last| last.status == Some(status) && last.error.is_none())
        };
        let Some(open) = self.open.iter_mut().rfind(|open| ends(open)) else { return };
        if let Some(attempt) = open.call.attempts.last_mut().filter(|attempt| attempt.failed()) {
            attempt.error = Some(to_end(&line[head.len() + 1..]).to_owned());
        }
    }

    fn add(&mut self, place: usize, id: &str, attempt: Attempt) {
        let open = &mut self.open[place];
        open.ids.push(id.to_owned());
        open.call.attempts.push(attempt);
    }

    /// The call whose attempt of this id is under way.
    fn under_way(&self, id: &str) -> Option<usize> {
        let fits = |open: &Open| {
            open.ids.last().is_some_and(|last| last == id) && open.call.last().is_some_and(|last| !last.is_over())
        };
        self.open.iter().rposition(fits)
    }

    /// The call that a line on an attempt continues which was not seen to begin: the one it names or, as lines on failed
    /// connections name none, one that has as many attempts left.
    fn continued(&self, line: &Line<'_>, next: Next) -> Option<usize> {
        let by_name = |first: &str| self.open.iter().rposition(|open| open.ids.first().is_some_and(|id| id == first));
        let left = match next {
            Next::Retry { left } => left,
            Next::Exhausted => 0,
            Next::End => return by_name(line.retry_of?),
        };
        let by_count = || {
            let is_lost = line.request_id.is_none();
            self.open.iter().rposition(|open| is_lost && open.left == Some(left + 1))
        };
        match line.retry_of {
            Some(first) => by_name(first),
            None => by_count(),
        }
    }

    /// Opens a call. Those that nothing more is said of are given.
    fn open(&mut self, sink: &mut Sink<'_>) -> usize {
        let has_objects = self.has_objects;
        let is_over = |open: &mut Open| {
            let is_told = |last: &Attempt| !has_objects || last.told & if last.failed() { HEADERS } else { PARSED } > 0;
            !open.is_active() && open.call.last().is_none_or(is_told)
        };
        self.open.extract_if(.., is_over).for_each(|open| give(open, sink));
        if self.open.len() >= MOST_CALLS {
            give(self.open.remove(0), sink);
        }
        let is_beside_others = self.open.iter().any(Open::is_active);
        let call = Call { is_counted: true, ..Call::default() };
        self.open.push(Open { call, is_beside_others, ..Open::default() });
        self.open.len() - 1
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

/// Fingerprint of a body that was printed in full: of what is nested, a console prints no more than that it is there.
fn fingerprint_of(body: &str) -> Option<String> {
    const LEFT_OUT: [&str; 4] = ["[Object", "[Array", " more item", " more character"];
    let is_whole = !LEFT_OUT.iter().any(|mark| body.contains(mark));
    is_whole.then(|| format!("{:016x}", FINGERPRINT.hash_one(body)))
}

/// JSON at the front of a text.
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
