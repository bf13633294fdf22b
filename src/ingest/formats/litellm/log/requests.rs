//! Requests in progress, assembled from lines of LiteLLM's log.

use super::message::Message;
use crate::ingest::formats::json_objects::Members;
use crate::ingest::formats::litellm::error::put_error;
use crate::ingest::formats::litellm::payload;
use crate::ingest::formats::model_api;
use crate::ingest::formats::text::clock::Moment;
use crate::ingest::position::{Defaults, Position};
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Maximum number of requests kept at once; beyond it, the oldest is emitted.
const MOST: usize = 256;
/// Time after its end during which lines may still refer to a request, in µs.
const SPOKEN_OF_US: i64 = 2_000_000;
/// Maximum length of a kept line, in bytes.
const LONGEST_RAW: usize = 4096;

/// A line with its position and time.
pub(super) struct TimedLine<'s> {
    pub(super) raw: &'s str,
    pub(super) at: &'s Position<'s>,
    pub(super) moment: Moment,
}

/// Requests in progress, oldest first.
#[derive(Default)]
pub(super) struct Requests {
    open: Vec<Request>,
    /// Model and provider of the next request, and the retry limit of the SDK that LiteLLM calls.
    next: (String, String, Option<i64>),
    /// Whether the log contains single attempts, so that the proxy's lines about its responses add nothing.
    is_detailed: bool,
    /// Ids of the latest line.
    pub(super) trace: Option<String>,
    pub(super) session: Option<String>,
}

/// State of one request.
#[derive(Default)]
struct Request {
    line: u32,
    record: u32,
    defaults: Option<Defaults>,
    raw: String,
    begun: Option<Moment>,
    ended: Option<Moment>,
    model: String,
    provider: String,
    url: String,
    status: Option<i64>,
    ok: Option<bool>,
    error: Option<String>,
    call: Option<String>,
    run: Option<String>,
    /// Whether it was sent by the router or the proxy.
    is_routed: bool,
    /// Whether it was reported by the proxy, which has not responded to its client yet.
    is_unanswered: bool,
    implied: Option<i64>,
    max_retries: Option<i64>,
    /// Whether the error was raised by the SDK that LiteLLM calls.
    is_sdks: bool,
}

impl Request {
    fn new(line: &TimedLine<'_>) -> Request {
        let (at, raw) = (line.at, line.raw);
        Request {
            line: at.line,
            record: at.record,
            defaults: at.defaults.cloned(),
            raw: raw[..raw.floor_char_boundary(LONGEST_RAW)].to_owned(),
            ..Request::default()
        }
    }

    fn is_over(&self) -> bool {
        self.ok.is_some()
    }

    fn end(&mut self, ok: bool, moment: Moment) {
        self.ok.get_or_insert(ok);
        self.ended.get_or_insert(moment);
    }

    fn give(&self, sink: &mut Sink<'_>) {
        let mut record = Record { client: Some(Cow::Borrowed("litellm")), ..Record::default() };
        let text = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
        record.layer = self.is_routed.then_some(Cow::Borrowed("gateway"));
        record.put(Field::StartedAt, self.begun.map(|moment| moment.at.0));
        record.put(Field::EndedAt, self.ended.map(|moment| moment.at.0));
        record.put(Field::Model, text(&self.model));
        record.put(Field::CallId, self.call.as_deref());
        record.put(Field::RunId, self.run.as_deref().or(self.call.as_deref()));
        record.success = self.ok;
        if let Some(error) = &self.error {
            let class = error.split(':').next().and_then(|name| name.rsplit('.').next());
            record.put(Field::Exception, class.filter(|name| !name.contains(' ')));
            put_error(&mut record, &Members::default(), Some(error));
        }
        record.put(Field::Status, self.status);
        record.put(Field::Provider, text(&self.provider));
        if !self.url.is_empty() {
            model_api::put_url(&mut record, Cow::Borrowed(self.url.as_str()));
        }
        let moment = self.ended.or(self.begun);
        record.times = moment.map(Moment::times).unwrap_or_default();
        record.whole_seconds = moment.is_some_and(|moment| moment.is_coarse);
        record.attempts_implied = self.implied.or_else(|| self.beneath());
        let at = Position { line: self.line, record: self.record, defaults: self.defaults.as_ref() };
        sink.record(&record, &self.raw, at);
    }

    /// Infers the attempts of the SDK that LiteLLM calls. The log does not count them; the duration shows whether
    /// their waits fit.
    fn beneath(&self) -> Option<i64> {
        let took_us = self.ended?.at.us_since(self.begun?.at);
        let slack_us = self.ended?.slack_us;
        if !self.is_sdks || self.ok != Some(false) {
            return None;
        }
        payload::beneath(self.status, self.max_retries, (took_us + slack_us) as f64 / 1e6)
    }
}

impl Requests {
    /// Emits all remaining requests. Those without an end may never have been sent completely.
    pub(super) fn give_all(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.open).iter().for_each(|request| give(request, sink));
    }

    /// Processes a message. Returns whether a request is counted for its line.
    pub(super) fn take(&mut self, sink: &mut Sink<'_>, message: Message<'_>, line: &TimedLine<'_>) -> bool {
        match message {
            Message::Model { model, provider } => self.next = (model.to_owned(), provider.to_owned(), None),
            Message::MaxRetries(most) => self.next.2 = Some(most),
            Message::Sent => return self.sent(sink, line),
            Message::Url(url) => {
                if let Some(request) =
                    self.open.last_mut().filter(|request| request.url.is_empty() && !request.is_over())
                {
                    request.url = url.to_owned();
                }
            }
            Message::Answer => {}
            Message::Refused { status, url, words } => self.refused(status, url, words, line),
            Message::Answered => self.end(true, line),
            Message::Ended { ok } => self.end(ok, line),
            Message::Routed { model, error, status } => return self.routed(sink, model, error, status, line),
            Message::GaveUp { call, model, retries, error } => {
                return self.gave_up(sink, (call, model, retries, error), line);
            }
            Message::Access { path, status } => return self.access(sink, path, status, line),
        }
        false
    }

    fn sent(&mut self, sink: &mut Sink<'_>, line: &TimedLine<'_>) -> bool {
        self.is_detailed = true;
        let is_past = |request: &mut Request| {
            let since = request.ended.map_or(0, |ended| line.moment.at.us_since(ended.at));
            request.is_over() && (line.moment.is_made_up() || since > SPOKEN_OF_US)
        };
        self.open.extract_if(.., is_past).for_each(|request| give(&request, sink));
        let mut request = Request::new(line);
        request.begun = Some(line.moment);
        (request.model, request.provider, request.max_retries) = self.next.clone();
        request.call.clone_from(&self.trace);
        request.run = self.session.clone().or_else(|| self.trace.clone());
        self.add(sink, request);
        true
    }

    fn add(&mut self, sink: &mut Sink<'_>, request: Request) {
        if self.open.len() >= MOST {
            give(&self.open.remove(0), sink);
        }
        self.open.push(request);
    }

    /// Returns the oldest request in progress, to `url` unless that is empty.
    fn flying(&mut self, url: &str) -> Option<&mut Request> {
        let fits =
            |request: &Request| !request.is_over() && (url.is_empty() || request.url.is_empty() || request.url == url);
        self.open.iter_mut().find(|request| fits(request) && !request.is_unanswered)
    }

    fn refused(&mut self, status: i64, url: &str, words: &str, line: &TimedLine<'_>) {
        let Some(request) = self.flying(url) else { return };
        request.status = Some(status);
        if !words.is_empty() {
            (request.error, request.is_sdks) = (Some(words.to_owned()), true);
        }
        request.end(false, line.moment);
    }

    fn end(&mut self, ok: bool, line: &TimedLine<'_>) {
        if let Some(request) = self.flying("") {
            request.end(ok, line.moment);
        }
    }

    fn routed(
        &mut self,
        sink: &mut Sink<'_>,
        model: &str,
        error: Option<&str>,
        status: &str,
        line: &TimedLine<'_>,
    ) -> bool {
        self.is_detailed = true;
        let is_same =
            |request: &Request| !request.is_routed && !request.model.is_empty() && model.ends_with(&request.model);
        let place = self.open.iter().position(is_same);
        let is_new = place.is_none();
        let mut request = place.map_or_else(|| Request::new(line), |place| self.open.remove(place));
        if is_new {
            request.model = model.to_owned();
            request.call.clone_from(&self.trace);
            request.run = self.session.clone().or_else(|| self.trace.clone());
        }
        request.is_routed = true;
        request.end(error.is_none(), line.moment);
        request.error = error.map(str::to_owned).or(request.error.take());
        request.status = request.status.or_else(|| status.parse().ok());
        give(&request, sink);
        is_new
    }

    fn gave_up(
        &mut self,
        sink: &mut Sink<'_>,
        (call, model, retries, error): (&str, Option<&str>, Option<i64>, &str),
        line: &TimedLine<'_>,
    ) -> bool {
        if self.is_detailed {
            return false;
        }
        let mut request = Request::new(line);
        request.call = (!call.is_empty()).then(|| call.to_owned());
        request.model = model.unwrap_or_default().to_owned();
        request.implied = retries.map(|retries| retries + 1).filter(|attempts| *attempts > 1);
        request.error = Some(error.lines().next().unwrap_or_default().to_owned());
        (request.is_routed, request.is_unanswered) = (true, true);
        request.end(false, line.moment);
        self.add(sink, request);
        true
    }

    fn access(&mut self, sink: &mut Sink<'_>, path: &str, status: i64, line: &TimedLine<'_>) -> bool {
        if self.is_detailed || !model_api::is_request(path) {
            return false;
        }
        let place = self.open.iter().position(|request| request.is_unanswered).filter(|_| status >= 400);
        let is_new = place.is_none();
        let mut request = place.map_or_else(|| Request::new(line), |place| self.open.remove(place));
        request.is_routed = true;
        request.status = Some(status);
        request.url = path.to_owned();
        request.end(status < 400, line.moment);
        give(&request, sink);
        is_new
    }
}

/// Emits a completed request; the line of any other contains no attempt.
fn give(request: &Request, sink: &mut Sink<'_>) {
    if request.is_over() { request.give(sink) } else { sink.noise() }
}
