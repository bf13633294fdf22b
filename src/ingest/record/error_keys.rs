//! Meaning of the keys of an error body.

use super::scalar::Scalar;
use super::word_table::WordTable;
use crate::classify::spelled_us;
use crate::ingest::hint::{self, Hint};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Largest depth at which nested errors are read.
pub(in crate::ingest) const MAX_DEPTH: u8 = 9;

/// Meaning of a key of an error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum BodyKey {
    /// The error itself.
    Error,
    /// Contains more of the error.
    Nested,
    /// Contains more of the error if it is inside an error; in any other response it is the response itself.
    NestedInError,
    /// A list of failures before this response.
    PreviousErrors,
    /// A value that describes the error.
    Value(BodyField),
}

/// A value that describes the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum BodyField {
    Type,
    Name,
    Param,
    Code,
    Status,
    /// A status under a key for HTTP statuses only; it does not replace a status found under another key.
    HttpStatus,
    Message,
    RequestId,
    /// A wait, and the unit of a number without one.
    Wait(BodyUnit),
    QuotaId,
    /// A reason from a fixed vocabulary.
    Reason,
    /// Used as the message if there is none.
    Title,
}

/// Unit in which a body counts a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum BodyUnit {
    /// Seconds, by convention.
    Seconds,
    /// Seconds, stated by the key.
    SecondsByName,
    Milliseconds,
    /// Seconds, estimated by the server.
    Estimate,
}

/// Wait that a body asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyWait {
    pub(crate) us: i64,
    pub(crate) unit_known: bool,
    pub(crate) is_estimate: bool,
}

impl BodyWait {
    pub(super) fn read(value: &Scalar<'_>, unit: BodyUnit) -> Option<BodyWait> {
        let is_estimate = unit == BodyUnit::Estimate;
        if let Scalar::Text(text) = value
            && let Some((us, "")) = spelled_us(text.trim())
        {
            return Some(BodyWait { us, unit_known: true, is_estimate });
        }
        let scale = if unit == BodyUnit::Milliseconds { 1e-3 } else { 1.0 };
        match hint::from_seconds(value.number()? * scale) {
            Hint::Wait(us) => Some(BodyWait { us, unit_known: unit != BodyUnit::Seconds, is_estimate }),
            Hint::Unreadable => None,
        }
    }
}

const KEYS: &[(&str, BodyKey)] = &[
    ("error", BodyKey::Error),
    // Tencent Cloud API docs, Responses
    ("Error", BodyKey::Error),
    ("details", BodyKey::Nested),
    ("violations", BodyKey::Nested),
    ("cause", BodyKey::Nested),
    ("body", BodyKey::Nested),
    // Google JSON APIs: one object per problem.
    ("errors", BodyKey::Nested),
    ("innererror", BodyKey::Nested),
    // gaxios and axios put the response under `response.data`.
    ("response", BodyKey::Nested),
    ("Response", BodyKey::Nested),
    ("data", BodyKey::NestedInError),
    // OpenRouter docs, Errors: the provider's response is in `metadata.raw`.
    ("metadata", BodyKey::NestedInError),
    ("raw", BodyKey::NestedInError),
    // OpenRouter API reference, Errors: failures at the providers tried before.
    ("previous_errors", BodyKey::PreviousErrors),
    // MiniMax API docs, Error codes
    ("base_resp", BodyKey::Nested),
    ("type", BodyKey::Value(BodyField::Type)),
    ("__type", BodyKey::Value(BodyField::Type)),
    // header of an exception in an AWS event stream
    (":exception-type", BodyKey::Value(BodyField::Type)),
    ("error_type", BodyKey::Value(BodyField::Type)),
    ("name", BodyKey::Value(BodyField::Name)),
    ("param", BodyKey::Value(BodyField::Param)),
    ("code", BodyKey::Value(BodyField::Code)),
    ("Code", BodyKey::Value(BodyField::Code)),
    ("error_code", BodyKey::Value(BodyField::Code)),
    ("status", BodyKey::Value(BodyField::Status)),
    ("status_code", BodyKey::Value(BodyField::Status)),
    ("statusCode", BodyKey::Value(BodyField::Status)),
    ("http_code", BodyKey::Value(BodyField::HttpStatus)),
    ("raw_status_code", BodyKey::Value(BodyField::HttpStatus)),
    ("message", BodyKey::Value(BodyField::Message)),
    ("Message", BodyKey::Value(BodyField::Message)),
    ("msg", BodyKey::Value(BodyField::Message)),
    ("error_msg", BodyKey::Value(BodyField::Message)),
    ("status_msg", BodyKey::Value(BodyField::Message)),
    ("detail", BodyKey::Value(BodyField::Message)),
    ("title", BodyKey::Value(BodyField::Title)),
    ("reason", BodyKey::Value(BodyField::Reason)),
    ("request_id", BodyKey::Value(BodyField::RequestId)),
    ("requestID", BodyKey::Value(BodyField::RequestId)),
    ("requestId", BodyKey::Value(BodyField::RequestId)),
    ("retryDelay", BodyKey::Value(BodyField::Wait(BodyUnit::SecondsByName))),
    ("retry_after", BodyKey::Value(BodyField::Wait(BodyUnit::Seconds))),
    ("retryAfter", BodyKey::Value(BodyField::Wait(BodyUnit::Seconds))),
    ("retry_after_seconds", BodyKey::Value(BodyField::Wait(BodyUnit::SecondsByName))),
    ("retryAfterSeconds", BodyKey::Value(BodyField::Wait(BodyUnit::SecondsByName))),
    ("retry_after_s", BodyKey::Value(BodyField::Wait(BodyUnit::SecondsByName))),
    ("retry_after_ms", BodyKey::Value(BodyField::Wait(BodyUnit::Milliseconds))),
    ("retryAfterMs", BodyKey::Value(BodyField::Wait(BodyUnit::Milliseconds))),
    // Hugging Face Inference API docs: while a model is being loaded.
    ("estimated_time", BodyKey::Value(BodyField::Wait(BodyUnit::Estimate))),
    ("quotaId", BodyKey::Value(BodyField::QuotaId)),
    ("quota_limit", BodyKey::Value(BodyField::QuotaId)),
];

static TABLE: LazyLock<WordTable<BodyKey>> =
    LazyLock::new(|| WordTable::new(KEYS.iter().map(|(name, key)| (Cow::Borrowed(*name), *key)).collect()));

/// Returns the meaning of `key` at a nesting `depth`.
pub(in crate::ingest) fn key(key: &str, depth: u8) -> Option<BodyKey> {
    match TABLE.get(key)? {
        BodyKey::NestedInError => (1 < depth && depth < MAX_DEPTH).then_some(BodyKey::Nested),
        said @ BodyKey::Value(_) => Some(said),
        nested => (depth < MAX_DEPTH).then_some(nested),
    }
}
