//! Debug log of Claude Code (`claude --debug`, or standard error of the Agent SDK): one line for each request, and
//! one for each error or first chunk of a response.

use super::text::attempt::{Attempt, Call};
use super::text::clock::Clock;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;
use regex::Regex;
use std::sync::LazyLock;

/// Format of the command line program's log lines: `<time> [LEVEL] message`.
pub(in crate::ingest) struct ClaudeDebug;

impl Format for ClaudeDebug {
    fn name(&self) -> &'static str {
        "claude-debug"
    }

    fn description(&self) -> &'static str {
        "The debug log of Claude Code."
    }

    fn detected_by(&self) -> &'static str {
        "`[API REQUEST]` and `API error (attempt 1/11)` behind a time and a level"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        if !["[API REQUEST] ", "API error (attempt "].iter().any(|text| head.text().contains(text)) {
            return Match::No;
        }
        let is_about_request = |line: &str| matches!(read(line), Some(Message::Sent { .. } | Message::Failed { .. }));
        if head.lines().any(is_about_request) { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(DebugDecoder::default())
    }
}

/// A message that concerns attempts.
#[derive(Debug, PartialEq)]
enum Message<'l> {
    Model(&'l str),
    Sent {
        path: &'l str,
    },
    Failed {
        number: usize,
        max_attempts: i64,
        status: Option<i64>,
        text: &'l str,
    },
    /// The response has begun.
    ResponseBegan,
    /// The failure was shown to the user; the request is not retried.
    GaveUp,
}

/// Time and level at the start of a line.
static PREFIX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* \[(?:DEBUG|INFO|WARN|ERROR)\] ").ok());
static FAILED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^API error \(attempt (\d{1,4})/(\d{1,4})\): (?:(\d{3})\b)?").ok());

/// Returns the message of a line, if it concerns attempts.
fn read(line: &str) -> Option<Message<'_>> {
    let text = &line[PREFIX.as_ref()?.find(line)?.end()..];
    if let Some(path) = text.strip_prefix("[API REQUEST] ") {
        return Some(Message::Sent { path: path.split(' ').next()? });
    }
    if let Some(rest) = text.strip_prefix("[API:timing] dispatching to ") {
        return rest.split_once("model=").map(|(_, model)| Message::Model(model.split(' ').next().unwrap_or_default()));
    }
    if text.starts_with("Stream started") {
        return Some(Message::ResponseBegan);
    }
    if text.starts_with("Error in API request: ") {
        return Some(Message::GaveUp);
    }
    let found = FAILED.as_ref()?.captures(text)?;
    let status = found.get(3).and_then(|digits| digits.as_str().parse().ok());
    let (number, max_attempts) = (found.get(1)?.as_str().parse().ok()?, found.get(2)?.as_str().parse().ok()?);
    Some(Message::Failed { number, max_attempts, status, text: &text[found.get(0)?.end()..] })
}

#[derive(Default)]
struct DebugDecoder {
    clock: Clock,
    /// Calls in progress, oldest first.
    calls: Vec<Call>,
    /// Model of the next request.
    model: Option<String>,
    /// Number of calls begun so far.
    begun: usize,
}

/// Maximum number of calls in progress; the oldest is emitted to make room for another.
const MAX_CALLS: usize = 256;

impl Decoder for DebugDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let begins_attempt = read(line).is_some_and(|message| self.take(sink, &message, line, &at));
            if !begins_attempt {
                sink.noise();
            }
        });
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.calls).iter().for_each(|call| call.emit(sink));
    }
}

impl DebugDecoder {
    /// Processes a message. Returns whether an attempt begins at its line.
    fn take(&mut self, sink: &mut Sink<'_>, message: &Message<'_>, line: &str, at: &Position<'_>) -> bool {
        let line_time = self.clock.read(line, at, sink.zone());
        match *message {
            Message::Model(model) => self.model = Some(model.to_owned()),
            Message::Sent { path } => {
                let index = self.retried_or_new_call(sink);
                let mut attempt = Attempt::new(line, at);
                (attempt.begun, attempt.url) = (Some(line_time), path.to_owned());
                let call = &mut self.calls[index];
                attempt.number = Some(call.attempts.len() as i64 + 1);
                call.model = self.model.clone().or(call.model.take());
                call.attempts.push(attempt);
                return true;
            }
            Message::Failed { number, max_attempts, status, text } => {
                let (index, is_new) = self.call_with_attempt(sink, number, line, at);
                if let Some(attempt) = self.calls[index].attempts.last_mut() {
                    attempt.ended = Some(line_time);
                    attempt.status = status;
                    attempt.max_attempts = Some(max_attempts);
                    attempt.error = Some(text.find('{').map_or(text, |start| &text[start..]).trim().to_owned());
                    attempt.kind = status.is_none().then_some("connection_error");
                }
                return is_new;
            }
            Message::ResponseBegan => {
                let index = self.calls.iter().position(|call| call.last().is_some_and(|last| !last.is_over()));
                if let Some(index) = index {
                    let mut call = self.calls.remove(index);
                    if let Some(attempt) = call.attempts.last_mut() {
                        (attempt.ended, attempt.status) = (Some(line_time), Some(200));
                    }
                    call.emit(sink);
                }
            }
            Message::GaveUp => {
                let index = self.calls.iter().rposition(|call| call.last().is_some_and(Attempt::is_over));
                if let Some(index) = index {
                    let mut call = self.calls.remove(index);
                    if let Some(attempt) = call.attempts.last_mut() {
                        attempt.will_retry = Some(false);
                    }
                    call.emit(sink);
                }
            }
        }
        false
    }

    /// Returns the index of the call the next request belongs to: one whose latest attempt failed, or a new one.
    fn retried_or_new_call(&mut self, sink: &mut Sink<'_>) -> usize {
        let failed = |call: &Call| call.last().is_some_and(Attempt::is_over);
        self.calls.iter().position(failed).unwrap_or_else(|| self.begin_call(sink))
    }

    /// Begins a call and returns its index.
    fn begin_call(&mut self, sink: &mut Sink<'_>) -> usize {
        if self.calls.len() >= MAX_CALLS {
            self.calls.remove(0).emit(sink);
        }
        self.begun += 1;
        let id = Some(format!("call-{}", self.begun));
        let user_agent = Some("claude-cli".to_owned());
        self.calls.push(Call { id, user_agent, provider: Some("anthropic"), ..Call::default() });
        self.calls.len() - 1
    }

    /// Returns the index of the call whose attempt `number` failed, and whether this line is the first to mention
    /// that attempt.
    fn call_with_attempt(
        &mut self,
        sink: &mut Sink<'_>,
        number: usize,
        line: &str,
        at: &Position<'_>,
    ) -> (usize, bool) {
        let is_in_progress = |call: &Call| call.last().is_some_and(|last| !last.is_over());
        let has_number = |call: &Call| is_in_progress(call) && call.attempts.len() == number;
        let by_number = self.calls.iter().position(has_number);
        if let Some(index) = by_number.or_else(|| self.calls.iter().position(is_in_progress)) {
            return (index, false);
        }
        // The log starts in the middle of a call, or lacks the request lines.
        let index = if number > 1 { self.retried_or_new_call(sink) } else { self.begin_call(sink) };
        let mut attempt = Attempt::new(line, at);
        attempt.number = Some(number as i64);
        self.calls[index].attempts.push(attempt);
        (index, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        let at = "2026-03-02T18:09:23.385Z [DEBUG] ";
        for (text, expected) in [
            ("[API REQUEST] /v1/messages source=sdk", Some(Message::Sent { path: "/v1/messages" })),
            ("[API:timing] dispatching to firstParty model=m", Some(Message::Model("m"))),
            ("Stream started - received first chunk", Some(Message::ResponseBegan)),
            ("Error in API request: 429 {}", Some(Message::GaveUp)),
            (
                "API error (attempt 2/11): 529 529 {}",
                Some(Message::Failed { number: 2, max_attempts: 11, status: Some(529), text: " 529 {}" }),
            ),
            (
                "API error (attempt 1/11): undefined Connection error.",
                Some(Message::Failed {
                    number: 1,
                    max_attempts: 11,
                    status: None,
                    text: "undefined Connection error.",
                }),
            ),
            ("Hooks: checkForNewResponses returning 0 responses", None),
        ] {
            assert_eq!(read(&format!("{at}{text}")), expected, "{text}");
            assert_eq!(read(text), None, "{text}");
        }
    }
}
