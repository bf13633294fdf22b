//! Calls in progress, assembled from the log lines of a Python SDK.

mod pairing;

use super::log_line::LogLine;
use super::message::Source;
use super::options::Options;
use super::sdk_behavior::{RETRIES_TO_LONGEST_WAIT, is_model_path, is_retried, retries_before_wait};
use crate::ingest::formats::text::attempt::{Attempt, Call};
use crate::ingest::formats::text::literal::to_json;
use crate::ingest::sink::Sink;
use crate::model::Time;

/// Maximum number of calls in progress; the least recently updated is emitted to make room for another.
const MAX_CALLS: usize = 4096;
/// Number of the latest calls among which complete ones are kept: failed ones may be retried, and guesses corrected.
const MAX_KEPT: usize = 256;
/// Tolerance in µs when times are compared: lines are written a little after what they report.
const TOLERANCE_US: i64 = 50_000;
/// Maximum time in µs between a response and the line on its retry, during which the SDK reads the body of the error.
const MAX_BODY_READ_US: i64 = 2_000_000;
/// Bit in `Attempt::reported_by`, beside those of [`Source`]: the HTTP connection logged the request.
const CONNECTION_SENT: u8 = 8;

/// Calls in progress, least recently updated first.
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Options and retry count logged for the next request.
    pub(super) next_options: Options,
    pub(super) next_count: Option<i64>,
    /// Whether the input has lines about responses.
    has_responses: bool,
    /// Whether the SDK itself logs every response, after all other loggers.
    has_sdk_lines: bool,
    /// Whether calls were in progress at the same time.
    has_concurrent: bool,
    /// Number of calls that were given an id.
    named: usize,
    /// A time that has passed: when the latest retry was due that was made.
    pub(super) passed: Time,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            calls: Vec::new(),
            next_options: Options::default(),
            next_count: None,
            has_responses: false,
            has_sdk_lines: false,
            has_concurrent: false,
            named: 0,
            passed: Time(i64::MIN),
        }
    }
}

/// A logged response.
pub(super) struct Response<'l> {
    pub(super) source: Source,
    pub(super) url: &'l str,
    pub(super) status: i64,
    /// Response headers as JSON.
    pub(super) headers: Option<String>,
}

impl Calls {
    /// Emits all remaining calls.
    pub(super) fn emit_all(&mut self, sink: &mut Sink<'_>) {
        std::mem::take(&mut self.calls).into_iter().for_each(|call| emit(call, sink));
    }

    /// Processes a request being sent. Returns whether it is a new attempt.
    pub(super) fn sent(&mut self, sink: &mut Sink<'_>, url: &str, line: &LogLine<'_>) -> bool {
        if url.is_empty() {
            let was_reported_by_sdk =
                |attempt: &Attempt| !attempt.is_over() && attempt.reported_by & CONNECTION_SENT == 0;
            if let Some(attempt) = self.last_attempts().find(|attempt| was_reported_by_sdk(attempt)) {
                attempt.reported_by |= CONNECTION_SENT;
                // The SDK may log `POST` without a URL too, which is another request.
                if line.provider.is_none() {
                    return false;
                }
            }
        }
        let attempt = self.begin(sink, url, line);
        attempt.begun = Some(line.time);
        if line.provider.is_none() && url.is_empty() {
            attempt.reported_by |= CONNECTION_SENT;
        }
        true
    }

    /// Processes a response. Returns whether it belongs to a new attempt.
    pub(super) fn response(&mut self, sink: &mut Sink<'_>, response: Response<'_>, line: &LogLine<'_>) -> bool {
        let source = response.source as u8;
        self.has_responses = true;
        self.has_sdk_lines |= response.source == Source::Sdk;
        let matches_url =
            |attempt: &Attempt| attempt.url.is_empty() || response.url.is_empty() || attempt.url == response.url;
        let reported_by_others = |attempt: &Attempt| {
            attempt.status == Some(response.status) && attempt.reported_by & source == 0 && attempt.planned_ms.is_none()
        };
        // Several loggers report each response, that of the connection first. A response of the same status that this
        // logger has not reported yet is taken to be the one that others reported.
        let is_repeated = |attempt: &Attempt| {
            matches_url(attempt) && reported_by_others(attempt) && response.source != Source::Connection
        };
        let is_first = |attempt: &Attempt| matches_url(attempt) && !attempt.is_over();
        let repeated = self.index(is_repeated);
        let index = repeated.or_else(|| self.index(is_first));
        let are_concurrent = self.are_concurrent(line);
        if are_concurrent {
            if repeated.is_some() { self.mark_guessed(is_repeated) } else { self.mark_guessed(is_first) }
        }
        let is_new = index.is_none();
        let attempt = match index.and_then(|index| self.calls[index].attempts.last_mut()) {
            Some(attempt) => attempt,
            None => self.begin(sink, response.url, line),
        };
        attempt.reported_by |= source;
        if attempt.status.is_none() {
            attempt.set_line(line.text, &line.at);
            attempt.ended = Some(line.time);
        }
        attempt.status = Some(response.status);
        attempt.headers = response.headers.or(attempt.headers.take());
        if attempt.url.is_empty() {
            attempt.url = response.url.to_owned();
        }
        if let Some(index) = index {
            self.move_to_end(index);
        }
        if are_concurrent {
            self.mark_latest_guessed();
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
            attempt.ended = Some(line.time);
            attempt.exception = Some(if exception.is_empty() { "ConnectionError" } else { exception }.to_owned());
        }
    }

    /// Sets the exception named by a traceback, which is more specific than that of the message before it.
    pub(super) fn set_exception(&mut self, exception: &str) {
        if let Some(attempt) = self.latest(|attempt| attempt.exception.is_some() && attempt.status.is_none()) {
            attempt.exception = Some(exception.to_owned());
        }
    }

    /// Sets the error shown to the application, which belongs to the latest failure.
    pub(super) fn error(&mut self, status: i64, body: &str) {
        let is_last_failure = |attempt: &Attempt| attempt.status == Some(status) && attempt.planned_ms.is_none();
        if let Some(attempt) = self.latest(is_last_failure).filter(|attempt| attempt.error.is_none()) {
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
            let since = |ended| line.time.at.us_since(ended);
            attempt.ended.is_none_or(|ended| since(ended.at) <= MAX_BODY_READ_US.max(ended.slack_us * 2))
        };
        let may_be_retried = |attempt: &Attempt| {
            let matches_path = attempt.url.is_empty() || path.is_empty() || attempt.url.contains(path);
            attempt.planned_ms.is_none() && matches_path
        };
        let failed = |attempt: &Attempt| may_be_retried(attempt) && attempt.failed() && is_recent(attempt);
        // Failures that the SDK retries are preferred to others, which it retries only if the server asks for it.
        let failed_as_retried = |attempt: &Attempt| failed(attempt) && is_retried(attempt);
        let has_no_response = |attempt: &Attempt| may_be_retried(attempt) && !attempt.is_over();
        let by_failure = self.latest_index(failed_as_retried);
        let index = by_failure.or_else(|| self.latest_index(has_no_response)).or_else(|| self.latest_index(failed));
        if self.are_concurrent(line) {
            if by_failure.is_some() { self.mark_guessed(failed_as_retried) } else { self.mark_guessed(has_no_response) }
        }
        let has_client_lines = self.last_attempts().any(|attempt| attempt.reported_by & Source::Client as u8 > 0);
        if let Some(index) = index {
            self.move_to_end(index);
        } else {
            self.next_count = count.map(|(retry, _)| retry - 1).or(self.next_count);
            self.begin(sink, path, line);
        }
        if let Some(retries) = retries_before_wait(wait_ms).filter(|_| count.is_none()) {
            self.reassign_by_wait(sink, retries, line);
        }
        let is_new = index.is_none();
        let Some(attempt) = self.calls.last_mut().and_then(|call| call.attempts.last_mut()) else {
            return (false, line.time.at);
        };
        if !attempt.is_over() {
            attempt.ended = Some(line.time);
            attempt.set_line(line.text, &line.at);
            // If the log has lines on responses, there was no response.
            attempt.is_unexplained_failure = true;
            attempt.kind = has_client_lines.then_some("connection_error");
        }
        attempt.planned_ms = Some(wait_ms);
        let due = attempt.due().unwrap_or(line.time.at);
        if let Some((number, _)) = count {
            self.set_count(number);
        }
        (is_new, due)
    }

    /// Assigns the latest attempt to another call if the length of the wait after it shows that the SDK had retried
    /// `retries` times before, and that contradicts the number of earlier attempts of its call.
    fn reassign_by_wait(&mut self, sink: &mut Sink<'_>, retries: usize, line: &LogLine<'_>) {
        let Some(call) = self.calls.last_mut().filter(|call| call.key.is_none()) else { return };
        let count = call.counted_from as usize + call.attempts.len() - 1;
        // A wait longer than the SDK's own may have been requested by the server in headers that are not logged.
        let may_follow_hint =
            call.last().is_some_and(|last| last.headers.is_none() && matches!(last.status, Some(429 | 503)));
        if count.min(RETRIES_TO_LONGEST_WAIT) == retries || (may_follow_hint && retries > count + 1) {
            return;
        }
        if call.attempts.len() == 1 {
            call.counted_from = retries as i64;
            return;
        }
        let Some(attempt) = call.attempts.pop() else { return };
        let count = Some(retries as i64);
        let continued = self.continued_call(&Options::default(), count, &attempt.url, line);
        let index = continued.unwrap_or_else(|| self.open(sink, &Options::default(), count, line));
        self.calls[index].attempts.push(attempt);
        self.move_to_end(index);
    }

    /// Sets the count of the latest call so that its last attempt is the one before retry number `retry`.
    fn set_count(&mut self, retry: i64) {
        if let Some(call) = self.calls.last_mut()
            && call.attempts.len() as i64 <= retry
        {
            call.counted_from = retry - call.attempts.len() as i64;
        }
    }

    /// Begins an attempt for a request to `url`, of the call it continues or of a new one.
    fn begin(&mut self, sink: &mut Sink<'_>, url: &str, line: &LogLine<'_>) -> &mut Attempt {
        let options = std::mem::take(&mut self.next_options);
        let count = self.next_count.take();
        let continued = self.continued_call(&options, count, url, line);
        let index = continued.unwrap_or_else(|| self.open(sink, &options, count, line));
        if options.key.is_some() {
            self.exchange_responses(index, line);
        }
        let due = self.calls[index].last().and_then(Attempt::due).filter(|_| !line.time.is_made_up());
        self.passed = due.map_or(self.passed, |due| due.min(line.time.at.plus_us(line.time.slack_us)));
        self.move_to_end(index);
        let last = self.calls.len() - 1;
        let call = &mut self.calls[last];
        call.user_agent = options.user_agent.or(call.user_agent.take());
        call.model = options.model.or(call.model.take());
        call.max_tokens = options.max_tokens.or(call.max_tokens);
        call.timeout_ms = options.timeout_ms.or(call.timeout_ms);
        call.is_stream |= options.is_stream;
        // The key identifies the call, so that another body certainly means another call.
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
        let mut later = self.calls.len();
        let is_complete = |call: &mut Call| {
            // Number of calls after this one.
            later -= 1;
            let was_reported =
                !has_sdk_lines || call.last().is_none_or(|last| last.reported_by & Source::Sdk as u8 > 0);
            let is_retried = |last: &Attempt| last.failed() && is_retried(last);
            // A guess may be corrected by later lines.
            let may_change = later < MAX_KEPT && (call.is_guessed || call.last().is_some_and(is_retried));
            !call.is_active() && was_reported && !may_change
        };
        self.calls.extract_if(.., is_complete).for_each(|call| emit(call, sink));
        if self.calls.len() >= MAX_CALLS {
            emit(self.calls.remove(0), sink);
        }
        // Among concurrent calls it needs an id, since nothing else keeps its attempts together.
        let is_certain = |call: &Call| self.has_responses || call.last().is_some_and(|last| last.begun.is_some());
        let is_alone = !self.calls.iter().any(|call| call.is_active() && is_certain(call));
        let id = (!is_alone).then(|| {
            self.named += 1;
            options.key.clone().unwrap_or_else(|| format!("call-{}", self.named))
        });
        let user_agent = line.provider.map(|provider| match provider {
            "anthropic" => "Anthropic/Python".to_owned(),
            _ => "OpenAI/Python".to_owned(),
        });
        self.calls.push(Call {
            id,
            key: options.key.clone(),
            counted_from: count.unwrap_or(0),
            is_counted: true,
            provider: line.provider,
            user_agent,
            ..Call::default()
        });
        self.calls.len() - 1
    }

    /// Moves the call at `index` to the end, because it is the most recently updated.
    fn move_to_end(&mut self, index: usize) {
        if index + 1 < self.calls.len() {
            let call = self.calls.remove(index);
            self.calls.push(call);
        }
    }

    fn last_attempts(&mut self) -> impl DoubleEndedIterator<Item = &mut Attempt> {
        self.calls.iter_mut().filter_map(|call| call.attempts.last_mut())
    }

    /// Returns the least recently updated call whose last attempt `fits`.
    fn index(&self, fits: impl Fn(&Attempt) -> bool) -> Option<usize> {
        self.calls.iter().position(|call| call.last().is_some_and(&fits))
    }

    /// Returns the most recently updated call whose last attempt `fits`.
    fn latest_index(&self, fits: impl Fn(&Attempt) -> bool) -> Option<usize> {
        self.calls.iter().rposition(|call| call.last().is_some_and(&fits))
    }

    /// Returns the latest attempt that `fits`, and makes its call the most recently updated.
    fn latest(&mut self, fits: impl Fn(&Attempt) -> bool) -> Option<&mut Attempt> {
        let index = self.latest_index(fits)?;
        self.move_to_end(index);
        self.calls.last_mut()?.attempts.last_mut()
    }
}

/// Emits a call without requests that were not sent to a model.
fn emit(mut call: Call, sink: &mut Sink<'_>) {
    let is_of_model = |attempt: &Attempt| {
        attempt.reported_by & Source::Sdk as u8 > 0
            || attempt.planned_ms.is_some()
            || attempt.status.is_none()
            || is_model_path(&attempt.url)
            || (attempt.url.is_empty() && attempt.failed())
    };
    let total = call.attempts.len();
    if !call.attempts.iter().all(is_of_model) {
        call.attempts.retain(is_of_model);
    }
    call.emit(sink);
    (call.attempts.len()..total).for_each(|_| sink.noise());
}
