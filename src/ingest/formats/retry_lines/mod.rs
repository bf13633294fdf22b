//! Lines in which retry loops report a failure and the retry that follows, in the log of any logger.

mod line;
mod line_flags;

use super::json_objects::Members;
use super::text::attempt::{Attempt, Call};
use super::text::clock::{Clock, LineTime};
use super::text::literal::to_json;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;
use line::{Failure, Retry, read};

/// Format of lines written on retries by tenacity, backoff, botocore, Spring and coding agents.
pub(in crate::ingest) struct RetryLines;

impl Format for RetryLines {
    fn name(&self) -> &'static str {
        "retry-lines"
    }

    fn description(&self) -> &'static str {
        "Lines of retry loops (tenacity, backoff, botocore, Spring, agents) in the text of any logger."
    }

    fn detected_by(&self) -> &'static str {
        "lines that tell of a failure and of its retry, or of the body of an SDK's error"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut fit, mut all) = (0, 0_u32);
        // Numbers of the latest lines that report a failure and announce a retry.
        let (mut failed, mut retried) = (None, None);
        for line in head.text().lines().filter(|line| !line.trim().is_empty()) {
            all += u32::from(!is_continued(line));
            let is_json = line.starts_with('{') || line.starts_with("[{");
            let Some((retry, failure)) = (if is_json { None } else { read(line) }) else { continue };
            let Some(failure) = failure else {
                retried = retry.filter(Retry::has_details).map(|_| all).or(retried);
                fit += usize::from(retried == Some(all) && is_near(failed, all));
                continue;
            };
            failed = Some(all).filter(|_| failure.is_specific).or(failed);
            fit += usize::from(
                retry.is_some() || failure.is_of_provider || (failure.is_specific && is_near(retried, all)),
            );
        }
        Match::weak(fit, fit.max(all as usize))
    }

    fn notes(&self, _: &Head<'_>) -> Vec<String> {
        let note = "lines on retries tell of failures alone: a call whose last retry succeeded looks as if it had failed, \
                    and calls that succeeded at once are not counted";
        vec![note.to_owned()]
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(RetryDecoder::default())
    }
}

/// Returns whether `line` is at most [`MAX_LINES_APART`] lines after `before`.
fn is_near(before: Option<u32>, line: u32) -> bool {
    before.is_some_and(|before| line - before <= MAX_LINES_APART)
}

/// Returns whether a line continues the one before.
fn is_continued(line: &str) -> bool {
    line.starts_with([' ', '\t', '}', ']', '<'])
}

/// Maximum time in µs between lines about the same failure.
const SAME_FAILURE_US: i64 = 50_000;
/// Maximum number of lines from a failure to the announcement of its retry.
const MAX_LINES_APART: u32 = 3;
/// Maximum size of a body assembled from several lines, in bytes.
const MAX_BODY: usize = 1 << 16;

#[derive(Default)]
struct RetryDecoder {
    clock: Clock,
    /// The latest attempt that failed, to which further lines may belong.
    open: Option<OpenAttempt>,
    /// The latest failure that becomes an attempt only if a retry follows, and its line.
    uncertain: Option<(Failure, u32)>,
    /// The lines read so far of the body of the latest failure.
    partial_body: Option<String>,
    /// Number of lines read so far, not counting continuations.
    lines: u32,
}

/// Fills an attempt from an object printed over several lines: the response body, or an SDK's error that contains it.
fn fill_from_object(attempt: &mut Attempt, json: String) {
    let members = Members::of(&json).unwrap_or_default();
    let headers = members.object_text("headers");
    if attempt.headers.is_none() && headers.starts_with('{') {
        attempt.headers = Some(headers.into_owned());
    }
    attempt.status = attempt.status.or(members.integer("status"));
    if attempt.request_id.is_none() {
        let id = members.scalar_text("request_id").or_else(|| members.scalar_text("requestID"));
        attempt.request_id = id.map(|id| id.into_owned());
    }
    // Without a response body, the message of the error is more specific.
    let has_no_body = json.contains("\"error\":null") && attempt.error.is_some();
    attempt.error = if has_no_body { attempt.error.take() } else { Some(json) };
}

/// A failed attempt, and where the failure was reported.
struct OpenAttempt {
    attempt: Attempt,
    line_time: LineTime,
    line: u32,
    /// Whether its retry was announced.
    is_announced: bool,
}

impl Decoder for RetryDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            self.lines = self.lines.saturating_add(u32::from(!is_continued(line)));
            if self.continue_body(line) || self.begin_members(line) || !self.line(sink, line, &at) {
                sink.noise();
            }
        });
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.emit(sink);
    }
}

impl RetryDecoder {
    /// Adds a line to the body of the latest failure if not all lines of it were read. Returns whether it did.
    fn continue_body(&mut self, line: &str) -> bool {
        let Some(mut body) = self.partial_body.take() else { return false };
        body.push('\n');
        body.push_str(line);
        if !line.starts_with('}') && body.len() < MAX_BODY {
            self.partial_body = Some(body);
        } else if let Some(open) = &mut self.open {
            fill_from_object(&mut open.attempt, to_json(&body).0);
            open.line = self.lines;
        }
        true
    }

    /// Begins the body of the latest failure if a line is the last of a Node stack trace, after which its members are
    /// printed. Returns whether it did.
    fn begin_members(&mut self, line: &str) -> bool {
        let ends_stack = is_continued(line) && line.trim_start().starts_with("at ") && line.ends_with(" {");
        let follows_failure = || self.open.as_ref().is_some_and(|open| is_near(Some(open.line), self.lines));
        if !ends_stack || !follows_failure() {
            return false;
        }
        self.partial_body = Some("{".to_owned());
        true
    }

    /// Processes a line. Returns whether it begins an attempt.
    fn line(&mut self, sink: &mut Sink<'_>, line: &str, at: &Position<'_>) -> bool {
        let Some((retry, failure)) = read(line) else { return false };
        let Some(failure) = failure else {
            return retry.is_some_and(|retry| self.retry(sink, retry, line, at));
        };
        let line_time = self.clock.read(line, at, sink.zone());
        // Words in the announcement of a retry are less specific than the failure reported by the line before.
        if let Some(retry) = retry.filter(|_| !failure.is_specific && self.awaits_retry(&line_time)) {
            self.announce(retry);
            return false;
        }
        self.partial_body = (failure.is_specific && line.ends_with('{')).then(|| "{".to_owned());
        let is_new = !self.adds_to_latest(&failure, retry.as_ref(), &line_time, is_continued(line));
        if is_new && retry.is_none() && !failure.is_of_provider {
            // It may be a failure of something else, unless a retry follows.
            self.uncertain = Some((failure, self.lines));
            return false;
        }
        if is_new {
            self.begin(sink, line, at, line_time);
        }
        // Words in the announcement of a retry are less specific than the failure reported by the line before.
        let earlier =
            self.uncertain.take().filter(|(_, line)| is_near(Some(*line), self.lines) && !failure.is_specific);
        self.fill(earlier.map_or(failure, |(earlier, _)| earlier), retry);
        is_new
    }

    /// Processes a line that only announces a retry. Returns whether it begins an attempt.
    fn retry(&mut self, sink: &mut Sink<'_>, retry: Retry, line: &str, at: &Position<'_>) -> bool {
        let line_time = self.clock.read(line, at, sink.zone());
        let awaits_retry = |open: &OpenAttempt| !open.is_announced && is_near(Some(open.line), self.lines);
        if self.open.as_ref().is_some_and(awaits_retry) {
            self.announce(retry);
            return false;
        }
        let failure = self.uncertain.take().filter(|(_, line)| is_near(Some(*line), self.lines));
        // Without a reported failure, the announcement of a retry needs a number or a wait to show an attempt.
        if failure.is_none() && (retry.is_last || !retry.has_details()) {
            return false;
        }
        self.begin(sink, line, at, line_time);
        match failure {
            Some((failure, _)) => self.fill(failure, Some(retry)),
            None => self.announce(retry),
        }
        true
    }

    /// Returns whether the line before reported the latest failure, whose retry was not announced yet.
    fn awaits_retry(&self, line_time: &LineTime) -> bool {
        let is_next_line = |open: &OpenAttempt| !open.is_announced && self.lines.saturating_sub(open.line) <= 1;
        let is_same_time = |open: &OpenAttempt| {
            line_time.is_made_up() || line_time.at.us_since(open.line_time.at).abs() <= SAME_FAILURE_US
        };
        self.open.as_ref().is_some_and(|open| is_next_line(open) && is_same_time(open))
    }

    /// Returns whether a line is about the latest failure rather than another one.
    fn adds_to_latest(
        &self,
        failure: &Failure,
        retry: Option<&Retry>,
        line_time: &LineTime,
        is_continued: bool,
    ) -> bool {
        let Some(open) = &self.open else { return false };
        let attempt = &open.attempt;
        let is_near = is_near(Some(open.line), self.lines);
        let is_same_time = !line_time.is_made_up() && line_time.at.us_since(open.line_time.at).abs() <= SAME_FAILURE_US;
        let may_be_same = attempt.status.is_none() || failure.status.is_none() || attempt.status == failure.status;
        let lacks_body = !attempt.error.as_deref().is_some_and(|error| error.starts_with('{'));
        is_near
            && may_be_same
            && (retry.is_none() || !open.is_announced)
            && lacks_body
            && (is_continued || is_same_time)
    }

    /// Begins a failed attempt, after emitting the latest one.
    fn begin(&mut self, sink: &mut Sink<'_>, line: &str, at: &Position<'_>, line_time: LineTime) {
        self.emit(sink);
        let mut attempt = Attempt::new(line, at);
        attempt.ended = Some(line_time);
        attempt.is_unexplained_failure = true;
        self.open = Some(OpenAttempt { attempt, line_time, line: self.lines, is_announced: false });
    }

    /// Adds a failure and the announcement of its retry to the latest attempt.
    fn fill(&mut self, failure: Failure, retry: Option<Retry>) {
        let lines = self.lines;
        if let Some(open) = &mut self.open {
            let attempt = &mut open.attempt;
            let is_body = |error: &String| error.starts_with('{');
            attempt.status = attempt.status.or(failure.status);
            attempt.exception = attempt.exception.take().or(failure.exception);
            if attempt.error.is_none() || failure.error.as_ref().is_some_and(is_body) || failure.status.is_none() {
                attempt.error = failure.error.or(attempt.error.take());
            }
            open.line = lines;
        }
        if let Some(retry) = retry {
            self.announce(retry);
        }
        if let (Some(open), Some(last)) = (&mut self.open, failure.last_of) {
            (open.attempt.number, open.attempt.max_attempts) = (Some(last), Some(last));
            open.attempt.will_retry = Some(false);
        }
    }

    /// Adds the announcement of a retry to the latest attempt.
    fn announce(&mut self, retry: Retry) {
        let Some(open) = &mut self.open else { return };
        open.is_announced = true;
        open.attempt.will_retry = Some(!retry.is_last);
        open.attempt.planned_ms = retry.wait_ms;
        open.attempt.number = retry.number;
        open.attempt.max_attempts = retry.max_attempts;
        if let Some(due) = open.attempt.due() {
            self.clock.advance_to(due);
        }
    }

    /// Emits the latest attempt.
    fn emit(&mut self, sink: &mut Sink<'_>) {
        let Some(open) = self.open.take() else { return };
        let call = Call { attempts: vec![open.attempt], ..Call::default() };
        match call.last().is_some_and(Attempt::is_over) {
            true => call.emit(sink),
            false => sink.noise(),
        }
    }
}
