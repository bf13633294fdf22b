//! Response headers, in every shape loggers give them: an object, pairs, `{name, value}` objects, raw text.

use super::json::{Fault, Reader};
use super::scalar::Scalar;
use crate::attempt::LimitKind;
use std::borrow::Cow;

/// Limit and remaining of one kind, as far as they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LimitReading {
    pub(crate) limit: Option<i64>,
    pub(crate) remaining: Option<i64>,
}

/// The headers that matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Headers<'a> {
    pub(crate) retry_after: Option<Scalar<'a>>,
    pub(crate) retry_after_ms: Option<f64>,
    pub(crate) should_retry: Option<bool>,
    pub(crate) request_id: Option<Cow<'a, str>>,
    pub(crate) aws_request_id: bool,
    pub(crate) sdk_retry_count: Option<i64>,
    /// Sends of a proxy to its upstream, the first included.
    pub(crate) upstream_attempts: Option<i64>,
    /// Sends of a gateway beyond its first.
    pub(crate) gateway_retries: Option<i64>,
    pub(crate) idempotency_key: Option<Cow<'a, str>>,
    pub(crate) user_agent: Option<Cow<'a, str>>,
    pub(crate) package_version: Option<Cow<'a, str>>,
    pub(crate) org: Option<Cow<'a, str>>,
    pub(crate) error_type: Option<Cow<'a, str>>,
    pub(crate) date: Option<Cow<'a, str>>,
    pub(crate) limits: [LimitReading; 4],
    pub(crate) window_rejected: bool,
    pub(crate) window_reset: Option<Cow<'a, str>>,
    /// Any rate-limit header at all.
    pub(crate) any_limit: bool,
}

/// Prefix of the headers about a subscription's windows.
const WINDOW: &str = "anthropic-ratelimit-unified-";

/// How often Envoy sent the request upstream, from 1 (Envoy documentation, HTTP header manipulation).
pub(super) const ENVOY_ATTEMPTS: &str = "x-envoy-attempt-count";
/// How often LiteLLM sent it again, from 0.
pub(super) const LITELLM_RETRIES: &str = "x-litellm-attempted-retries";

/// What a rate-limit header says of its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitPart {
    Limit,
    Remaining,
    /// Its reset, or something of a provider's own.
    Other,
}

/// `anthropic-ratelimit-requests-remaining`, OpenAI's `x-ratelimit-remaining-requests`, the bare
/// `ratelimit-remaining` of others. The name is in lower case.
pub(crate) fn limit_name(name: &str) -> Option<(LimitPart, LimitKind)> {
    let rest = name
        .strip_prefix("anthropic-ratelimit-")
        .or_else(|| name.strip_prefix("x-ratelimit-"))
        .or_else(|| name.strip_prefix("ratelimit-"))?;
    // Both orders of the words are in use; where no kind is named, requests are meant.
    let (part, kind) = match rest {
        "limit" | "requests-limit" | "limit-requests" => (LimitPart::Limit, LimitKind::Requests),
        "remaining" | "requests-remaining" | "remaining-requests" => (LimitPart::Remaining, LimitKind::Requests),
        "reset" | "requests-reset" | "reset-requests" => (LimitPart::Other, LimitKind::Requests),
        "tokens-limit" | "limit-tokens" => (LimitPart::Limit, LimitKind::Tokens),
        "tokens-remaining" | "remaining-tokens" => (LimitPart::Remaining, LimitKind::Tokens),
        "tokens-reset" | "reset-tokens" => (LimitPart::Other, LimitKind::Tokens),
        "input-tokens-limit" | "limit-input-tokens" => (LimitPart::Limit, LimitKind::InputTokens),
        "input-tokens-remaining" | "remaining-input-tokens" => (LimitPart::Remaining, LimitKind::InputTokens),
        "input-tokens-reset" | "reset-input-tokens" => (LimitPart::Other, LimitKind::InputTokens),
        "output-tokens-limit" | "limit-output-tokens" => (LimitPart::Limit, LimitKind::OutputTokens),
        "output-tokens-remaining" | "remaining-output-tokens" => (LimitPart::Remaining, LimitKind::OutputTokens),
        "output-tokens-reset" | "reset-output-tokens" => (LimitPart::Other, LimitKind::OutputTokens),
        _ => return None,
    };
    Some((part, kind))
}

/// Whether [`Headers`] keeps anything of a header that is no limit. The name is in lower case.
pub(crate) fn is_known(name: &str) -> bool {
    name.starts_with(WINDOW)
        || matches!(
            name,
            "retry-after"
                | "retry-after-ms"
                | "x-should-retry"
                | "idempotency-key"
                | "user-agent"
                | "x-stainless-package-version"
                | "x-amzn-errortype"
        )
}

/// Longest name of a header that matters.
const LONGEST_NAME: usize = 64;

/// Whether a top-level key of a record is such a header.
pub(crate) fn is_interesting(key: &str) -> bool {
    let starts = |prefix: &str| key.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    // Cheap: nearly every unknown key fails on its first letter.
    match key.as_bytes().first() {
        Some(b'a' | b'A') => starts("anthropic-"),
        Some(b'x' | b'X') => starts("x-"),
        Some(b'r' | b'R') => starts("retry-after") || starts("ratelimit-"),
        Some(b'o' | b'O') => starts("openai-organization"),
        _ => false,
    }
}

impl<'a> Headers<'a> {
    /// Takes in one header; unknown ones are ignored.
    pub(crate) fn set(&mut self, name: &str, value: Scalar<'a>) {
        if name.len() > LONGEST_NAME || matches!(value, Scalar::Null | Scalar::Other) {
            return;
        }
        let mut buffer = [0u8; LONGEST_NAME];
        let lower = &mut buffer[..name.len()];
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        if let Ok(name) = std::str::from_utf8(lower) {
            self.set_lower(name, value);
        }
    }

    fn set_lower(&mut self, name: &str, value: Scalar<'a>) {
        if let Some(rest) = name.strip_prefix(WINDOW) {
            return self.set_window(rest, value);
        }
        if let Some((part, kind)) = limit_name(name) {
            self.any_limit = true;
            let reading = &mut self.limits[kind as usize];
            match part {
                LimitPart::Limit => reading.limit = value.integer(),
                LimitPart::Remaining => reading.remaining = value.integer(),
                LimitPart::Other => {}
            }
            return;
        }
        match name {
            "retry-after" => self.retry_after = Some(value),
            "retry-after-ms" => self.retry_after_ms = Some(value.number().unwrap_or(f64::NAN)),
            "x-should-retry" => self.should_retry = value.truth(),
            // A provider's own name for it wins over a proxy's.
            "request-id" => self.set_request_id(value),
            "x-request-id" | "apim-request-id" if self.request_id.is_none() => self.set_request_id(value),
            "x-amzn-requestid" => self.aws_request_id = true,
            "x-stainless-retry-count" => self.sdk_retry_count = value.integer(),
            ENVOY_ATTEMPTS => self.upstream_attempts = value.integer(),
            LITELLM_RETRIES => self.gateway_retries = value.integer(),
            "idempotency-key" => self.idempotency_key = value.into_text(),
            "user-agent" => self.user_agent = value.into_text(),
            "x-stainless-package-version" => self.package_version = value.into_text(),
            "anthropic-organization-id" | "openai-organization" => self.org = value.into_text(),
            "x-amzn-errortype" => self.error_type = value.into_text(),
            "date" => self.date = value.into_text(),
            _ => {}
        }
    }

    fn set_request_id(&mut self, value: Scalar<'a>) {
        let named = value.into_text().filter(|id| !id.is_empty());
        self.request_id = named.or(self.request_id.take());
    }

    /// Subscription windows: the status of the account, and the reset of the claim that decided it.
    fn set_window(&mut self, rest: &str, value: Scalar<'a>) {
        self.any_limit = true;
        match rest {
            "status" => {
                self.window_rejected = value.into_text().is_some_and(|text| text.eq_ignore_ascii_case("rejected"));
            }
            "reset" => self.window_reset = value.into_text(),
            _ => {}
        }
    }

    fn set_raw(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((name, value)) = line.split_once(':') {
                self.set(name.trim(), Scalar::Text(Cow::Owned(value.trim().to_owned())));
            }
        }
    }
}

/// Reads headers into `headers`, whatever their shape.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, headers: &mut Headers<'a>) -> Result<(), Fault> {
    match reader.peek() {
        Some(b'{') => reader.object(|reader, name| {
            let value = reader.scalar()?;
            headers.set(&name, value);
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

/// One header as `[name, value]`, `{name, value}` or `name: value`.
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
            let mut place = 0;
            reader.list(|reader| {
                place += 1;
                match place {
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
    fn every_shape_says_the_same() {
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
    fn limits_of_each_vocabulary() {
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
    fn the_providers_request_id_wins() {
        let headers = read(r#"{"request-id":"req_1","x-request-id":"proxy"}"#);
        assert_eq!(headers.request_id.as_deref(), Some("req_1"));
    }
}
