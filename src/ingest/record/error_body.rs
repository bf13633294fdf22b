//! Error bodies in the forms in which servers nest them: `{type, message}`, `{error: {...}}`, either of them inside a
//! body, or JSON in a string.

use super::error_keys::{BodyField, BodyKey, BodyWait, MAX_DEPTH, key};
use super::json::{Fault, Reader};
use super::scalar::Scalar;
use super::sdk_text::after_status;
use super::{event_stream, response_end};
use std::borrow::Cow;

/// Nesting depth at which the value of a record's own `error` is read: that of an error inside a body.
pub(in crate::ingest) const INSIDE: u8 = 1;

/// Contents of an error body. Inner values take precedence over outer ones, because wrappers are less specific.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ErrorBody<'a> {
    pub(crate) error_type: Option<Cow<'a, str>>,
    pub(crate) code: Option<Cow<'a, str>>,
    pub(crate) message: Option<Cow<'a, str>>,
    pub(crate) status: Option<i64>,
    pub(crate) request_id: Option<Cow<'a, str>>,
    /// The wait it asks for.
    pub(crate) wait: Option<BodyWait>,
    /// Google's `quotaId`, which names the interval of the quota.
    pub(crate) quota_id: Option<Cow<'a, str>>,
    /// Google's `reason`, such as `rateLimitExceeded`.
    pub(crate) reason: Option<Cow<'a, str>>,
    /// `title` of a problem (RFC 9457).
    pub(crate) title: Option<Cow<'a, str>>,
    /// Whether `type` or `param` is the string "None": a program in Python printed the body of another server.
    pub(crate) says_none: bool,
    /// Whether it contains anything.
    pub(crate) present: bool,
    /// Whether it is labelled as an error: `error: {...}`, `type: error`, `event: error`. Without a label, a body may
    /// be any response.
    pub(crate) named: bool,
    /// For a logged stream of events: whether it contains its last event and no error.
    pub(crate) stream_ended: Option<bool>,
    /// Number of earlier failed attempts that a gateway lists.
    pub(crate) previous: Option<u16>,
}

/// Whether a text is one that loggers write if there is no error.
pub(crate) fn means_no_error(text: &str) -> bool {
    const WORDS: [&str; 21] = [
        "none",
        "null",
        "nil",
        "<nil>",
        "undefined",
        "-",
        "n/a",
        "ok",
        "false",
        "0",
        "no_error",
        "noerror",
        "no error",
        "success",
        "succeeded",
        "done",
        "finished",
        "stop",
        "completed",
        "[]",
        "{}",
    ];
    const MAX_LENGTH: usize = "undefined".len();
    let text = text.trim();
    text.is_empty() || (text.len() <= MAX_LENGTH && WORDS.iter().any(|word| word.eq_ignore_ascii_case(text)))
}

/// Range of HTTP statuses.
const STATUSES: std::ops::RangeInclusive<i64> = 100..=599;

/// Whether a type is a URI (RFC 9457, 3.1.1), which does not name an error class.
fn is_uri(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://") || word.starts_with("about:")
}

/// Whether it is an identifier such as `rateLimitExceeded` or `API_KEY_INVALID`, not a sentence.
fn is_identifier(word: &str) -> bool {
    !word.is_empty() && word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether the id of a quota names a daily interval.
fn is_daily(quota_id: &str) -> bool {
    quota_id.contains("PerDay")
}

impl<'a> ErrorBody<'a> {
    pub(in crate::ingest) fn set(&mut self, field: BodyField, value: Scalar<'a>) {
        if matches!(value, Scalar::Null | Scalar::Other | Scalar::Bool(_)) {
            return;
        }
        match field {
            BodyField::Type => {
                let text = value.into_text();
                self.says_none |= text.as_deref() == Some("None");
                match text.as_deref() {
                    // `{"type":"error","error":{...}}` only labels the error.
                    Some("error") => self.named = true,
                    Some(word) if means_no_error(word) || is_uri(word) => return,
                    _ => self.error_type = text,
                }
            }
            BodyField::Name if self.error_type.is_some() => return,
            BodyField::Name => self.error_type = value.into_text(),
            BodyField::Param => self.says_none |= value.into_text().as_deref() == Some("None"),
            BodyField::Code => match value {
                // Google and gateways put the status here, others a code of their own.
                Scalar::Int(n) if STATUSES.contains(&n) => self.status = Some(n),
                // 0 is the code of success.
                Scalar::Int(0) => return,
                Scalar::Text(text) if means_no_error(&text) => return,
                other => self.code = other.into_text(),
            },
            BodyField::HttpStatus => self.status = self.status.or(value.integer().filter(|n| STATUSES.contains(n))),
            BodyField::Status => match value.integer() {
                Some(0) => return,
                Some(status) if STATUSES.contains(&status) => self.status = Some(status),
                Some(number) => self.code = self.code.take().or(Some(Cow::Owned(number.to_string()))),
                // Google: `"status": "RESOURCE_EXHAUSTED"`.
                None => self.error_type = value.into_text(),
            },
            BodyField::Message => match value {
                Scalar::Text(text) if means_no_error(&text) => return,
                other => self.message = other.into_text(),
            },
            BodyField::RequestId => self.request_id = value.into_text(),
            BodyField::Wait(unit) => self.wait = BodyWait::read(&value, unit).or(self.wait),
            BodyField::QuotaId => {
                // If several quotas are exceeded at once, the one that refills last is decisive.
                if !self.quota_id.as_deref().is_some_and(is_daily) {
                    self.quota_id = value.into_text();
                }
            }
            BodyField::Reason => match value.into_text() {
                Some(word) if is_identifier(&word) => self.reason = Some(word),
                _ => return,
            },
            BodyField::Title => self.title = value.into_text(),
        }
        self.present = true;
    }

    /// Reads a scalar in place of an error object: a string is its text, `true` means that there was an error.
    pub(in crate::ingest) fn set_bare(&mut self, value: Scalar<'a>, depth: u8) {
        match value {
            Scalar::Text(text) => self.set_text(text, depth),
            Scalar::Bool(true) => self.present = true,
            _ => {}
        }
    }

    /// Merges the errors nested in this one, after all of its members were read.
    pub(in crate::ingest) fn close(&mut self, inner: ErrorBody<'a>) {
        self.previous = inner.previous.or(self.previous);
        if inner.present {
            *self = merged(std::mem::take(self), inner);
        }
    }

    /// Merges an error nested in this one.
    pub(in crate::ingest) fn nest(&mut self, mut error: ErrorBody<'a>) {
        self.previous = error.previous.or(self.previous);
        if error.present {
            error.named = true;
            *self = merged(std::mem::take(self), error);
        }
    }

    /// Reads a string in place of an error object: a message, a stream of events, or JSON.
    fn set_text(&mut self, text: Cow<'a, str>, depth: u8) {
        if means_no_error(&text) {
            return;
        }
        self.present = true;
        if event_stream::is_stream(&text) {
            return self.set_stream(&text, depth);
        }
        if depth < MAX_DEPTH
            && text.starts_with('{')
            && let Some(inner) = parse(&text, depth + 1)
        {
            self.add(inner);
        } else if depth < MAX_DEPTH
            && let Some((status, json)) = after_status(&text)
            && let Some(inner) = parse(json, depth + 1).filter(|inner| inner.present)
        {
            self.add(inner);
            self.status = self.status.or(Some(status));
        } else {
            self.message = Some(text);
        }
    }

    /// Reads a logged stream of events: whether it has its last event, and the first error among its events.
    fn set_stream(&mut self, text: &str, depth: u8) {
        self.stream_ended = response_end::has_last_event(text);
        let errors = event_stream::possible_errors(text).filter_map(|(is_named_error, data)| {
            let error = parse(&data, depth + 1).unwrap_or_default();
            (is_named_error || error.named).then_some((data, error))
        });
        let Some((data, mut error)) = errors.take(1).next() else { return };
        if !error.present {
            error.message = (!data.is_empty()).then(|| Cow::Owned(data.into_owned()));
        }
        // In a `response.failed` event, `type` is the name of the event, not of the error.
        error.error_type = error.error_type.filter(|word| !word.starts_with("response."));
        self.add(error);
        self.named = true;
        self.stream_ended = Some(false);
    }

    /// Adds the values of `inner`, which take precedence.
    fn add(&mut self, inner: ErrorBody<'static>) {
        self.error_type = inner.error_type.or(self.error_type.take());
        self.code = inner.code.or(self.code.take());
        self.message = inner.message.or(self.message.take());
        self.status = inner.status.or(self.status);
        self.request_id = inner.request_id.or(self.request_id.take());
        self.wait = inner.wait.or(self.wait);
        self.quota_id = inner.quota_id.or(self.quota_id.take());
        self.reason = inner.reason.or(self.reason.take());
        self.title = inner.title.or(self.title.take());
        self.says_none |= inner.says_none;
        self.present |= inner.present;
        self.named |= inner.named;
        self.stream_ended = inner.stream_ended.or(self.stream_ended);
        self.previous = inner.previous.or(self.previous);
    }

    fn into_owned(self) -> ErrorBody<'static> {
        let owned = |text: Option<Cow<'a, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        ErrorBody {
            error_type: owned(self.error_type),
            code: owned(self.code),
            message: owned(self.message),
            status: self.status,
            request_id: owned(self.request_id),
            wait: self.wait,
            quota_id: owned(self.quota_id),
            reason: owned(self.reason),
            title: owned(self.title),
            says_none: self.says_none,
            present: self.present,
            named: self.named,
            stream_ended: self.stream_ended,
            previous: self.previous,
        }
    }
}

fn parse(json: &str, depth: u8) -> Option<ErrorBody<'static>> {
    let mut body = ErrorBody::default();
    read(&mut Reader::new(json), &mut body, depth).ok()?;
    Some(body.into_owned())
}

/// Reads an error at any level of nesting into `body`.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, body: &mut ErrorBody<'a>, depth: u8) -> Result<(), Fault> {
    match reader.peek() {
        Some(b'{') => read_object(reader, body, depth + 1),
        Some(b'[') if depth < MAX_DEPTH => reader.list(|reader| read(reader, body, depth + 1)),
        Some(b'"' | b't') => {
            body.set_bare(reader.scalar()?, depth);
            Ok(())
        }
        _ => reader.skip(),
    }
}

fn read_object<'a>(reader: &mut Reader<'a>, body: &mut ErrorBody<'a>, depth: u8) -> Result<(), Fault> {
    // Nested errors are collected separately, since they may come before or after the values beside them.
    let mut inner = ErrorBody::default();
    reader.object(|reader, name| match key(&name, depth) {
        Some(BodyKey::Error) => {
            let mut error = ErrorBody::default();
            read(reader, &mut error, depth)?;
            inner.nest(error);
            Ok(())
        }
        Some(BodyKey::Nested | BodyKey::NestedInError) => read(reader, &mut inner, depth),
        Some(BodyKey::PreviousErrors) => read_previous(reader, body),
        Some(BodyKey::Value(part)) => {
            let value = reader.scalar()?;
            body.set(part, value);
            Ok(())
        }
        None => reader.skip(),
    })?;
    body.close(inner);
    Ok(())
}

/// Counts a list of earlier failures.
fn read_previous<'a>(reader: &mut Reader<'a>, body: &mut ErrorBody<'a>) -> Result<(), Fault> {
    if reader.peek() != Some(b'[') {
        return reader.skip();
    }
    let mut failures = 0_u16;
    reader.list(|reader| {
        failures = failures.saturating_add(1);
        reader.skip()
    })?;
    body.previous = Some(failures);
    Ok(())
}

/// Merges two errors; values of `inner` take precedence.
pub(in crate::ingest) fn merged<'a>(outer: ErrorBody<'a>, inner: ErrorBody<'a>) -> ErrorBody<'a> {
    ErrorBody {
        error_type: inner.error_type.or(outer.error_type),
        code: inner.code.or(outer.code),
        message: inner.message.or(outer.message),
        status: inner.status.or(outer.status),
        request_id: inner.request_id.or(outer.request_id),
        wait: inner.wait.or(outer.wait),
        quota_id: inner.quota_id.or(outer.quota_id),
        reason: inner.reason.or(outer.reason),
        title: inner.title.or(outer.title),
        says_none: inner.says_none || outer.says_none,
        present: outer.present || inner.present,
        named: inner.named || outer.named,
        stream_ended: inner.stream_ended.or(outer.stream_ended),
        previous: inner.previous.or(outer.previous),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(json: &str) -> ErrorBody<'static> {
        parse(json, 0).unwrap()
    }

    #[test]
    fn the_inner_error_takes_precedence() {
        let body =
            read(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#);
        assert_eq!(body.error_type.as_deref(), Some("overloaded_error"));
        assert_eq!(body.request_id.as_deref(), Some("req_1"));
    }

    #[test]
    fn the_code_and_the_wait_are_read_from_details() {
        let spend =
            read(r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#);
        assert_eq!(spend.code.as_deref(), Some("enforced_spend_limit_reached"));
        let google = read(
            r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[
                {"@type":"q","violations":[{"quotaId":"RequestsPerDay"},{"quotaId":"RequestsPerMinute"}]},
                {"@type":"r","retryDelay":"37s"}]}}"#,
        );
        assert_eq!(google.error_type.as_deref(), Some("RESOURCE_EXHAUSTED"));
        assert_eq!(google.status, Some(429));
        assert_eq!(google.wait, Some(BodyWait { us: 37_000_000, unit_known: true, is_estimate: false }));
        assert_eq!(google.quota_id.as_deref(), Some("RequestsPerDay"));
    }

    #[test]
    fn json_inside_a_string_is_read() {
        let body = read(r#"{"error":"{\"error\":{\"type\":\"api_error\",\"message\":\"m\"}}"}"#);
        assert_eq!(body.error_type.as_deref(), Some("api_error"));
    }

    #[test]
    fn earlier_failures_are_counted_wherever_a_gateway_lists_them() {
        for (json, previous) in [
            (r#"{"error":{"code":502,"metadata":{"previous_errors":[{"code":429},{"code":503,"x":[1]}]}}}"#, Some(2)),
            (r#"{"choices":[],"previous_errors":[{"code":429,"message":"m"}]}"#, Some(1)),
            (r#"{"error":{"message":"m","previous_errors":[]}}"#, Some(0)),
            (r#"{"error":{"message":"m","previous_errors":"none"}}"#, None),
        ] {
            assert_eq!(read(json).previous, previous, "{json}");
        }
        // They are not the error being read.
        let body =
            read(r#"{"error":{"metadata":{"previous_errors":[{"code":429,"message":"earlier"}]},"message":"last"}}"#);
        assert_eq!((body.message.as_deref(), body.status), (Some("last"), None));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}{}", r#"{"error":"#.repeat(200) + "1", "}".repeat(200));
        // Deeper errors are skipped, not followed.
        assert_eq!(parse(&deep, 0), Some(ErrorBody::default()));
        assert!(parse(&"[".repeat(50_000), 0).is_none());
    }
}
