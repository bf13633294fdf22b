//! Values of a record that may come from several of its fields.

use super::attempt::AttemptBuilder;
use super::error_body::means_no_error;
use super::hosts::provider_of;
use super::outcome_words::{is_success, kind_named};
use super::response_end::names_truncation;
use super::typed::Record;
use crate::classify::{self, AskedWait, Failure, Verdict};
use crate::model::AnswerEnd;

impl AttemptBuilder<'_, '_> {
    pub(in crate::ingest) fn status(&self) -> u16 {
        let status = self.record.status.or(self.record.error.status).unwrap_or(0);
        u16::try_from(status).unwrap_or(0)
    }

    pub(in crate::ingest) fn error_type(&self) -> Option<&str> {
        self.record.error_type.as_deref().or(self.record.error.error_type.as_deref()).or(self
            .record
            .headers
            .error_type
            .as_deref())
    }

    pub(in crate::ingest) fn error_code(&self) -> Option<&str> {
        let error = &self.record.error;
        // A code that is only a number is a status, which is less specific than the id of the quota.
        let is_number = |code: &&str| code.bytes().all(|byte| byte.is_ascii_digit());
        let code = error.code.as_deref().filter(|code| error.quota_id.is_none() || !is_number(code));
        let google = || error.quota_id.as_deref().or(error.reason.as_deref());
        self.record.error_code.as_deref().or(code).or_else(google)
    }

    /// Returns the error message, or else the logger's message.
    pub(in crate::ingest) fn message(&self) -> Option<&str> {
        self.error_message().or_else(|| self.log_message())
    }

    /// Returns the logger's message of a failed attempt. A wait stated in it is planned by the client, not asked for by
    /// the server.
    pub(in crate::ingest) fn log_message(&self) -> Option<&str> {
        let failed = self.status() >= 400 || self.logged().1;
        self.record.log_message.as_deref().filter(|text| failed && !means_no_error(text))
    }

    /// Returns the message of the error itself.
    pub(in crate::ingest) fn error_message(&self) -> Option<&str> {
        let record = &self.record;
        // An exception may be a class name or the full text.
        let text = record.exception.as_deref().filter(|text| text.contains(' '));
        let in_body = || record.error.message.as_deref().or(record.error.title.as_deref());
        record.error_message.as_deref().or_else(in_body).or(text)
    }

    /// Returns the provider, by name or by host.
    fn provider(&self) -> Option<&str> {
        let record = self.record;
        let named = record.provider.as_deref().filter(|name| !name.is_empty());
        named
            .or_else(|| [&record.endpoint, &record.host].into_iter().flatten().find_map(|address| provider_of(address)))
    }

    pub(in crate::ingest) fn should_retry(&self) -> Option<bool> {
        self.record.headers.should_retry.or(self.record.should_retry)
    }

    pub(in crate::ingest) fn verdict(&self, hint_us: Option<i64>) -> Option<Verdict> {
        classify::classify(&self.failure(hint_us))
    }

    /// Returns what the verdict on the attempt depends on.
    pub(in crate::ingest) fn failure(&self, hint_us: Option<i64>) -> Failure<'_> {
        let record = &self.record;
        let (logged_ok, logged_error) = self.logged();
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
            truncated: self.answer_end() == AnswerEnd::Truncated,
            logged_as_error: logged_error || (record.error.present && !logged_ok),
            logged_as_ok: logged_ok,
            hint: hint_us.map_or(AskedWait::None, AskedWait::of),
            has_rate_limit_headers: record.headers.any_limit,
            window_rejected: record.headers.window_rejected,
            should_retry: self.should_retry(),
            side_effect: record.side_effect,
            provider: self.provider(),
            custom_rows: &self.context.dialect.failures,
        }
    }

    /// Whether the error occurred inside a stream: the record says so, or has an error and a success status.
    pub(in crate::ingest) fn mid_stream(&self) -> bool {
        self.record.mid_stream
            || ((200..300).contains(&self.status()) && (self.record.error.present || self.record.error_type.is_some()))
    }

    /// Whether the logger called it a success, and whether a failure.
    pub(in crate::ingest) fn logged(&self) -> (bool, bool) {
        logged(self.record)
    }

    /// Whether a proxy wrote the error in an envelope of its own: with Python's `None` as a string, or with a number as
    /// the code and JSON in the message.
    pub(in crate::ingest) fn foreign_envelope(&self) -> bool {
        let numeric = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let wrapped = self.message().is_some_and(|text| text.trim_start().starts_with('{'));
        self.record.error.says_none || (wrapped && self.error_code().is_some_and(numeric))
    }

    /// Whether the client decided to retry, to give up, or something else.
    pub(in crate::ingest) fn decision(&self) -> (bool, bool, bool) {
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

    pub(in crate::ingest) fn request_id(&self) -> Option<&str> {
        let record = &self.record;
        let spellings = [&record.request_id, &record.headers.request_id, &record.error.request_id];
        spellings.into_iter().filter_map(|id| id.as_deref()).find(|id| !id.is_empty())
    }

    /// Returns how often a gateway sent the request beyond the first time, by whichever header counts it.
    pub(in crate::ingest) fn gateway_retries(&self) -> u16 {
        let headers = &self.record.headers;
        let upstream = headers.upstream_attempts.map_or(0, |attempts| attempts.saturating_sub(1));
        let listed = self.record.error.previous.unwrap_or(0);
        plausible_count(upstream.max(headers.gateway_retries.unwrap_or(0))).max(listed)
    }

    /// Whether a gateway or the instrumentation counts how often it sent the request, even if it sent it once.
    pub(in crate::ingest) fn counts_beneath(&self) -> bool {
        let headers = &self.record.headers;
        let listed = self.record.error.previous.is_some();
        headers.upstream_attempts.is_some() || headers.gateway_retries.is_some() || listed || self.counts_resends()
    }

    fn counts_resends(&self) -> bool {
        self.record.resends.is_some() || self.record.attempts_implied.is_some()
    }

    /// Returns the number of resends within this record, as counted by the instrumentation.
    pub(in crate::ingest) fn resends(&self) -> u16 {
        let implied = self.record.attempts_implied.map_or(0, |attempts| attempts.saturating_sub(1));
        plausible_count(self.record.resends.unwrap_or(0).max(implied))
    }

    pub(in crate::ingest) fn idempotency_key(&self) -> Option<&str> {
        self.record.idempotency_key.as_deref().or(self.record.headers.idempotency_key.as_deref())
    }

    /// Returns the id of the call; an idempotency key is used if there is none.
    pub(in crate::ingest) fn call_id(&self) -> Option<&str> {
        let defaults = || self.context.defaults?.call.as_deref();
        self.record.call().or_else(|| self.idempotency_key()).filter(|id| !id.is_empty()).or_else(defaults)
    }
}

impl AttemptBuilder<'_, '_> {
    /// Returns how a response that began with a success status ended, as far as the record shows.
    pub(in crate::ingest) fn answer_end(&self) -> AnswerEnd {
        let record = &self.record;
        let status = self.status();
        if !(200..300).contains(&status) && (status != 0 || !self.logged().0) {
            return AnswerEnd::NotLogged;
        }
        let complete = record.complete.or(record.error.stream_ended);
        let was_cut_off = record.transport.as_deref().is_some_and(classify::cuts_off_response)
            || record.outcome.as_deref().is_some_and(|word| names_truncation(word.trim()));
        match (record.stop_reason, complete) {
            _ if was_cut_off => AnswerEnd::Truncated,
            (Some(true), _) | (_, Some(true)) => AnswerEnd::Complete,
            (_, Some(false)) => AnswerEnd::Truncated,
            (Some(false), None) => AnswerEnd::Empty,
            (None, None) => AnswerEnd::NotLogged,
        }
    }
}

/// Whether the logger called an attempt a success, and whether a failure.
pub(in crate::ingest) fn logged(record: &Record<'_>) -> (bool, bool) {
    let word = record.outcome.as_deref().and_then(is_success);
    let ok = record.success == Some(true) || word == Some(true);
    let truncated = record.outcome.as_deref().is_some_and(|word| names_truncation(word.trim()));
    let error = record.success == Some(false) || word == Some(false) || truncated;
    (ok && !error, error)
}

/// Converts a count of requests; a number above 65,535 is implausible, and is taken as 0.
fn plausible_count(count: i64) -> u16 {
    u16::try_from(count).unwrap_or(0)
}
