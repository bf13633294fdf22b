//! One request and its answer, from the request's head to the end of the answer. Each exchange writes exactly one
//! record.

use super::answer::{Answer, milliseconds};
use super::attempt::AttemptRecord;
use super::facts::{self, BodyFacts};
use super::log::Log;
use crate::model::Time;
use hyper::http::{request, response};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// State of an exchange. If it is dropped before it ends, the client has disconnected or the server is stopping.
pub(crate) struct Exchange {
    log: Arc<Log>,
    attempt: AttemptRecord,
    began: Instant,
    body: Arc<Mutex<BodyFacts>>,
    answer: Option<Answer>,
    keep_errors: bool,
    /// Whether the server is stopping.
    stopping: Arc<AtomicBool>,
    is_recorded: bool,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer was sent in full.
    Complete,
    /// The connection to the client or to the upstream failed; the value of `transport` in the record.
    Broken(&'static str),
}

impl Exchange {
    pub(crate) fn begin(parts: &request::Parts, log: &Arc<Log>, stopping: &Arc<AtomicBool>, keep_errors: bool) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let attempt = AttemptRecord {
            ts: Some(Time(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))),
            run_id: Some(log.run().to_owned()),
            ..facts::from_head(parts)
        };
        Exchange {
            log: Arc::clone(log),
            attempt,
            began: Instant::now(),
            body: Arc::default(),
            answer: None,
            keep_errors,
            stopping: Arc::clone(stopping),
            is_recorded: false,
        }
    }

    /// Facts from the request body, shared with the body as it is forwarded.
    pub(crate) fn body(&self) -> Arc<Mutex<BodyFacts>> {
        Arc::clone(&self.body)
    }

    /// Sets the address the request is sent to, and the provider if known; otherwise the one derived from the path
    /// remains.
    pub(crate) fn set_upstream(&mut self, endpoint: String, provider: Option<&'static str>) {
        self.attempt.endpoint = Some(endpoint);
        self.attempt.provider = provider.or(self.attempt.provider);
    }

    /// Notes the head of the answer.
    pub(crate) fn answer(&mut self, parts: &response::Parts) {
        self.answer = Some(Answer::begin(parts, &mut self.attempt));
    }

    /// Notes bytes of the answer's body.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Some(answer) = &mut self.answer {
            answer.push(bytes);
        }
    }

    /// Writes the record, unless it has been written.
    pub(crate) fn end(&mut self, end: End) {
        if std::mem::replace(&mut self.is_recorded, true) {
            return;
        }
        let attempt = &mut self.attempt;
        attempt.duration_ms = Some(milliseconds(self.began.elapsed()));
        self.body.lock().unwrap_or_else(PoisonError::into_inner).add_to(attempt);
        if let Some(answer) = &self.answer {
            answer.add_to(self.began, self.keep_errors, attempt);
        }
        if let End::Broken(transport) = end {
            attempt.transport = Some(transport);
        }
        let is_whole = end == End::Complete && attempt.completed != Some(false) && attempt.mid_stream.is_none();
        let is_good = attempt.status.is_some_and(|status| status < 400) && is_whole;
        attempt.outcome = Some(if is_good { "ok" } else { "error" });
        self.log.write(attempt);
    }

    /// Determines the end of an exchange that was dropped.
    fn end_when_dropped(&self) -> End {
        match &self.answer {
            Some(answer) if answer.has_ended() => End::Complete,
            _ if self.stopping.load(Ordering::Relaxed) && self.answer.is_none() => {
                End::Broken("recorder_stopped_before_response")
            }
            _ if self.stopping.load(Ordering::Relaxed) => End::Broken("recorder_stopped_during_response"),
            Some(_) => End::Broken("client_closed_during_response"),
            None => End::Broken("client_closed_before_response"),
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.end(self.end_when_dropped());
    }
}
