//! One request and its answer, from the head of the one to the end of the other. It ends in exactly one record.

use super::answer::{Answer, milliseconds};
use super::attempt::AttemptRecord;
use super::facts::{self, BodyFacts};
use super::log::Log;
use crate::model::Time;
use hyper::http::{request, response};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What is known of an exchange so far. Dropped before its end, the client hung up.
pub(crate) struct Exchange {
    log: Arc<Log>,
    attempt: AttemptRecord,
    began: Instant,
    body: Arc<Mutex<BodyFacts>>,
    answer: Option<Answer>,
    keep_errors: bool,
    /// The server is about to end.
    stopping: Arc<AtomicBool>,
    is_recorded: bool,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With all of an answer.
    Complete,
    /// The connection to the client, or to the upstream, broke; in the words of `transport`.
    Broken(&'static str),
}

impl Exchange {
    pub(crate) fn begin(parts: &request::Parts, log: &Arc<Log>, stopping: &Arc<AtomicBool>, keep_errors: bool) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let attempt = AttemptRecord {
            ts: Some(Time(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))),
            run_id: Some(log.run().to_owned()),
            ..facts::of_head(parts)
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

    /// What the body of the request says, which passes elsewhere.
    pub(crate) fn body(&self) -> Arc<Mutex<BodyFacts>> {
        Arc::clone(&self.body)
    }

    /// Sets what only the server knows.
    pub(crate) fn sent_to(&mut self, endpoint: String, provider: Option<&'static str>) {
        self.attempt.endpoint = Some(endpoint);
        self.attempt.provider = provider.or(self.attempt.provider);
    }

    /// The head of the answer.
    pub(crate) fn answer(&mut self, parts: &response::Parts) {
        self.answer = Some(Answer::begin(parts, &mut self.attempt));
    }

    /// Bytes of the answer.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Some(answer) = &mut self.answer {
            answer.push(bytes);
        }
    }

    /// Writes the record.
    pub(crate) fn end(&mut self, end: End) {
        if std::mem::replace(&mut self.is_recorded, true) {
            return;
        }
        let attempt = &mut self.attempt;
        attempt.duration_ms = Some(milliseconds(self.began.elapsed()));
        self.body.lock().unwrap_or_else(PoisonError::into_inner).tell(attempt);
        if let Some(answer) = &self.answer {
            answer.tell(self.began, self.keep_errors, attempt);
        }
        if let End::Broken(transport) = end {
            attempt.transport = Some(transport);
        }
        let is_whole = end == End::Complete && attempt.completed != Some(false) && attempt.mid_stream.is_none();
        let is_good = attempt.status.is_some_and(|status| status < 400) && is_whole;
        attempt.outcome = Some(if is_good { "ok" } else { "error" });
        self.log.write(attempt);
    }

    /// What it means that nobody waits for the rest any more.
    fn abandoned(&self) -> End {
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
        self.end(self.abandoned());
    }
}
