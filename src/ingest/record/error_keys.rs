//! Meaning of the keys of an error body.

use super::scalar::Scalar;
use super::word_table::WordTable;
use crate::classify::spelled_us;
use crate::ingest::hint::{self, Hint};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Largest depth at which nested errors are read.
pub(in crate::ingest) const DEEPEST: u8 = 9;

/// Meaning of a key of an error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum Key {
    /// The error itself.
    Error,
    /// Contains more of the error.
    More,
    /// Contains more of the error if it is inside an error; in any other response it is the response itself.
    Deeper,
    /// A list of failures before this response.
    Previous,
    Said(Part),
}

/// A value that describes the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum Part {
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

const KEYS: &[(&str, Key)] = &[
    ("error", Key::Error),
    // Tencent Cloud API docs, Responses
    ("Error", Key::Error),
    ("details", Key::More),
    ("violations", Key::More),
    ("cause", Key::More),
    ("body", Key::More),
    // Google JSON APIs: one object per problem.
    ("errors", Key::More),
    ("innererror", Key::More),
    // gaxios and axios put the response under `response.data`.
    ("response", Key::More),
    ("Response", Key::More),
    ("data", Key::Deeper),
    // OpenRouter docs, Errors: the provider's response is in `metadata.raw`.
    ("metadata", Key::Deeper),
    ("raw", Key::Deeper),
    // OpenRouter API reference, Errors: failures at the providers tried before.
    ("previous_errors", Key::Previous),
    // MiniMax API docs, Error codes
    ("base_resp", Key::More),
    ("type", Key::Said(Part::Type)),
    ("__type", Key::Said(Part::Type)),
    // header of an exception in an AWS event stream
    (":exception-type", Key::Said(Part::Type)),
    ("error_type", Key::Said(Part::Type)),
    ("name", Key::Said(Part::Name)),
    ("param", Key::Said(Part::Param)),
    ("code", Key::Said(Part::Code)),
    ("Code", Key::Said(Part::Code)),
    ("error_code", Key::Said(Part::Code)),
    ("status", Key::Said(Part::Status)),
    ("status_code", Key::Said(Part::Status)),
    ("statusCode", Key::Said(Part::Status)),
    ("http_code", Key::Said(Part::HttpStatus)),
    ("raw_status_code", Key::Said(Part::HttpStatus)),
    ("message", Key::Said(Part::Message)),
    ("Message", Key::Said(Part::Message)),
    ("msg", Key::Said(Part::Message)),
    ("error_msg", Key::Said(Part::Message)),
    ("status_msg", Key::Said(Part::Message)),
    ("detail", Key::Said(Part::Message)),
    ("title", Key::Said(Part::Title)),
    ("reason", Key::Said(Part::Reason)),
    ("request_id", Key::Said(Part::RequestId)),
    ("requestID", Key::Said(Part::RequestId)),
    ("requestId", Key::Said(Part::RequestId)),
    ("retryDelay", Key::Said(Part::Wait(BodyUnit::SecondsByName))),
    ("retry_after", Key::Said(Part::Wait(BodyUnit::Seconds))),
    ("retryAfter", Key::Said(Part::Wait(BodyUnit::Seconds))),
    ("retry_after_seconds", Key::Said(Part::Wait(BodyUnit::SecondsByName))),
    ("retryAfterSeconds", Key::Said(Part::Wait(BodyUnit::SecondsByName))),
    ("retry_after_s", Key::Said(Part::Wait(BodyUnit::SecondsByName))),
    ("retry_after_ms", Key::Said(Part::Wait(BodyUnit::Milliseconds))),
    ("retryAfterMs", Key::Said(Part::Wait(BodyUnit::Milliseconds))),
    // Hugging Face Inference API docs: while a model is being loaded.
    ("estimated_time", Key::Said(Part::Wait(BodyUnit::Estimate))),
    ("quotaId", Key::Said(Part::QuotaId)),
    ("quota_limit", Key::Said(Part::QuotaId)),
];

static TABLE: LazyLock<WordTable<Key>> =
    LazyLock::new(|| WordTable::new(KEYS.iter().map(|(name, key)| (Cow::Borrowed(*name), *key)).collect()));

/// Returns the meaning of `key` at a nesting `depth`.
pub(in crate::ingest) fn key(key: &str, depth: u8) -> Option<Key> {
    match TABLE.get(key)? {
        Key::Deeper => (1 < depth && depth < DEEPEST).then_some(Key::More),
        said @ Key::Said(_) => Some(said),
        nested => (depth < DEEPEST).then_some(nested),
    }
}
