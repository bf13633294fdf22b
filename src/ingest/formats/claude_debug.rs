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
        if !["[API REQUEST] ", "API error (attempt "].iter().any(|mark| head.text().contains(mark)) {
            return Match::No;
        }
        let told = |line: &&str| matches!(read(line), Some(Message::Sent { .. } | Message::Failed { .. }));
        if head.lines().any(|line| told(&line)) { Match::Sure } else { Match::No }
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
        most: i64,
        status: Option<i64>,
        words: &'l str,
    },
    /// The response has begun.
    Answered,
    /// The failure was shown to the user; the request is not retried.
    GaveUp,
}

static FRONT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* \[(?:DEBUG|INFO|WARN|ERROR)\] ").ok());
static FAILED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^API error \(attempt (\d{1,4})/(\d{1,4})\): (?:(\d{3})\b)?").ok());

fn read(line: &str) -> Option<Message<'_>> {
    let text = &line[FRONT.as_ref()?.find(line)?.end()..];
    if let Some(path) = text.strip_prefix("[API REQUEST] ") {
        return Some(Message::Sent { path: path.split(' ').next()? });
    }
    if let Some(rest) = text.strip_prefix("[API:timing] dispatching to ") {
        return rest.split_once("model=").map(|(_, model)| Message::Model(model.split(' ').next().unwrap_or_default()));
    }
    if text.starts_with("Stream started") {
        return Some(Message::Answered);
    }
    if text.starts_with("Error in API request: ") {
        return Some(Message::GaveUp);
    }
    let found = FAILED.as_ref()?.captures(text)?;
    let status = found.get(3).and_then(|digits| digits.as_str().parse().ok());
    let (number, most) = (found.get(1)?.as_str().parse().ok()?, found.get(2)?.as_str().parse().ok()?);
    Some(Message::Failed { number, most, status, words: &text[found.get(0)?.end()..] })
}

#[derive(Default)]
struct DebugDecoder {
    clock: Clock,
    /// Calls in progress, oldest first.
    calls: Vec<Call>,
    model: Option<String>,
    named: usize,
}

/// Maximum number of calls kept at once; beyond it, the oldest is emitted.
const MOST_CALLS: usize = 256;

impl Decoder for DebugDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let stands = read(line).is_some_and(|message| self.take(sink, &message, line, &at));
            if !stands {
                sink.noise();
            }
        });
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.calls).iter().for_each(|call| call.give(sink));
    }
}

impl DebugDecoder {
    /// Processes a message. Returns whether an attempt begins at its line.
    fn take(&mut self, sink: &mut Sink<'_>, message: &Message<'_>, line: &str, at: &Position<'_>) -> bool {
        let moment = self.clock.read(line, at, sink.zone());
        match *message {
            Message::Model(model) => self.model = Some(model.to_owned()),
            Message::Sent { path } => {
                let place = self.due(sink);
                let mut attempt = Attempt::new(line, at);
                (attempt.begun, attempt.url) = (Some(moment), path.to_owned());
                let call = &mut self.calls[place];
                attempt.number = Some(call.attempts.len() as i64 + 1);
                call.model = self.model.clone().or(call.model.take());
                call.attempts.push(attempt);
                return true;
            }
            Message::Failed { number, most, status, words } => {
                let (place, begins) = self.waiting(sink, number, line, at);
                if let Some(attempt) = self.calls[place].attempts.last_mut() {
                    attempt.ended = Some(moment);
                    attempt.status = status;
                    attempt.max_attempts = Some(most);
                    attempt.error = Some(words.find('{').map_or(words, |start| &words[start..]).trim().to_owned());
                    attempt.kind = status.is_none().then_some("connection_error");
                }
                return begins;
            }
            Message::Answered => {
                let place = self.calls.iter().position(|call| call.last().is_some_and(|last| !last.is_over()));
                if let Some(place) = place {
                    let mut call = self.calls.remove(place);
                    if let Some(attempt) = call.attempts.last_mut() {
                        (attempt.ended, attempt.status) = (Some(moment), Some(200));
                    }
                    call.give(sink);
                }
            }
            Message::GaveUp => {
                let place = self.calls.iter().rposition(|call| call.last().is_some_and(Attempt::is_over));
                if let Some(place) = place {
                    let mut call = self.calls.remove(place);
                    if let Some(attempt) = call.attempts.last_mut() {
                        attempt.will_retry = Some(false);
                    }
                    call.give(sink);
                }
            }
        }
        false
    }

    /// Returns the index of the call the next request belongs to: one whose latest attempt failed, or a new one.
    fn due(&mut self, sink: &mut Sink<'_>) -> usize {
        let failed = |call: &Call| call.last().is_some_and(Attempt::is_over);
        self.calls.iter().position(failed).unwrap_or_else(|| self.open(sink))
    }

    fn open(&mut self, sink: &mut Sink<'_>) -> usize {
        if self.calls.len() >= MOST_CALLS {
            self.calls.remove(0).give(sink);
        }
        self.named += 1;
        let name = Some(format!("call-{}", self.named));
        let user_agent = Some("claude-cli".to_owned());
        self.calls.push(Call { name, user_agent, provider: Some("anthropic"), ..Call::default() });
        self.calls.len() - 1
    }

    /// Returns the index of the call whose attempt `number` failed, and whether this line is the first to mention
    /// that attempt.
    fn waiting(&mut self, sink: &mut Sink<'_>, number: usize, line: &str, at: &Position<'_>) -> (usize, bool) {
        let waits = |call: &Call| call.last().is_some_and(|last| !last.is_over());
        let is_it = |call: &Call| waits(call) && call.attempts.len() == number;
        let place = self.calls.iter().position(is_it).or_else(|| self.calls.iter().position(waits));
        if let Some(place) = place {
            return (place, false);
        }
        // The log starts in the middle of a call, or lacks the request lines.
        let place = if number > 1 { self.due(sink) } else { self.open(sink) };
        let mut attempt = Attempt::new(line, at);
        attempt.number = Some(number as i64);
        self.calls[place].attempts.push(attempt);
        (place, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lines_say() {
        let at = "2026-03-02T18:09:23.385Z [DEBUG] ";
        for (text, expected) in [
            ("[API REQUEST] /v1/messages source=sdk", Some(Message::Sent { path: "/v1/messages" })),
            ("[API:timing] dispatching to firstParty model=m", Some(Message::Model("m"))),
            ("Stream started - received first chunk", Some(Message::Answered)),
            ("Error in API request: 429 {}", Some(Message::GaveUp)),
            (
                "API error (attempt 2/11): 529 529 {}",
                Some(Message::Failed { number: 2, most: 11, status: Some(529), words: " 529 {}" }),
            ),
            (
                "API error (attempt 1/11): undefined Connection error.",
                Some(Message::Failed { number: 1, most: 11, status: None, words: "undefined Connection error." }),
            ),
            ("Hooks: checkForNewResponses returning 0 responses", None),
        ] {
            assert_eq!(read(&format!("{at}{text}")), expected, "{text}");
            assert_eq!(read(text), None, "{text}");
        }
    }
}
