//! Lines in which retry loops tell of a failure and of the retry that follows, in whatever logger.

mod line;

use super::text::attempt::{Attempt, Call};
use super::text::clock::{Clock, Moment};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;
use line::{Failure, Retry, failure_in, may_tell, retry_in};

/// What tenacity, backoff, botocore, Spring's retries and agents write when they retry.
pub(in crate::ingest) struct RetryLines;

impl Format for RetryLines {
    fn name(&self) -> &'static str {
        "retry-lines"
    }

    fn description(&self) -> &'static str {
        "Lines of retry loops (tenacity, backoff, botocore, Spring, agents) in the text of any logger."
    }

    fn told_by(&self) -> &'static str {
        "lines that tell of a failure and of its retry, or of the body of an SDK's error"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut fit, mut all) = (0, 0);
        for line in head.lines().filter(|line| !is_continued(line)) {
            all += 1;
            fit += usize::from(!line.starts_with(['{', '[']) || !line.ends_with(['}', ']'])) & usize::from(fits(line));
        }
        Match::weak(fit, all)
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(RetryDecoder::default())
    }
}

fn fits(line: &str) -> bool {
    if !may_tell(line) {
        return false;
    }
    let retry = retry_in(line);
    failure_in(line, retry.is_some()).is_some_and(|failure| retry.is_some() || failure.is_sdks)
}

/// Whether a line goes on with what the one before says.
fn is_continued(line: &str) -> bool {
    line.starts_with([' ', '\t', '}', ']', '<'])
}

/// Lines of one failure are written within so many µs.
const TOGETHER_US: i64 = 50_000;
/// A retry is announced within so many lines of its failure.
const NEAR: u32 = 3;

#[derive(Default)]
struct RetryDecoder {
    clock: Clock,
    /// The latest failure, to which more lines may belong.
    open: Option<Open>,
    /// Lines so far.
    lines: u32,
}

/// A failure, and where it was told.
struct Open {
    attempt: Attempt,
    moment: Moment,
    line: u32,
    /// Its retry was announced.
    is_announced: bool,
}

impl Decoder for RetryDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            self.lines = self.lines.saturating_add(1);
            if !may_tell(line) || !self.line(sink, line, &at) {
                sink.noise();
            }
        });
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.give(sink);
    }
}

impl RetryDecoder {
    /// Takes in a line; whether it begins an attempt.
    fn line(&mut self, sink: &mut Sink<'_>, line: &str, at: &Position<'_>) -> bool {
        let retry = retry_in(line);
        let failure = failure_in(line, retry.is_some());
        match (failure, retry) {
            (Some(failure), retry) => {
                let is_continued = is_continued(line);
                if retry.is_none() && !failure.is_sdks && !is_continued && failure.exception.is_none() {
                    return false;
                }
                let moment = self.clock.read(line, at, sink.zone());
                if self.adds(&failure, retry.as_ref(), &moment, is_continued) {
                    self.fill(failure, retry);
                    return false;
                }
                // Words of an exception alone may be anything's.
                if retry.is_none() && !failure.is_sdks {
                    return false;
                }
                self.begin(sink, line, at, moment);
                self.fill(failure, retry);
                true
            }
            (None, Some(retry)) => {
                let moment = self.clock.read(line, at, sink.zone());
                let is_near = |open: &Open| !open.is_announced && self.lines - open.line <= NEAR;
                let is_known = self.open.as_ref().is_some_and(is_near);
                // Of a failure that no line tells of, a retry with neither a number nor a wait says too little.
                if !is_known && (retry.is_last || (retry.number.is_none() && retry.wait_ms.is_none())) {
                    return false;
                }
                if !is_known {
                    self.begin(sink, line, at, moment);
                }
                self.announce(retry);
                !is_known
            }
            (None, None) => false,
        }
    }

    /// Whether a line says more of the latest failure, and tells of no other.
    fn adds(&self, failure: &Failure, retry: Option<&Retry>, moment: &Moment, is_continued: bool) -> bool {
        let Some(open) = &self.open else { return false };
        let attempt = &open.attempt;
        let is_near = self.lines - open.line <= NEAR;
        let is_together = !moment.is_made_up && moment.at.us_since(open.moment.at).abs() <= TOGETHER_US;
        let is_news = attempt.status.is_none() || failure.status.is_none() || attempt.status == failure.status;
        let lacks_body = !attempt.error.as_deref().is_some_and(|error| error.starts_with('{'));
        is_near && is_news && (retry.is_none() || !open.is_announced) && (is_continued || (is_together && lacks_body))
    }

    fn begin(&mut self, sink: &mut Sink<'_>, line: &str, at: &Position<'_>, moment: Moment) {
        self.give(sink);
        let mut attempt = Attempt::new(line, at);
        attempt.ended = Some(moment);
        attempt.is_lost = true;
        self.open = Some(Open { attempt, moment, line: self.lines, is_announced: false });
    }

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
    }

    fn announce(&mut self, retry: Retry) {
        let Some(open) = &mut self.open else { return };
        open.is_announced = true;
        open.attempt.planned_ms = retry.wait_ms;
        open.attempt.number = retry.number;
        open.attempt.max_attempts = retry.max_attempts;
        if let Some(due) = open.attempt.due() {
            self.clock.pass(due);
        }
    }

    fn give(&mut self, sink: &mut Sink<'_>) {
        let Some(open) = self.open.take() else { return };
        let call = Call { attempts: vec![open.attempt], ..Call::default() };
        if call.give(sink) == 0 {
            sink.noise();
        }
    }
}
