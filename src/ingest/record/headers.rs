//! Response headers in every form in which loggers write them: an object, pairs, `{name, value}` objects, raw text.

use super::digits;
use super::header_names::{Header, LimitPart, is_of_request, named};
use super::json::{Fault, Reader};
use super::scalar::Scalar;
use crate::model::{HintSource, LimitKind};
use std::borrow::Cow;

/// Limit and remainder of one kind, as far as given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LimitReading {
    pub(crate) limit: Option<i64>,
    pub(crate) remaining: Option<i64>,
}

/// Time at which a limit is restored, as the server wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reset<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Whether it is sent only for the limit that refused the request, so that no remainder is needed.
    pub(crate) of_refusal: bool,
}

/// Values of the headers that are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Headers<'a> {
    pub(crate) retry_after: Option<Scalar<'a>>,
    /// Wait in ms, and the header it comes from.
    pub(crate) retry_after_ms: Option<(f64, HintSource)>,
    pub(crate) should_retry: Option<bool>,
    pub(crate) request_id: Option<Cow<'a, str>>,
    pub(crate) aws_request_id: bool,
    pub(crate) sdk_retry_count: Option<i64>,
    /// Number of times a proxy sent the request upstream, including the first.
    pub(crate) upstream_attempts: Option<i64>,
    /// Number of times a gateway sent the request beyond the first.
    pub(crate) gateway_retries: Option<i64>,
    pub(crate) idempotency_key: Option<Cow<'a, str>>,
    pub(crate) user_agent: Option<Cow<'a, str>>,
    pub(crate) package_version: Option<Cow<'a, str>>,
    /// Programming language of an official SDK.
    pub(crate) language: Option<Cow<'a, str>>,
    pub(crate) org: Option<Cow<'a, str>>,
    pub(crate) error_type: Option<Cow<'a, str>>,
    pub(crate) date: Option<Cow<'a, str>>,
    pub(crate) limits: [LimitReading; 4],
    /// Reset of each limit, unless it is one that says nothing about when the next request is admitted.
    pub(crate) resets: [Option<Reset<'a>>; 4],
    pub(crate) window_rejected: bool,
    /// Whether there is any header on subscription usage windows.
    pub(crate) any_window: bool,
    pub(crate) window_reset: Option<Cow<'a, str>>,
    /// Whether there is any rate-limit header.
    pub(crate) any_limit: bool,
}

impl<'a> Headers<'a> {
    /// Sets one header; unknown headers are ignored.
    pub(crate) fn set(&mut self, name: &str, value: Scalar<'a>) {
        if let Some(header) = named(name) {
            self.set_known(header, value);
        }
    }

    /// Like [`Headers::set_known`], for a string, the usual type of header values.
    #[inline]
    pub(in crate::ingest) fn set_text(&mut self, header: Header, text: &'a str) {
        let number = match header {
            Header::Limit(LimitPart::Limit | LimitPart::Remaining, _) => digits::integer(text.as_bytes()),
            _ => None,
        };
        match (header, number) {
            (Header::Limit(part, kind), Some(_)) => self.set_limit(part, kind, number),
            _ => self.set_known(header, Scalar::Text(Cow::Borrowed(text))),
        }
    }

    pub(in crate::ingest) fn set_known(&mut self, header: Header, value: Scalar<'a>) {
        if matches!(value, Scalar::Null | Scalar::Other) {
            return;
        }
        match header {
            Header::Limit(part @ (LimitPart::Reset | LimitPart::ResetOfRefusal), kind) => {
                self.any_limit = true;
                let reset = |text| Reset { text, of_refusal: part == LimitPart::ResetOfRefusal };
                self.resets[kind as usize] = value.into_text().map(reset);
            }
            Header::Limit(part, kind) => {
                // A fraction of a request or a token lets none through.
                let whole = || value.number().map(|number| number.floor() as i64);
                self.set_limit(part, kind, value.integer().or_else(whole));
            }
            Header::RetryAfter => self.retry_after = Some(value),
            Header::RetryAfterMs(source) => {
                if self.retry_after_ms.is_none_or(|(_, known)| source < known) {
                    self.retry_after_ms = Some((value.number().unwrap_or(f64::NAN), source));
                }
            }
            Header::ShouldRetry => self.should_retry = value.truth(),
            // The id of the provider takes precedence over that of a proxy.
            Header::RequestId => self.set_request_id(value),
            Header::ProxyRequestId if self.request_id.is_some() => {}
            Header::ProxyRequestId => self.set_request_id(value),
            Header::AwsRequestId => self.aws_request_id = true,
            Header::SdkRetryCount => self.sdk_retry_count = value.integer(),
            Header::UpstreamAttempts => self.upstream_attempts = value.integer(),
            Header::GatewayRetries => self.gateway_retries = value.integer(),
            Header::IdempotencyKey => self.idempotency_key = value.into_text(),
            Header::UserAgent => self.user_agent = value.into_text(),
            Header::PackageVersion => self.package_version = value.into_text(),
            Header::Language => self.language = value.into_text(),
            Header::Org => self.org = value.into_text(),
            Header::ErrorType => self.error_type = value.into_text(),
            Header::Date => self.date = value.into_text(),
            Header::WindowStatus | Header::WindowReset | Header::Window => self.set_window(header, value),
        }
    }

    #[inline]
    fn set_limit(&mut self, part: LimitPart, kind: LimitKind, number: Option<i64>) {
        self.any_limit = true;
        let reading = &mut self.limits[kind as usize];
        match part {
            LimitPart::Limit => reading.limit = number,
            LimitPart::Remaining => reading.remaining = number,
            LimitPart::Reset | LimitPart::ResetOfRefusal | LimitPart::Other => {}
        }
    }

    fn set_request_id(&mut self, value: Scalar<'a>) {
        let named = value.into_text().filter(|id| !id.is_empty());
        self.request_id = named.or(self.request_id.take());
    }

    /// Sets a header on subscription windows: whether the request was rejected, and when the window that decided is
    /// reset.
    fn set_window(&mut self, header: Header, value: Scalar<'a>) {
        (self.any_limit, self.any_window) = (true, true);
        match header {
            Header::WindowStatus => {
                self.window_rejected = value.into_text().is_some_and(|text| text.eq_ignore_ascii_case("rejected"));
            }
            Header::WindowReset => self.window_reset = value.into_text(),
            _ => {}
        }
    }

    /// Reads a scalar in place of the response headers.
    pub(in crate::ingest) fn set_bare(&mut self, value: &Scalar<'a>) {
        if let Scalar::Text(text) = value {
            self.set_raw(text);
        }
    }

    /// Reads a scalar in place of the request headers.
    pub(in crate::ingest) fn set_bare_of_request(&mut self, value: &Scalar<'a>) {
        let mut all = Headers::default();
        all.set_bare(value);
        self.add_request_headers(all);
    }

    /// Adds the request headers that identify the sender.
    fn add_request_headers(&mut self, all: Headers<'a>) {
        let Headers { sdk_retry_count, idempotency_key, user_agent, package_version, language, .. } = all;
        self.sdk_retry_count = sdk_retry_count.or(self.sdk_retry_count);
        self.idempotency_key = idempotency_key.or(self.idempotency_key.take());
        self.user_agent = user_agent.or(self.user_agent.take());
        self.package_version = package_version.or(self.package_version.take());
        self.language = language.or(self.language.take());
    }

    /// Reads lines of `name: value`.
    fn set_raw(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((name, value)) = line.split_once(':') {
                self.set(name.trim(), Scalar::Text(Cow::Owned(value.trim().to_owned())));
            }
        }
    }
}

/// Reads headers in any form into `headers`.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, headers: &mut Headers<'a>) -> Result<(), Fault> {
    match reader.peek() {
        Some(b'{') => reader.object(|reader, name| {
            let Some(header) = named(&name) else { return reader.skip() };
            match reader.plain_string() {
                Some(text) => headers.set_text(header, text),
                None => headers.set_known(header, reader.scalar()?),
            }
            Ok(())
        }),
        Some(b'[') => reader.list(|reader| read_pair(reader, headers)),
        Some(b'"') => {
            headers.set_raw(&reader.string()?);
            Ok(())
        }
        _ => reader.skip(),
    }
}

/// Reads request headers, of which only those that identify the sender are used.
pub(in crate::ingest) fn read_of_request<'a>(reader: &mut Reader<'a>, headers: &mut Headers<'a>) -> Result<(), Fault> {
    if reader.peek() == Some(b'{') {
        return reader.object(|reader, name| {
            let Some(header) = named(&name).filter(|_| is_of_request(&name)) else { return reader.skip() };
            headers.set_known(header, reader.scalar()?);
            Ok(())
        });
    }
    let mut all = Headers::default();
    read(reader, &mut all)?;
    headers.add_request_headers(all);
    Ok(())
}

/// Reads one header given as `[name, value]`, `{name, value}` or `name: value`.
fn read_pair<'a>(reader: &mut Reader<'a>, headers: &mut Headers<'a>) -> Result<(), Fault> {
    let (mut name, mut value) = (None, None);
    match reader.peek() {
        Some(b'{') => reader.object(|reader, key| {
            match key.to_ascii_lowercase().as_str() {
                "name" | "key" => name = reader.scalar()?.into_text(),
                "value" => value = Some(reader.scalar()?),
                _ => reader.skip()?,
            }
            Ok(())
        })?,
        Some(b'[') => {
            let mut position = 0;
            reader.list(|reader| {
                position += 1;
                match position {
                    1 => name = reader.scalar()?.into_text(),
                    2 => value = Some(reader.scalar()?),
                    _ => reader.skip()?,
                }
                Ok(())
            })?;
        }
        Some(b'"') => headers.set_raw(&reader.string()?),
        _ => reader.skip()?,
    }
    if let (Some(name), Some(value)) = (name, value) {
        headers.set(&name, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(json: &str) -> Headers<'_> {
        let mut headers = Headers::default();
        super::read(&mut Reader::new(json), &mut headers).unwrap();
        headers
    }

    #[test]
    fn headers_are_read_in_every_form() {
        for json in [
            r#"{"retry-after":"20"}"#,
            r#"{"Retry-After":20}"#,
            r#"{"RETRY-AFTER":["20"]}"#,
            r#"[["retry-after","20"]]"#,
            r#"[{"name":"retry-after","value":"20"}]"#,
            r#""retry-after: 20\r\nx-request-id: r""#,
        ] {
            assert_eq!(read(json).retry_after.unwrap().number(), Some(20.0), "{json}");
        }
        assert_eq!(read("{}"), Headers::default());
        assert_eq!(read("null"), Headers::default());
    }

    #[test]
    fn limits_of_each_family_of_headers_are_read() {
        let json = r#"{"anthropic-ratelimit-input-tokens-remaining":"49000","anthropic-ratelimit-input-tokens-limit":"50000",
            "x-ratelimit-remaining-requests":"3","x-ratelimit-limit-requests":60,"ratelimit-remaining":"9"}"#;
        let headers = read(json);
        assert_eq!(
            headers.limits[LimitKind::InputTokens as usize],
            LimitReading { limit: Some(50_000), remaining: Some(49_000) }
        );
        assert_eq!(headers.limits[LimitKind::Requests as usize].limit, Some(60));
    }

    #[test]
    fn the_request_id_of_the_provider_takes_precedence() {
        let headers = read(r#"{"request-id":"req_1","x-request-id":"proxy"}"#);
        assert_eq!(headers.request_id.as_deref(), Some("req_1"));
    }
}
