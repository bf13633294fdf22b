//! Attempts assembled from several lines, and the calls of an SDK they belong to.

use super::clock::LineTime;
use crate::ingest::position::{Defaults, Position};
use crate::ingest::record::{Field, Record, Times, provider_in};
use crate::ingest::sink::Sink;
use crate::model::Time;

/// State of one attempt.
#[derive(Debug, Default)]
pub(in crate::ingest::formats) struct Attempt {
    line: u32,
    record: u32,
    defaults: Option<Defaults>,
    /// Text of the line that represents the attempt.
    raw: String,
    /// When it was sent, if a line says so.
    pub(in crate::ingest::formats) begun: Option<LineTime>,
    /// When its response or failure was logged.
    pub(in crate::ingest::formats) ended: Option<LineTime>,
    pub(in crate::ingest::formats) duration_ms: Option<f64>,
    pub(in crate::ingest::formats) url: String,
    pub(in crate::ingest::formats) status: Option<i64>,
    /// Response headers as JSON.
    pub(in crate::ingest::formats) headers: Option<String>,
    pub(in crate::ingest::formats) request_id: Option<String>,
    /// The error body as JSON, or plain words.
    pub(in crate::ingest::formats) error: Option<String>,
    pub(in crate::ingest::formats) exception: Option<String>,
    /// Kind of the failure, if there is neither a status nor an exception.
    pub(in crate::ingest::formats) kind: Option<&'static str>,
    /// Whether the attempt failed in a way that no line describes.
    pub(in crate::ingest::formats) is_unexplained_failure: bool,
    pub(in crate::ingest::formats) should_retry: Option<bool>,
    /// Whether the client announced a retry.
    pub(in crate::ingest::formats) will_retry: Option<bool>,
    /// Announced wait before the next attempt, in ms.
    pub(in crate::ingest::formats) planned_ms: Option<f64>,
    /// Number of the attempt in its call, and the maximum, if logged.
    pub(in crate::ingest::formats) number: Option<i64>,
    pub(in crate::ingest::formats) max_attempts: Option<i64>,
    /// Kinds of lines that reported the attempt, as bits whose meaning each format defines.
    pub(in crate::ingest::formats) reported_by: u8,
}

/// Maximum length of a kept line, in bytes.
const MAX_RAW: usize = 4096;

impl Attempt {
    /// Starts an attempt reported by the line `raw`.
    pub(in crate::ingest::formats) fn new(raw: &str, at: &Position<'_>) -> Attempt {
        let mut attempt = Attempt::default();
        attempt.set_line(raw, at);
        attempt
    }

    /// Makes the line `raw` represent the attempt.
    pub(in crate::ingest::formats) fn set_line(&mut self, raw: &str, at: &Position<'_>) {
        (self.line, self.record, self.defaults) = (at.line, at.record, at.defaults.cloned());
        self.raw = raw[..raw.floor_char_boundary(MAX_RAW)].to_owned();
    }

    /// Returns whether the response or failure is known.
    pub(in crate::ingest::formats) fn is_over(&self) -> bool {
        self.status.is_some()
            || self.exception.is_some()
            || self.kind.is_some()
            || self.error.is_some()
            || self.is_unexplained_failure
    }

    /// Returns whether the attempt failed.
    pub(in crate::ingest::formats) fn failed(&self) -> bool {
        self.status.map_or(self.is_over(), |status| status >= 400)
    }

    /// Returns when the next attempt is due, if the client announced it.
    pub(in crate::ingest::formats) fn due(&self) -> Option<Time> {
        Some(self.ended?.at.plus_us(us_of(Some(self.planned_ms?))))
    }

    fn fill<'a>(&'a self, record: &mut Record<'a>) {
        record.put(Field::Status, self.status);
        record.put(Field::RequestId, self.request_id.as_deref());
        record.put(Field::Exception, self.exception.as_deref());
        record.put(Field::Kind, self.kind);
        record.put(Field::ShouldRetry, self.should_retry);
        record.put(Field::WillRetry, self.will_retry.or(self.planned_ms.map(|_| true)));
        record.put(Field::PlannedMs, self.planned_ms);
        record.put(Field::Number, self.number);
        record.put(Field::MaxAttempts, self.max_attempts);
        record.put(Field::DurationMs, self.duration_ms);
        if let Some(headers) = &self.headers {
            record.put_headers(headers);
        }
        if let Some(error) = &self.error {
            record.put_error(error);
        }
        if self.failed() && self.status.is_none() {
            record.success = Some(false);
        }
    }
}

/// All known attempts of a call.
#[derive(Debug, Default)]
pub(in crate::ingest::formats) struct Call {
    pub(in crate::ingest::formats) attempts: Vec<Attempt>,
    /// Id of the call, if it is needed to distinguish it from concurrent calls.
    pub(in crate::ingest::formats) id: Option<String>,
    /// Idempotency key of its requests, by which their call is recognized.
    pub(in crate::ingest::formats) key: Option<String>,
    /// Number of retries the SDK had counted before the first known attempt.
    pub(in crate::ingest::formats) counted_from: i64,
    /// Whether the attempts are those of an SDK that counts its retries.
    pub(in crate::ingest::formats) is_counted: bool,
    pub(in crate::ingest::formats) provider: Option<&'static str>,
    pub(in crate::ingest::formats) user_agent: Option<String>,
    pub(in crate::ingest::formats) model: Option<String>,
    pub(in crate::ingest::formats) is_stream: bool,
    pub(in crate::ingest::formats) max_tokens: Option<i64>,
    pub(in crate::ingest::formats) timeout_ms: Option<f64>,
    /// Fingerprint of the request body as text.
    pub(in crate::ingest::formats) request_hash: Option<String>,
    /// Whether retries repeat the body, so that another body means another request.
    pub(in crate::ingest::formats) repeats_body: bool,
    /// Whether some of its lines may belong to a concurrent call.
    pub(in crate::ingest::formats) is_guessed: bool,
}

impl Call {
    /// Emits the attempts to `sink`; those without an end are reported as unended.
    pub(in crate::ingest::formats) fn emit(&self, sink: &mut Sink<'_>) {
        let attempts = self.attempts.iter().zip(schedule(&self.attempts)).zip(self.counted_from..);
        for ((attempt, times), count) in attempts {
            let at = Position { line: attempt.line, record: attempt.record, defaults: attempt.defaults.as_ref() };
            if !attempt.is_over() {
                sink.unended(at);
                continue;
            }
            let mut record = Record::default();
            attempt.fill(&mut record);
            self.fill(&mut record);
            // The URL identifies the provider if the logger's name does not.
            let provider = || provider_in(&attempt.url).or_else(|| provider_in(&attempt.raw));
            record.put(Field::Provider, self.provider.or_else(provider));
            record.put(Field::SdkRetryCount, self.is_counted.then_some(count));
            record.put(Field::StartedAt, times.sent.0);
            record.put(Field::EndedAt, times.ended.map(|time| time.0));
            let line_time = attempt.ended.or(attempt.begun);
            record.times = line_time.map_or(Times::Dated, |line_time| line_time.times);
            record.whole_seconds = line_time.is_some_and(|line_time| line_time.is_whole_seconds);
            sink.record(&record, &attempt.raw, at);
        }
    }

    fn fill<'a>(&'a self, record: &mut Record<'a>) {
        record.put(Field::CallId, self.id.as_deref());
        record.put(Field::UserAgent, self.user_agent.as_deref());
        record.put(Field::Model, self.model.as_deref());
        record.put(Field::MaxTokens, self.max_tokens);
        record.put(Field::TimeoutMs, self.timeout_ms);
        record.put(Field::RequestHash, self.request_hash.as_deref());
        record.repeats_body = self.repeats_body;
        record.call_guessed = self.is_guessed;
        record.stream = self.is_stream;
    }

    /// Returns the last attempt.
    pub(in crate::ingest::formats) fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// Returns whether an attempt is in progress, or another was announced.
    pub(in crate::ingest::formats) fn is_active(&self) -> bool {
        self.last().is_some_and(|last| !last.is_over() || last.planned_ms.is_some())
    }
}

/// Start of an attempt, and its end if known separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AttemptTimes {
    sent: Time,
    ended: Option<Time>,
}

/// Returns the times of the attempts of a call. Between a failure and the next attempt, an SDK waits exactly as long as
/// it announces, so timestamps in whole seconds are moved within their second to agree with the announced waits.
fn schedule(attempts: &[Attempt]) -> Vec<AttemptTimes> {
    let mut shifts = shifts_us(attempts).into_iter();
    let mut due: Option<Time> = None;
    let mut times = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let mut shifted = |line_time: LineTime| (line_time.at.plus_us(shifts.next().unwrap_or(0)), line_time.slack_us);
        let begun = attempt.begun.map(&mut shifted);
        let ended = attempt.ended.map(&mut shifted);
        // A due time later than the timestamp allows shows that the client did not wait as announced.
        let is_possible = |due: &Time| begun.or(ended).is_none_or(|(at, slack_us)| due.us_since(at) <= slack_us);
        let sent = match (begun, due.filter(is_possible)) {
            (Some((begun, _)), due) => due.map_or(begun, |due| due.max(begun)),
            (None, Some(due)) => due,
            (None, None) => ended.map_or(Time(0), |(ended, _)| ended.plus_us(-us_of(attempt.duration_ms))),
        };
        let end = ended.map_or(sent, |(ended, _)| ended.max(sent));
        // If both timestamps are in the same second of a clock of whole seconds, the duration is unknown.
        let is_exact = attempt.begun.is_none() || attempt.begun.is_some_and(|begun| begun.slack_us == 0);
        let is_made_up = attempt.ended.is_some_and(|ended| ended.is_made_up());
        let is_known = !is_made_up && (end > sent || (is_exact && begun.is_some()));
        times.push(AttemptTimes { sent, ended: (is_known && attempt.duration_ms.is_none()).then_some(end) });
        let end = end.max(sent.plus_us(us_of(attempt.duration_ms)));
        due = attempt.planned_ms.map(|_| end.plus_us(us_of(attempt.planned_ms)));
    }
    times
}

fn us_of(ms: Option<f64>) -> i64 {
    (ms.unwrap_or(0.0) * 1e3) as i64
}

/// Returns for each timestamp of a call the shift in µs with which all timestamps agree with the announced waits.
///
/// A timestamp of whole seconds means a time up to `slack_us` later. From the first timestamp of a series, the
/// announced waits give the earliest possible time of each later one. How far a timestamp is behind that time, its lag,
/// bounds the shift of the first: at least the lag, and at most the lag and the slack. A timestamp that no wait
/// explains starts a new series.
fn shifts_us(attempts: &[Attempt]) -> Vec<i64> {
    let mut shifts: Vec<i64> = Vec::new();
    // Index of the first timestamp of the series, and the bounds of its shift.
    let (mut first, mut least, mut most) = (0, 0, i64::MAX);
    // Time of the next line if the first timestamp is not shifted.
    let mut expected: Option<Time> = None;
    for attempt in attempts {
        for line_time in [attempt.begun, attempt.ended].into_iter().flatten() {
            let lag = expected.map(|expected| line_time.at.us_since(expected)).filter(|lag| *lag <= line_time.slack_us);
            if lag.is_none() {
                (first, least, most) = (shifts.len(), 0, i64::MAX);
                expected = Some(line_time.at);
            }
            shifts.push(0);
            let lag = lag.unwrap_or(0);
            (least, most) = (least.max(lag), most.min(lag + line_time.slack_us));
            shifts[first] = least.min(most).max(0);
        }
        expected = expected.map(|expected| expected.plus_us(us_of(attempt.planned_ms)));
    }
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_time(ms: i64) -> Option<LineTime> {
        Some(LineTime { at: Time(ms * 1000), slack_us: 999_999, times: Times::Dated, is_whole_seconds: true })
    }

    fn failed(begun: Option<i64>, ended: i64, planned_ms: Option<f64>) -> Attempt {
        let begun = begun.and_then(line_time);
        Attempt { begun, ended: line_time(ended), planned_ms, status: Some(529), ..Attempt::default() }
    }

    fn waits_ms(attempts: &[Attempt]) -> Vec<i64> {
        let times = schedule(attempts);
        times.windows(2).map(|pair| pair[1].sent.us_since(pair[0].ended.unwrap_or(pair[0].sent)) / 1000).collect()
    }

    #[test]
    fn timestamps_of_whole_seconds_agree_with_the_announced_waits() {
        // The true times are 26.75, 27.25 and 28.10.
        let ends_only =
            [failed(None, 26_000, Some(490.0)), failed(None, 27_000, Some(840.0)), failed(None, 28_000, None)];
        assert_eq!(waits_ms(&ends_only), [490, 840]);
        let starts_and_ends = [
            failed(Some(26_000), 26_000, Some(490.0)),
            failed(Some(27_000), 27_000, Some(840.0)),
            failed(Some(28_000), 28_000, None),
        ];
        assert_eq!(waits_ms(&starts_and_ends), [490, 840]);
        assert!(schedule(&starts_and_ends).iter().all(|times| times.ended.is_none()), "no duration is known");
    }

    #[test]
    fn durations_of_seconds_are_known() {
        let slow = [failed(Some(10_000), 15_000, Some(500.0)), failed(Some(15_000), 21_000, None)];
        assert_eq!(waits_ms(&slow), [500]);
        let late = [failed(Some(10_000), 15_000, Some(810.0)), failed(Some(16_000), 16_000, None)];
        assert_eq!(waits_ms(&late), [810]);
        let times = schedule(&slow);
        assert!(times[0].ended.is_some_and(|ended| ended.us_since(times[0].sent) == 5_000_000), "{times:?}");
    }
}
