//! Requests in progress, assembled from lines of LiteLLM's log.

use super::message::Message;
use crate::ingest::formats::json_objects::Members;
use crate::ingest::formats::litellm::error::put_error;
use crate::ingest::formats::litellm::payload;
use crate::ingest::formats::model_api;
use crate::ingest::formats::text::clock::LineTime;
use crate::ingest::position::{Defaults, Position};
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Maximum number of requests in progress; the oldest is emitted to make room for another.
const MAX_REQUESTS: usize = 256;
/// Time after its end during which further lines may refer to a request, in µs.
const LATE_LINES_US: i64 = 2_000_000;
/// Maximum length of a kept line, in bytes.
const MAX_RAW: usize = 4096;

/// A line with its position and time.
pub(super) struct TimedLine<'s> {
    pub(super) raw: &'s str,
    pub(super) at: &'s Position<'s>,
    pub(super) time: LineTime,
}

/// Requests in progress, oldest first.
#[derive(Default)]
pub(super) struct Requests {
    open: Vec<Request>,
    /// Model and provider of the next request, and the retry limit of the SDK that LiteLLM calls.
    next: (String, String, Option<i64>),
    /// Whether the log has lines on each attempt, so that the proxy's lines on its responses to clients add nothing.
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
    begun: Option<LineTime>,
    ended: Option<LineTime>,
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
    /// Whether the proxy gave up on it and has not responded to its client yet.
    awaits_response: bool,
    /// Number of attempts that the request stands for, if logged.
    attempts_implied: Option<i64>,
    max_retries: Option<i64>,
    /// Whether the error was raised by the SDK that LiteLLM calls.
    is_sdk_error: bool,
}

impl Request {
    fn new(line: &TimedLine<'_>) -> Request {
        let (at, raw) = (line.at, line.raw);
        Request {
            line: at.line,
            record: at.record,
            defaults: at.defaults.cloned(),
            raw: raw[..raw.floor_char_boundary(MAX_RAW)].to_owned(),
            ..Request::default()
        }
    }

    fn is_over(&self) -> bool {
        self.ok.is_some()
    }

    fn end(&mut self, ok: bool, line_time: LineTime) {
        self.ok.get_or_insert(ok);
        self.ended.get_or_insert(line_time);
    }

    fn emit(&self, sink: &mut Sink<'_>) {
        let mut record = Record { client: Some(Cow::Borrowed("litellm")), ..Record::default() };
        let text = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
        record.layer = self.is_routed.then_some(Cow::Borrowed("gateway"));
        record.put(Field::StartedAt, self.begun.map(|line_time| line_time.at.0));
        record.put(Field::EndedAt, self.ended.map(|line_time| line_time.at.0));
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
        let line_time = self.ended.or(self.begun);
        record.times = line_time.map(|line_time| line_time.times).unwrap_or_default();
        record.whole_seconds = line_time.is_some_and(|line_time| line_time.is_whole_seconds);
        record.attempts_implied = self.attempts_implied.or_else(|| self.sdk_attempts());
        let at = Position { line: self.line, record: self.record, defaults: self.defaults.as_ref() };
        sink.record(&record, &self.raw, at);
    }

    /// Infers the attempts of the SDK that LiteLLM calls. The log does not count them; the duration shows whether
    /// their waits fit.
    fn sdk_attempts(&self) -> Option<i64> {
        let took_us = self.ended?.at.us_since(self.begun?.at);
        let slack_us = self.ended?.slack_us;
        if !self.is_sdk_error || self.ok != Some(false) {
            return None;
        }
        payload::sdk_attempts(self.status, self.max_retries, (took_us + slack_us) as f64 / 1e6)
    }
}

impl Requests {
    /// Emits all remaining requests, as far as their outcome is known.
    pub(super) fn emit_all(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.open).iter().for_each(|request| emit(request, sink));
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
            Message::RawResponse => {}
            Message::Failed { status, url, text } => self.failed(status, url, text, line),
            Message::Succeeded => self.end(true, line),
            Message::Ended { ok } => self.end(ok, line),
            Message::RouterAttempt { model, error, status } => {
                return self.router_attempt(sink, model, error, status, line);
            }
            Message::GaveUp { call, model, retries, error } => {
                return self.gave_up(sink, (call, model, retries, error), line);
            }
            Message::Access { path, status } => return self.access(sink, path, status, line),
        }
        false
    }

    fn sent(&mut self, sink: &mut Sink<'_>, line: &TimedLine<'_>) -> bool {
        self.is_detailed = true;
        let is_complete = |request: &mut Request| {
            let since = request.ended.map_or(0, |ended| line.time.at.us_since(ended.at));
            request.is_over() && (line.time.is_made_up() || since > LATE_LINES_US)
        };
        self.open.extract_if(.., is_complete).for_each(|request| emit(&request, sink));
        let mut request = Request::new(line);
        request.begun = Some(line.time);
        (request.model, request.provider, request.max_retries) = self.next.clone();
        request.call.clone_from(&self.trace);
        request.run = self.session.clone().or_else(|| self.trace.clone());
        self.add(sink, request);
        true
    }

    fn add(&mut self, sink: &mut Sink<'_>, request: Request) {
        if self.open.len() >= MAX_REQUESTS {
            emit(&self.open.remove(0), sink);
        }
        self.open.push(request);
    }

    /// Returns the oldest request in progress, to `url` unless that is empty.
    fn in_progress(&mut self, url: &str) -> Option<&mut Request> {
        let fits =
            |request: &Request| !request.is_over() && (url.is_empty() || request.url.is_empty() || request.url == url);
        self.open.iter_mut().find(|request| fits(request) && !request.awaits_response)
    }

    fn failed(&mut self, status: i64, url: &str, text: &str, line: &TimedLine<'_>) {
        let Some(request) = self.in_progress(url) else { return };
        request.status = Some(status);
        if !text.is_empty() {
            (request.error, request.is_sdk_error) = (Some(text.to_owned()), true);
        }
        request.end(false, line.time);
    }

    fn end(&mut self, ok: bool, line: &TimedLine<'_>) {
        if let Some(request) = self.in_progress("") {
            request.end(ok, line.time);
        }
    }

    fn router_attempt(
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
        let index = self.open.iter().position(is_same);
        let is_new = index.is_none();
        let mut request = index.map_or_else(|| Request::new(line), |index| self.open.remove(index));
        if is_new {
            request.model = model.to_owned();
            request.call.clone_from(&self.trace);
            request.run = self.session.clone().or_else(|| self.trace.clone());
        }
        request.is_routed = true;
        request.end(error.is_none(), line.time);
        request.error = error.map(str::to_owned).or(request.error.take());
        request.status = request.status.or_else(|| status.parse().ok());
        emit(&request, sink);
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
        request.attempts_implied = retries.map(|retries| retries + 1).filter(|attempts| *attempts > 1);
        request.error = Some(error.lines().next().unwrap_or_default().to_owned());
        (request.is_routed, request.awaits_response) = (true, true);
        request.end(false, line.time);
        self.add(sink, request);
        true
    }

    fn access(&mut self, sink: &mut Sink<'_>, path: &str, status: i64, line: &TimedLine<'_>) -> bool {
        if self.is_detailed || !model_api::is_request(path) {
            return false;
        }
        let index = self.open.iter().position(|request| request.awaits_response).filter(|_| status >= 400);
        let is_new = index.is_none();
        let mut request = index.map_or_else(|| Request::new(line), |index| self.open.remove(index));
        request.is_routed = true;
        request.status = Some(status);
        request.url = path.to_owned();
        request.end(status < 400, line.time);
        emit(&request, sink);
        is_new
    }
}

/// Emits a request whose outcome is known; the line of any other counts as no attempt.
fn emit(request: &Request, sink: &mut Sink<'_>) {
    if request.is_over() { request.emit(sink) } else { sink.noise() }
}
