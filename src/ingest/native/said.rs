//! What a record says, wherever it says it: one answer to each question, whatever the spelling.

use super::attempt::Builder;
use super::scalar::Scalar;
use crate::attempt::Time;
use crate::classify::{self, Failure, Kind, Verdict};
use crate::ingest::hint::{self, Hint};

impl Builder<'_, '_> {
    pub(super) fn status(&self) -> u16 {
        let status = self.record.status.or(self.record.error.status).unwrap_or(0);
        u16::try_from(status).unwrap_or(0)
    }

    pub(super) fn error_type(&self) -> Option<&str> {
        self.record.error_type.as_deref().or(self.record.error.error_type.as_deref()).or(self
            .record
            .headers
            .error_type
            .as_deref())
    }

    pub(super) fn error_code(&self) -> Option<&str> {
        let error = &self.record.error;
        self.record.error_code.as_deref().or(error.code.as_deref()).or(error.quota_id.as_deref())
    }

    pub(super) fn message(&self) -> Option<&str> {
        let record = &self.record;
        // An exception may be a class name or its whole text.
        let text = record.exception.as_deref().filter(|text| text.contains(' '));
        record.error_message.as_deref().or(record.error.message.as_deref()).or(text)
    }

    pub(super) fn should_retry(&self) -> Option<bool> {
        self.record.headers.should_retry.or(self.record.should_retry)
    }

    /// The server's wait: `retry-after-ms`, then `retry-after`, then a delay in the body.
    pub(super) fn hint(&self, answered: Time) -> Option<Hint> {
        let record = &self.record;
        let headers = &record.headers;
        let milliseconds = headers.retry_after_ms.or(record.retry_after_ms);
        if let Some(ms) = milliseconds {
            let hint = hint::from_seconds(ms / 1000.0);
            if hint != Hint::Unreadable || (headers.retry_after.is_none() && record.retry_after.is_none()) {
                return Some(hint);
            }
        }
        let date = headers.date.as_deref().and_then(|date| httpdate::parse_http_date(date).ok());
        let date = date.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
        let date = date.and_then(|since| i64::try_from(since.as_micros()).ok()).map(Time);
        let read = |scalar: &Scalar<'_>| read_hint(scalar, answered, date);
        record
            .retry_after
            .as_ref()
            .and_then(read)
            .or_else(|| headers.retry_after.as_ref().and_then(read))
            .or_else(|| record.error.retry_delay.as_deref().map(|text| hint::from_text(text, answered, None)))
    }

    pub(super) fn verdict(&self, has_hint: bool) -> Option<Verdict> {
        classify::classify(&self.failure(has_hint))
    }

    /// The attempt as far as it bears on the verdict.
    pub(super) fn failure(&self, has_hint: bool) -> Failure<'_> {
        let record = &self.record;
        let (said_ok, said_error) = self.logged();
        let kind = record.kind.as_deref().and_then(kind_named).or(record.outcome.as_deref().and_then(kind_named));
        Failure {
            status: match self.status() {
                0 => None,
                status => Some(status),
            },
            error_type: self.error_type(),
            error_code: self.error_code(),
            message: self.message(),
            kind,
            exception: record.exception.as_deref(),
            transport: record.transport.as_deref(),
            mid_stream: self.mid_stream(),
            logged_as_error: said_error || (record.error.present && !said_ok),
            logged_as_ok: said_ok,
            has_hint,
            has_rate_limit_headers: record.headers.any_limit,
            window_rejected: record.headers.window_rejected,
            should_retry: self.should_retry(),
            side_effect: record.side_effect,
            provider: record.provider.as_deref(),
            own: &self.place.dialect.failures,
        }
    }

    /// An error beside a status of success came inside a stream.
    pub(super) fn mid_stream(&self) -> bool {
        self.record.mid_stream
            || ((200..300).contains(&self.status()) && (self.record.error.present || self.record.error_type.is_some()))
    }

    /// What the logger called it: a success, a failure.
    pub(super) fn logged(&self) -> (bool, bool) {
        let word = self.record.outcome.as_deref().map(str::trim).unwrap_or_default();
        let is = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
        let ok = self.record.success == Some(true) || is(&["ok", "success", "succeeded", "completed", "complete"]);
        let error = self.record.success == Some(false)
            || is(&["error", "failed", "failure", "fail", "timeout", "timed_out", "exception", "cancelled"]);
        (ok && !error, error)
    }

    /// An error printed by another language: `None` as a word, a numeric code in quotes beside JSON in the message.
    pub(super) fn foreign_envelope(&self) -> bool {
        let numeric = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let wrapped = self.message().is_some_and(|text| text.trim_start().starts_with('{'));
        self.record.error.says_none || (wrapped && self.error_code().is_some_and(numeric))
    }

    /// Retry, give up, or something else.
    pub(super) fn decision(&self) -> (bool, bool, bool) {
        let Some(word) = self.record.decision.as_deref() else {
            return match self.record.will_retry {
                Some(true) => (true, false, false),
                Some(false) => (false, true, false),
                None => (false, false, false),
            };
        };
        let is = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
        let retry = is(&["retry", "retrying", "resend", "backoff"]);
        let fail = is(&["fail", "raise", "give_up", "giveup", "abort", "stop", "error", "none", "failed", "throw"]);
        (retry, fail, !retry && !fail)
    }

    pub(super) fn request_id(&self) -> Option<&str> {
        let record = &self.record;
        let spellings = [&record.request_id, &record.headers.request_id, &record.error.request_id];
        spellings.into_iter().filter_map(|id| id.as_deref()).find(|id| !id.is_empty())
    }

    /// Sends of a gateway beyond the first, by the header of whichever counts them.
    pub(super) fn gateway_retries(&self) -> u16 {
        let headers = &self.record.headers;
        let upstream = headers.upstream_attempts.map_or(0, |sends| sends.saturating_sub(1));
        few(upstream.max(headers.gateway_retries.unwrap_or(0)))
    }

    /// Whether something beneath the client says how often it sent, be it once.
    pub(super) fn counts_beneath(&self) -> bool {
        let headers = &self.record.headers;
        headers.upstream_attempts.is_some() || headers.gateway_retries.is_some() || self.record.resends.is_some()
    }

    /// Resends that the instrumentation counts.
    pub(super) fn resends(&self) -> u16 {
        few(self.record.resends.unwrap_or(0))
    }

    pub(super) fn idempotency_key(&self) -> Option<&str> {
        self.record.idempotency_key.as_deref().or(self.record.headers.idempotency_key.as_deref())
    }

    /// The name of the call; an idempotency key is one where nothing else is.
    pub(super) fn call_id(&self) -> Option<&str> {
        self.record.call().or_else(|| self.idempotency_key()).filter(|id| !id.is_empty())
    }
}

/// A count of sends; a number beyond 65,535 is none.
fn few(count: i64) -> u16 {
    u16::try_from(count).unwrap_or(0)
}

fn read_hint(scalar: &Scalar<'_>, answered: Time, date: Option<Time>) -> Option<Hint> {
    match scalar {
        Scalar::Int(n) => Some(hint::from_integer(*n, answered)),
        Scalar::Float(x) => Some(hint::from_seconds(*x)),
        Scalar::Text(text) => Some(hint::from_text(text, answered, date)),
        Scalar::First(first) => read_hint(first, answered, date),
        Scalar::Null | Scalar::Bool(_) | Scalar::Other => None,
    }
}

pub(super) fn kind_named(word: &str) -> Option<Kind> {
    Kind::from_name(word).or(match word {
        "timed_out" | "timeout_error" => Some(Kind::Timeout),
        "connection" | "connection_reset" | "network_error" => Some(Kind::Connection),
        "canceled" | "aborted" => Some(Kind::Cancelled),
        _ => None,
    })
}
