//! Errors of the AI SDK (Vercel's `ai` package) as Node prints them: an `AI_RetryError` contains the error of each
//! attempt.

use super::json_objects::Members;
use super::text::clock::Clock;
use super::text::literal::to_json;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::{Defaults, Position};
use crate::ingest::record::{Field, Record, Times};
use crate::ingest::sink::Sink;
use crate::model::UNTIMED_START;
use std::borrow::Cow;

/// Format of an `APICallError [AI_APICallError]` printed with its members, alone or in the list of an
/// `AI_RetryError`.
pub(in crate::ingest) struct AiSdk;

impl Format for AiSdk {
    fn name(&self) -> &'static str {
        "ai-sdk"
    }

    fn description(&self) -> &'static str {
        "Errors of the AI SDK for JavaScript as Node prints them, with those of each attempt."
    }

    fn detected_by(&self) -> &'static str {
        "`[AI_APICallError]` and behind it `url`, `statusCode` and `responseBody`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        if !head.text().contains(API_ERROR) {
            return Match::No;
        }
        let mut tracker = ErrorTracker::default();
        let found = head.text().lines().any(|line| matches!(tracker.line(line), Some(Event::AttemptErrorEnds(_))));
        if found { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ErrorDecoder::default())
    }
}

/// Mark of the error of an attempt.
const API_ERROR: &str = "[AI_APICallError]";
/// Mark of the error of a call, which contains those of its attempts.
const RETRY_ERROR: &str = "[AI_RetryError]";
/// Maximum size of an object assembled from several lines, in bytes.
const MAX_OBJECT: usize = 1 << 20;
/// Members whose value repeats an error from the list before them.
const REPEATING_MEMBERS: [&str; 3] = ["lastError:", "[cause]:", "cause:"];
/// Made-up time between consecutive attempts without a time, in µs.
const BETWEEN_ATTEMPTS_US: i64 = 1_000;

/// Recognizes printed errors, line by line.
#[derive(Default)]
struct ErrorTracker {
    /// Indentation of the retry error being printed.
    retry_error: Option<usize>,
    /// The error of an attempt being printed.
    attempt_error: Option<PartialError>,
}

/// The error of an attempt of which not all lines were read.
struct PartialError {
    indent: usize,
    /// Whether it repeats an error printed before.
    is_repeated: bool,
    /// The members read so far; `None` during the stack trace before them.
    members: Option<String>,
}

/// What a line of a printed error means.
enum Event {
    RetryErrorBegins,
    AttemptErrorBegins,
    /// The error of an attempt is complete: its members.
    AttemptErrorEnds(String),
    RetryErrorEnds,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

impl ErrorTracker {
    fn line(&mut self, line: &str) -> Option<Event> {
        let (text, depth) = (line.trim(), indent(line));
        if let Some(PartialError { indent, is_repeated, members }) = &mut self.attempt_error {
            if depth <= *indent && text.starts_with('}') {
                let (is_repeated, members) = (*is_repeated, members.take());
                self.attempt_error = None;
                let members = members.filter(|members| !is_repeated && members.contains("statusCode"));
                return members.map(|members| Event::AttemptErrorEnds(format!("{{{members}}}")));
            }
            if depth > *indent || text.is_empty() {
                match members {
                    Some(members) if members.len() + line.len() < MAX_OBJECT => {
                        members.push('\n');
                        members.push_str(line);
                    }
                    Some(_) => self.attempt_error = None,
                    // The last line of the stack trace.
                    None if text.ends_with('{') => *members = Some(String::new()),
                    None => {}
                }
                return None;
            }
            // The error has no members.
            self.attempt_error = None;
        }
        if text.contains(API_ERROR) && !text.contains(RETRY_ERROR) {
            let is_repeated = REPEATING_MEMBERS.iter().any(|key| text.starts_with(key));
            let members = text.ends_with('{').then(String::new);
            self.attempt_error = Some(PartialError { indent: depth, is_repeated, members });
            return (!is_repeated).then_some(Event::AttemptErrorBegins);
        }
        if text.contains(RETRY_ERROR) {
            self.retry_error = Some(depth);
            return Some(Event::RetryErrorBegins);
        }
        if self.retry_error.is_some_and(|indent| depth <= indent && text.starts_with('}')) {
            self.retry_error = None;
            return Some(Event::RetryErrorEnds);
        }
        None
    }
}

#[derive(Default)]
struct ErrorDecoder {
    tracker: ErrorTracker,
    clock: Clock,
    /// Line, defaults and text of the first line of the error being printed.
    first_line: Option<(u32, Option<Defaults>, String)>,
    /// Errors of the attempts of the current call.
    errors: Vec<PrintedError>,
    /// Number of attempts and of calls emitted so far.
    attempts: i64,
    calls: u64,
}

/// The error of an attempt.
struct PrintedError {
    line: u32,
    defaults: Option<Defaults>,
    raw: String,
    /// The members as JSON.
    members: String,
}

impl Decoder for ErrorDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            if !self.line(sink, line, at) {
                sink.noise();
            }
        });
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.emit(sink);
    }
}

impl ErrorDecoder {
    /// Processes a line. Returns whether it completes an attempt, so that the attempt is counted for this line.
    fn line(&mut self, sink: &mut Sink<'_>, line: &str, at: Position<'_>) -> bool {
        match self.tracker.line(line) {
            Some(Event::RetryErrorBegins) => self.emit(sink),
            Some(Event::AttemptErrorBegins) => {
                // The time of an error is that of its first line.
                self.clock.read(line, &at, sink.zone());
                self.first_line = Some((at.line, at.defaults.cloned(), line.trim().to_owned()));
            }
            Some(Event::AttemptErrorEnds(members)) => {
                let Some((line, defaults, raw)) = self.first_line.take() else { return false };
                self.errors.push(PrintedError { line, defaults, raw, members: to_json(&members).0 });
                if self.tracker.retry_error.is_none() {
                    self.emit(sink);
                }
                return true;
            }
            Some(Event::RetryErrorEnds) => self.emit(sink),
            None => {}
        }
        false
    }

    /// Emits the attempts of a call.
    fn emit(&mut self, sink: &mut Sink<'_>) {
        let errors = std::mem::take(&mut self.errors);
        if errors.is_empty() {
            return;
        }
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        for (nth, error) in errors.iter().enumerate() {
            self.attempts += 1;
            let members = Members::of(&error.members).unwrap_or_default();
            let (headers, body) = (members.object_text("responseHeaders"), members.object_text("responseBody"));
            let mut record = Record { success: Some(false), times: Times::OrderOnly, ..Record::default() };
            // A retry error does not tell when its attempts were made.
            record.put(Field::EndedAt, UNTIMED_START.plus_us(self.attempts * BETWEEN_ATTEMPTS_US).0);
            let at = Position { line: error.line, record: 0, defaults: error.defaults.as_ref() };
            if errors.len() == 1 {
                let line_time = self.clock.read(&error.raw, &at, sink.zone());
                if !line_time.is_made_up() {
                    record.put(Field::EndedAt, line_time.at.0);
                    (record.times, record.whole_seconds) = (line_time.times, line_time.is_whole_seconds);
                }
            }
            record.put(Field::CallId, call.as_str());
            record.put(Field::Number, nth as i64 + 1);
            record.put(Field::WillRetry, nth + 1 < errors.len());
            fill(&mut record, &members, &headers, &body);
            sink.record(&record, &error.raw, at);
        }
    }
}

fn fill<'t>(record: &mut Record<'t>, members: &Members<'t>, headers: &'t str, body: &'t str) {
    record.client = Some(Cow::Borrowed("ai"));
    if let Some(url) = members.scalar_text("url") {
        super::model_api::put_url(record, url);
    }
    record.put(Field::Model, members.object("requestBodyValues").scalar("model"));
    record.put(Field::Status, members.scalar("statusCode"));
    if headers.starts_with('{') {
        record.put_headers(headers);
    }
    if body.starts_with('{') {
        record.put_error(body);
    } else if !body.is_empty() {
        record.put(Field::ErrorMessage, body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Vec<String> {
        let mut tracker = ErrorTracker::default();
        let members = |event| match event {
            Event::AttemptErrorEnds(members) => Some(to_json(&members).0),
            _ => None,
        };
        text.lines().filter_map(|line| tracker.line(line)).filter_map(members).collect()
    }

    #[test]
    fn the_members_of_each_attempt_error_are_read() {
        let one = "APICallError [AI_APICallError]: no\n    at f (a.js:1:2)\n    at g (a.js:1:2) {\n  url: 'https://a/v1/messages',\n  statusCode: 401,\n  responseHeaders: {\n    'retry-after': '3'\n  },\n  isRetryable: false\n}";
        let expected = r#"{"url":"https://a/v1/messages","statusCode":401,"responseHeaders":{"retry-after":"3"},"isRetryable":false}"#;
        assert_eq!(printed(one), [expected]);
        let list = "RetryError [AI_RetryError]: Failed after 2 attempts.\n    at f (a.js:1:2) {\n  errors: [\n    APICallError [AI_APICallError]: no\n        at f (a.js:1:2) {\n      statusCode: 529\n    },\n    APICallError [AI_APICallError]: no\n        at f (a.js:1:2) {\n      statusCode: 503\n    }\n  ],\n  lastError: APICallError [AI_APICallError]: no\n      at f (a.js:1:2) {\n    statusCode: 503\n  }\n}";
        assert_eq!(printed(list), [r#"{"statusCode":529}"#, r#"{"statusCode":503}"#]);
        for other in
            ["RetryError [AI_RetryError]: Failed", "APICallError [AI_APICallError]: no\nnext {\n  statusCode: 5\n}"]
        {
            assert_eq!(printed(other), [""; 0], "{other}");
        }
    }
}
