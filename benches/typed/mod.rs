//! The record general parsers are measured on: the fields an analysis needs, borrowed from the line where it can be.

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A string that borrows unless it has escapes, which `Option<Cow<str>>` with `#[serde(borrow)]` does not.
#[expect(dead_code, reason = "reading it is the work that is measured")]
pub(crate) struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(value)))
            }
            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(value.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Fifteen fields and six headers; the others are skipped.
#[derive(Deserialize)]
#[expect(dead_code, reason = "reading them is the work that is measured")]
pub(crate) struct Record<'a> {
    #[serde(borrow)]
    ts: Text<'a>,
    #[serde(borrow)]
    run_id: Option<Text<'a>>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    layer: Option<Text<'a>>,
    attempt: Option<u32>,
    sdk_retry_count: Option<u32>,
    #[serde(borrow)]
    request_id: Option<Text<'a>>,
    #[serde(borrow)]
    provider: Option<Text<'a>>,
    #[serde(borrow)]
    model: Option<Text<'a>>,
    status: Option<u16>,
    #[serde(borrow)]
    error_type: Option<Text<'a>>,
    #[serde(borrow)]
    error_code: Option<Text<'a>>,
    #[serde(borrow)]
    error_message: Option<Text<'a>>,
    retry_after: Option<f64>,
    duration_ms: Option<f64>,
    #[serde(borrow)]
    headers: Option<Headers<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "reading them is the work that is measured")]
struct Headers<'a> {
    #[serde(borrow, rename = "anthropic-ratelimit-requests-limit")]
    requests_limit: Option<Text<'a>>,
    #[serde(borrow, rename = "anthropic-ratelimit-requests-remaining")]
    requests_remaining: Option<Text<'a>>,
    #[serde(borrow, rename = "anthropic-ratelimit-input-tokens-limit")]
    input_limit: Option<Text<'a>>,
    #[serde(borrow, rename = "anthropic-ratelimit-input-tokens-remaining")]
    input_remaining: Option<Text<'a>>,
    #[serde(borrow, rename = "anthropic-ratelimit-output-tokens-limit")]
    output_limit: Option<Text<'a>>,
    #[serde(borrow, rename = "anthropic-ratelimit-output-tokens-remaining")]
    output_remaining: Option<Text<'a>>,
}
