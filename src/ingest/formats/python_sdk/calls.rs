//! Calls in progress, assembled from the log lines of a Python SDK.

mod pairing;

use super::habits::{LAST_RUNG, is_model_path, is_retried, rung_of};
use super::log_line::LogLine;
use super::message::Source;
use super::options::Options;
use crate::ingest::formats::text::attempt::{Attempt, Call};
use crate::ingest::formats::text::literal::to_json;
use crate::ingest::sink::Sink;
use crate::model::Time;

/// Maximum number of calls kept at once; beyond it, the oldest is emitted.
const MOST_CALLS: usize = 4096;
/// Number of the latest calls kept that failed, to wait for the line on their retry, or are guesses.
const MOST_WAITING: usize = 256;
/// Clock tolerance in µs.
const SLACK_US: i64 = 50_000;
/// Maximum time in µs between a response and the line on its retry, in which the SDK reads the error's body.
const LONGEST_READ_US: i64 = 2_000_000;
/// Bit in `Attempt::told`: the HTTP connection logged the request, as opposed to the SDK.
const CONNECTION_SENT: u8 = 8;

/// Calls in progress, least recently updated first.
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Options and retry count logged for the next request.
    pub(super) options: Options,
    pub(super) next_count: Option<i64>,
    /// Whether the input has lines about responses.
    has_answers: bool,
    /// Whether the SDK itself logs every response, after all other loggers.
    has_sdk_lines: bool,
    /// Whether calls were in progress at the same time.
    has_concurrent: bool,
    /// Number of the last named call.
    named: usize,
    /// Latest due time of an attempt that was made.
    pub(super) reached: Time,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            calls: Vec::new(),
            options: Options::default(),
            next_count: None,
            has_answers: false,
            has_sdk_lines: false,
            has_concurrent: false,
            named: 0,
            reached: Time(i64::MIN),
        }
    }
}

/// A logged response.
pub(super) struct Answer<'l> {
    pub(super) source: Source,
    pub(super) url: &'l str,
    pub(super) status: i64,
    /// Response headers as JSON.
    pub(super) headers: Option<String>,
}

impl Calls {
    /// Emits all remaining calls.
    pub(super) fn give_all(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.calls).into_iter().for_each(|call| give(call, sink));
    }

    /// Processes a request being sent. Returns whether it is a new attempt.
    pub(super) fn sent(&mut self, sink: &mut Sink<'_>, url: &str, line: &LogLine<'_>) -> bool {
        if url.is_empty() {
            let announced = |attempt: &Attempt| !attempt.is_over() && attempt.told & CONNECTION_SENT == 0;
            if let Some(attempt) = self.last_attempts().find(|attempt| announced(attempt)) {
                attempt.told |= CONNECTION_SENT;
                // The SDK, too, may log `POST` without a URL.
                if line.provider.is_none() {
                    return false;
                }
            }
        }
        let attempt = self.begin(sink, url, line);
        attempt.begun = Some(line.moment);
        if line.provider.is_none() && url.is_empty() {
            attempt.told |= CONNECTION_SENT;
        }
        true
    }

    /// Processes a response. Returns whether it belongs to a new attempt.
    pub(super) fn answer(&mut self, sink: &mut Sink<'_>, answer: Answer<'_>, line: &LogLine<'_>) -> bool {
        let source = answer.source as u8;
        self.has_answers = true;
        self.has_sdk_lines |= answer.source == Source::Sdk;
        let is_same = |attempt: &Attempt| attempt.url.is_empty() || answer.url.is_empty() || attempt.url == answer.url;
        let told_before = |attempt: &Attempt| {
            attempt.status == Some(answer.status) && attempt.told & source == 0 && attempt.planned_ms.is_none()
        };
        // A response to a request already answered can only be the same one reported by another logger.
        let is_again =
            |attempt: &Attempt| is_same(attempt) && told_before(attempt) && answer.source != Source::Connection;
        let is_first = |attempt: &Attempt| is_same(attempt) && !attempt.is_over();
        let again = self.place(is_again);
        let place = again.or_else(|| self.place(is_first));
        let are_concurrent = self.are_concurrent(line);
        if are_concurrent {
            if again.is_some() { self.note_rivals(is_again) } else { self.note_rivals(is_first) }
        }
        let is_new = place.is_none();
        let attempt = match place.and_then(|place| self.calls[place].attempts.last_mut()) {
            Some(attempt) => attempt,
            None => self.begin(sink, answer.url, line),
        };
        attempt.told |= source;
        if attempt.status.is_none() {
            attempt.stand(line.text, &line.at);
            attempt.ended = Some(line.moment);
        }
        attempt.status = Some(answer.status);
        attempt.headers = answer.headers.or(attempt.headers.take());
        if attempt.url.is_empty() {
            attempt.url = answer.url.to_owned();
        }
        if let Some(place) = place {
            self.touch(place);
        }
        if are_concurrent {
            self.note_company();
        }
        is_new
    }

    /// Sets the provider's request id of the latest response.
    pub(super) fn request_id(&mut self, id: &str) {
        if let Some(attempt) = self.latest(|attempt| attempt.status.is_some() && attempt.request_id.is_none()) {
            attempt.request_id = Some(id.to_owned());
        }
    }

    /// Sets the server's instruction to retry or not, from the latest response.
    pub(super) fn server_says(&mut self, retry: bool) {
        if let Some(attempt) = self.latest(|attempt| attempt.status.is_some() && attempt.should_retry.is_none()) {
            attempt.should_retry = Some(retry);
        }
    }

    /// Records that the latest request got no response.
    pub(super) fn raised(&mut self, exception: &str, line: &LogLine<'_>) {
        if let Some(attempt) = self.latest(|attempt| !attempt.is_over()) {
            attempt.ended = Some(line.moment);
            attempt.exception = Some(if exception.is_empty() { "ConnectionError" } else { exception }.to_owned());
        }
    }

    /// Sets the exception named by a traceback.
    pub(super) fn raised_in_truth(&mut self, exception: &str) {
        if let Some(attempt) = self.latest(|attempt| attempt.exception.is_some() && attempt.status.is_none()) {
            attempt.exception = Some(exception.to_owned());
        }
    }

    /// Sets the error shown to the application, which belongs to the latest failure.
    pub(super) fn error(&mut self, status: i64, body: &str) {
        let ends = |attempt: &Attempt| attempt.status == Some(status) && attempt.planned_ms.is_none();
        if let Some(attempt) = self.latest(ends).filter(|attempt| attempt.error.is_none()) {
            attempt.error = Some(if body.starts_with('{') { to_json(body).0 } else { body.to_owned() });
        }
    }

    /// Processes the announcement of a retry, after the latest failure or one that was not logged. Returns whether
    /// that is a new attempt, and when the next one is due.
    pub(super) fn retry(
        &mut self,
        sink: &mut Sink<'_>,
        path: &str,
        wait_ms: f64,
        count: Option<(i64, i64)>,
        line: &LogLine<'_>,
    ) -> (bool, Time) {
        let is_recent = |attempt: &Attempt| {
            let since = |ended| line.moment.at.us_since(ended);
            attempt.ended.is_none_or(|ended| since(ended.at) <= LONGEST_READ_US.max(ended.slack_us * 2))
        };
        let is_same = |attempt: &Attempt| {
            let is_to = attempt.url.is_empty() || path.is_empty() || attempt.url.contains(path);
            attempt.planned_ms.is_none() && is_to
        };
        let failed = |attempt: &Attempt| is_same(attempt) && attempt.failed() && is_recent(attempt);
        // A server may ask for a retry of any response.
        let is_told = |attempt: &Attempt| failed(attempt) && is_retried(attempt);
        let is_lost = |attempt: &Attempt| is_same(attempt) && !attempt.is_over();
        let told = self.latest_place(is_told);
        let place = told.or_else(|| self.latest_place(is_lost)).or_else(|| self.latest_place(failed));
        if self.are_concurrent(line) {
            if told.is_some() { self.note_rivals(is_told) } else { self.note_rivals(is_lost) }
        }
        let has_client_lines = self.last_attempts().any(|attempt| attempt.told & Source::Client as u8 > 0);
        if let Some(place) = place {
            self.touch(place);
        } else {
            self.next_count = count.map(|(retry, _)| retry - 1).or(self.next_count);
            self.begin(sink, path, line);
        }
        if let Some(rung) = rung_of(wait_ms).filter(|_| count.is_none()) {
            self.settle_count(sink, rung, line);
        }
        let is_new = place.is_none();
        let Some(attempt) = self.calls.last_mut().and_then(|call| call.attempts.last_mut()) else {
            return (false, line.moment.at);
        };
        if !attempt.is_over() {
            attempt.ended = Some(line.moment);
            attempt.stand(line.text, &line.at);
            // If responses are logged, there was none.
            attempt.is_lost = true;
            attempt.kind = has_client_lines.then_some("connection_error");
        }
        attempt.planned_ms = Some(wait_ms);
        let due = attempt.due().unwrap_or(line.moment.at);
        if let Some((number, _)) = count {
            self.count_from(number);
        }
        (is_new, due)
    }

    /// Corrects the assignment of the latest attempt: the length of the SDK's wait reveals how often it had retried.
    /// If that contradicts the attempt's place in its call, it belongs to another call.
    fn settle_count(&mut self, sink: &mut Sink<'_>, rung: usize, line: &LogLine<'_>) {
        let Some(call) = self.calls.last_mut().filter(|call| call.key.is_none()) else { return };
        let count = call.counted_from as usize + call.attempts.len() - 1;
        // A wait longer than the SDK's own may have been requested by the server in headers that are not logged.
        let may_be_asked =
            call.last().is_some_and(|last| last.headers.is_none() && matches!(last.status, Some(429 | 503)));
        if count.min(LAST_RUNG) == rung || (may_be_asked && rung > count + 1) {
            return;
        }
        if call.attempts.len() == 1 {
            call.counted_from = rung as i64;
            return;
        }
        let Some(attempt) = call.attempts.pop() else { return };
        let place = self.due(&Options::default(), Some(rung as i64), &attempt.url, line);
        let place = place.unwrap_or_else(|| self.open(sink, &Options::default(), Some(rung as i64), line));
        self.calls[place].attempts.push(attempt);
        self.touch(place);
    }

    /// Sets the count of the latest call so that its last attempt is the one before retry number `retry`.
    fn count_from(&mut self, retry: i64) {
        if let Some(call) = self.calls.last_mut()
            && call.attempts.len() as i64 <= retry
        {
            call.counted_from = retry - call.attempts.len() as i64;
        }
    }

    /// Begins an attempt for a request to `url`, of a call that is due or of a new one.
    fn begin(&mut self, sink: &mut Sink<'_>, url: &str, line: &LogLine<'_>) -> &mut Attempt {
        let options = std::mem::take(&mut self.options);
        let count = self.next_count.take();
        let place = self.due(&options, count, url, line).unwrap_or_else(|| self.open(sink, &options, count, line));
        if options.key.is_some() {
            self.trade(place, line);
        }
        let due = self.calls[place].last().and_then(Attempt::due).filter(|_| !line.moment.is_made_up());
        self.reached = due.map_or(self.reached, |due| due.min(line.moment.at.plus_us(line.moment.slack_us)));
        self.touch(place);
        let place = self.calls.len() - 1;
        let call = &mut self.calls[place];
        call.user_agent = options.user_agent.or(call.user_agent.take());
        call.model = options.model.or(call.model.take());
        call.max_tokens = options.max_tokens.or(call.max_tokens);
        call.timeout_ms = options.timeout_ms.or(call.timeout_ms);
        call.is_stream |= options.is_stream;
        // Each request of the application has its own key, whatever its body.
        call.repeats_body |= options.key.is_some();
        call.request_hash = call.request_hash.take().or(options.request_hash);
        call.attempts.push(Attempt::new(line.text, &line.at));
        let last = call.attempts.len() - 1;
        call.attempts[last].url = url.to_owned();
        &mut call.attempts[last]
    }

    /// Opens a call, after emitting those that are complete.
    fn open(&mut self, sink: &mut Sink<'_>, options: &Options, count: Option<i64>, line: &LogLine<'_>) -> usize {
        let has_sdk_lines = self.has_sdk_lines;
        let mut waiting = self.calls.len();
        let is_over = |call: &mut Call| {
            waiting -= 1;
            let is_told = !has_sdk_lines || call.last().is_none_or(|last| last.told & Source::Sdk as u8 > 0);
            let is_retried = |last: &Attempt| last.failed() && is_retried(last);
            // A guess may be corrected by what follows.
            let may_go_on = waiting < MOST_WAITING && (call.is_guessed || call.last().is_some_and(is_retried));
            !call.is_active() && is_told && !may_go_on
        };
        self.calls.extract_if(.., is_over).for_each(|call| give(call, sink));
        if self.calls.len() >= MOST_CALLS {
            give(self.calls.remove(0), sink);
        }
        // Beside other calls it needs a name, since nothing else keeps its attempts together.
        let is_seen = |call: &Call| self.has_answers || call.last().is_some_and(|last| last.begun.is_some());
        let is_alone = !self.calls.iter().any(|call| call.is_active() && is_seen(call));
        let name = (!is_alone).then(|| {
            self.named += 1;
            options.key.clone().unwrap_or_else(|| format!("call-{}", self.named))
        });
        let user_agent = line.provider.map(|provider| match provider {
            "anthropic" => "Anthropic/Python".to_owned(),
            _ => "OpenAI/Python".to_owned(),
        });
        self.calls.push(Call {
            name,
            key: options.key.clone(),
            counted_from: count.unwrap_or(0),
            is_counted: true,
            provider: line.provider,
            user_agent,
            ..Call::default()
        });
        self.calls.len() - 1
    }

    /// Makes the call at `place` the most recently updated.
    fn touch(&mut self, place: usize) {
        if place + 1 < self.calls.len() {
            let call = self.calls.remove(place);
            self.calls.push(call);
        }
    }

    fn last_attempts(&mut self) -> impl DoubleEndedIterator<Item = &mut Attempt> {
        self.calls.iter_mut().filter_map(|call| call.attempts.last_mut())
    }

    /// Returns the least recently updated call whose last attempt `fits`.
    fn place(&self, fits: impl Fn(&Attempt) -> bool) -> Option<usize> {
        self.calls.iter().position(|call| call.last().is_some_and(&fits))
    }

    /// Returns the most recently updated call whose last attempt `fits`.
    fn latest_place(&self, fits: impl Fn(&Attempt) -> bool) -> Option<usize> {
        self.calls.iter().rposition(|call| call.last().is_some_and(&fits))
    }

    /// Returns the latest attempt that `fits`, and makes its call the most recently updated.
    fn latest(&mut self, fits: impl Fn(&Attempt) -> bool) -> Option<&mut Attempt> {
        let place = self.latest_place(fits)?;
        self.touch(place);
        self.calls.last_mut()?.attempts.last_mut()
    }
}

/// Emits a call without requests that were not sent to a model.
fn give(mut call: Call, sink: &mut Sink<'_>) {
    let is_of_model = |attempt: &Attempt| {
        attempt.told & Source::Sdk as u8 > 0
            || attempt.planned_ms.is_some()
            || attempt.status.is_none()
            || is_model_path(&attempt.url)
            || (attempt.url.is_empty() && attempt.failed())
    };
    let all = call.attempts.len();
    if !call.attempts.iter().all(is_of_model) {
        call.attempts.retain(is_of_model);
    }
    call.give(sink);
    (call.attempts.len()..all).for_each(|_| sink.noise());
}
