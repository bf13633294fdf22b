//! Whether a value can be one of a field at all.

use super::fields::Field;
use super::scalar::Scalar;
use crate::ingest::hint;
use crate::model::Time;

/// Whether a field of numbers or truths can be read from `value`; fields that take any words can.
pub(super) fn means_something(field: Field, value: &Scalar<'_>) -> bool {
    match field {
        Field::DurationBare => with_unit(value).is_some() || value.number().is_some(),
        Field::RetryAfter => match value {
            Scalar::Text(text) => hint::from_text(text, Time(0), None) != hint::Hint::Unreadable,
            other => other.number().is_some(),
        },
        Field::DurationMs
        | Field::DurationS
        | Field::DurationUs
        | Field::DurationNs
        | Field::TtftMs
        | Field::TtftS
        | Field::RetryAfterMs
        | Field::PlannedMs
        | Field::PlannedS
        | Field::ChunkGapMs
        | Field::ChunkGapS
        | Field::CostUsd => value.number().is_some(),
        Field::NumberFromZero
        | Field::MaxAttempts
        | Field::MaxRetries
        | Field::SdkRetryCount
        | Field::InputTokens
        | Field::OutputTokens
        | Field::CacheRead
        | Field::CacheWrite => value.integer().is_some(),
        Field::MidStream
        | Field::Stream
        | Field::ShouldRetry
        | Field::WillRetry
        | Field::Success
        | Field::Failure
        | Field::SideEffect => value.truth().is_some(),
        _ => true,
    }
}

/// `"1.5s"` carries its unit: the duration in ms.
pub(super) fn with_unit(value: &Scalar<'_>) -> Option<f64> {
    match value {
        Scalar::Text(text) => hint::go_duration(text.trim()).map(|us| us as f64 / 1000.0),
        _ => None,
    }
}
