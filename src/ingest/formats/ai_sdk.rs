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
        let mut seen = Seen::default();
        let found = head.text().lines().any(|line| matches!(seen.line(line), Some(Event::Printed(_))));
        if found { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ErrorDecoder::default())
    }
}

const API_ERROR: &str = "[AI_APICallError]";
const RETRY_ERROR: &str = "[AI_RetryError]";
/// Maximum size of an object assembled from several lines, in bytes.
const LONGEST: usize = 1 << 20;
/// Members whose value repeats an error from the list before them.
const AGAIN: [&str; 3] = ["lastError:", "[cause]:", "cause:"];
/// Made-up distance between consecutive attempts without a time, in µs.
const APART_US: i64 = 1_000;

/// Tracks the errors printed by the latest lines.
#[derive(Default)]
struct Seen {
    /// Indentation of the retry error in progress.
    retry: Option<usize>,
    /// The attempt error in progress: its indentation, whether it repeats an earlier one, and its members read so
    /// far.
    open: Option<(usize, bool, Option<String>)>,
}

enum Event {
    /// A retry error begins.
    Retries,
    /// The error of an attempt begins.
    Begins,
    /// The error of an attempt is complete: its members.
    Printed(String),
    /// The retry error is complete.
    Over,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

impl Seen {
    fn line(&mut self, line: &str) -> Option<Event> {
        let (text, depth) = (line.trim(), indent(line));
        if let Some((from, is_again, members)) = &mut self.open {
            if depth <= *from && text.starts_with('}') {
                let (is_again, members) = (*is_again, members.take());
                self.open = None;
                let told = members.filter(|members| !is_again && members.contains("statusCode"));
                return told.map(|members| Event::Printed(format!("{{{members}}}")));
            }
            if depth > *from || text.is_empty() {
                match members {
                    Some(members) if members.len() + line.len() < LONGEST => {
                        members.push('\n');
                        members.push_str(line);
                    }
                    Some(_) => self.open = None,
                    // The last line of the stack trace.
                    None if text.ends_with('{') => *members = Some(String::new()),
                    None => {}
                }
                return None;
            }
            // The error has no members.
            self.open = None;
        }
        if text.contains(API_ERROR) && !text.contains(RETRY_ERROR) {
            let is_again = AGAIN.iter().any(|key| text.starts_with(key));
            self.open = Some((depth, is_again, text.ends_with('{').then(String::new)));
            return (!is_again).then_some(Event::Begins);
        }
        if text.contains(RETRY_ERROR) {
            self.retry = Some(depth);
            return Some(Event::Retries);
        }
        if self.retry.is_some_and(|from| depth <= from && text.starts_with('}')) {
            self.retry = None;
            return Some(Event::Over);
        }
        None
    }
}

#[derive(Default)]
struct ErrorDecoder {
    seen: Seen,
    clock: Clock,
    /// Line, context and text of the first line of the current attempt's error.
    begun: Option<(u32, Option<Defaults>, String)>,
    /// Errors collected from the current retry error.
    list: Vec<Printed>,
    attempts: i64,
    calls: u64,
}

struct Printed {
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
        self.give(sink);
    }
}

impl ErrorDecoder {
    /// Processes a line. Returns `true` if the line completes an attempt and is counted as that attempt.
    fn line(&mut self, sink: &mut Sink<'_>, line: &str, at: Position<'_>) -> bool {
        match self.seen.line(line) {
            Some(Event::Retries) => self.give(sink),
            Some(Event::Begins) => {
                // A single error is placed at its first line.
                self.clock.read(line, &at, sink.zone());
                self.begun = Some((at.line, at.defaults.cloned(), line.trim().to_owned()));
            }
            Some(Event::Printed(members)) => {
                let Some((line, defaults, raw)) = self.begun.take() else { return false };
                self.list.push(Printed { line, defaults, raw, members: to_json(&members).0 });
                if self.seen.retry.is_none() {
                    self.give(sink);
                }
                return true;
            }
            Some(Event::Over) => self.give(sink),
            None => {}
        }
        false
    }

    /// Emits the attempts of a call.
    fn give(&mut self, sink: &mut Sink<'_>) {
        let list = std::mem::take(&mut self.list);
        if list.is_empty() {
            return;
        }
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        for (nth, printed) in list.iter().enumerate() {
            self.attempts += 1;
            let members = Members::of(&printed.members).unwrap_or_default();
            let (headers, body) = (members.object_text("responseHeaders"), members.object_text("responseBody"));
            let mut record = Record { success: Some(false), times: Times::OrderOnly, ..Record::default() };
            // A retry error does not tell when its attempts were made.
            record.put(Field::EndedAt, UNTIMED_START.plus_us(self.attempts * APART_US).0);
            let at = Position { line: printed.line, record: 0, defaults: printed.defaults.as_ref() };
            if list.len() == 1 {
                let moment = self.clock.read(&printed.raw, &at, sink.zone());
                if !moment.is_made_up() {
                    record.put(Field::EndedAt, moment.at.0);
                    (record.times, record.whole_seconds) = (moment.times(), moment.is_coarse);
                }
            }
            record.put(Field::CallId, call.as_str());
            record.put(Field::Number, nth as i64 + 1);
            record.put(Field::WillRetry, nth + 1 < list.len());
            fill(&mut record, &members, &headers, &body);
            sink.record(&record, &printed.raw, at);
        }
    }
}

fn fill<'t>(record: &mut Record<'t>, members: &Members<'t>, headers: &'t str, body: &'t str) {
    record.client = Some(Cow::Borrowed("ai"));
    if let Some(url) = members.words("url") {
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
        let mut seen = Seen::default();
        let told = |event| if let Event::Printed(members) = event { Some(to_json(&members).0) } else { None };
        text.lines().filter_map(|line| seen.line(line)).filter_map(told).collect()
    }

    #[test]
    fn errors_are_put_together_from_their_members() {
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
