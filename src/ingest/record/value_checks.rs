//! Checks whether a value can be read as its field, and whether it is in the range of the field.

use super::fields::Field;
use super::scalar::Scalar;
use crate::ingest::hint;
use crate::model::{Span, Time};

/// Whether a field of numbers or Booleans can be read from `value`; true for fields that accept any text.
pub(super) fn is_readable(field: Field, value: &Scalar<'_>) -> bool {
    match field {
        Field::DurationUnitless => duration_with_unit_ms(value).is_some() || value.number().is_some(),
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

/// Longest wait that a client may plan, a year, in ms: spending limits and subscription windows last for months.
const LONGEST_WAIT_MS: f64 = 366.0 * 86_400e3;
/// Largest cost of an attempt in US dollars that a row can store.
pub(in crate::ingest) const MAX_COST_USD: f64 = u32::MAX as f64 / 1e6;
/// Largest number of tokens of an attempt that a row can store.
const MAX_TOKENS: i64 = u32::MAX as i64;

/// Whether a number is too large for its field, and must not be used.
pub(super) fn is_out_of_range(field: Field, value: &Scalar<'_>) -> bool {
    let exceeds = |unit_ms: f64, longest_ms: f64| value.number().is_some_and(|number| number * unit_ms > longest_ms);
    match field {
        Field::Status => status_in(value).is_some_and(|status| !(-1..1000).contains(&status)),
        Field::DurationMs | Field::TtftMs | Field::ChunkGapMs => exceeds(1.0, Span::LONGEST_MS),
        Field::DurationS | Field::TtftS | Field::ChunkGapS => exceeds(1e3, Span::LONGEST_MS),
        Field::DurationUs => exceeds(1e-3, Span::LONGEST_MS),
        // A duration without a unit may be in nanoseconds.
        Field::DurationNs | Field::DurationUnitless => exceeds(1e-6, Span::LONGEST_MS),
        Field::PlannedMs => exceeds(1.0, LONGEST_WAIT_MS),
        Field::PlannedS => exceeds(1e3, LONGEST_WAIT_MS),
        Field::CostUsd => exceeds(1.0, MAX_COST_USD),
        Field::InputTokens | Field::OutputTokens | Field::CacheRead | Field::CacheWrite => {
            value.integer().is_some_and(|tokens| tokens > MAX_TOKENS)
        }
        _ => false,
    }
}

/// Returns a status given as a number, or at the start of a text: `429 Too Many Requests`.
pub(super) fn status_in(value: &Scalar<'_>) -> Option<i64> {
    value.integer().or_else(|| match value {
        Scalar::Text(text) if text.as_bytes().first().is_some_and(u8::is_ascii_digit) => {
            text.split(' ').next().and_then(|code| code.parse().ok())
        }
        _ => None,
    })
}

/// Returns the duration in ms of a text that states its unit, such as `"1.5s"`.
pub(super) fn duration_with_unit_ms(value: &Scalar<'_>) -> Option<f64> {
    match value {
        Scalar::Text(text) => hint::go_duration(text.trim()).map(|us| us as f64 / 1000.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn numbers_too_large_for_their_field_are_out_of_range() {
        let text = |text: &'static str| Scalar::Text(Cow::Borrowed(text));
        for (field, value) in [
            (Field::Status, Scalar::Int(1000)),
            (Field::Status, Scalar::Int(-429)),
            (Field::Status, text("60000 Odd")),
            (Field::DurationMs, Scalar::Float(1e300)),
            (Field::DurationS, Scalar::Int(600_000)),
            (Field::DurationNs, Scalar::Int(i64::MAX)),
            (Field::PlannedS, Scalar::Float(1e9)),
            (Field::CostUsd, Scalar::Int(5000)),
            (Field::InputTokens, Scalar::Float(1e20)),
        ] {
            assert!(is_out_of_range(field, &value), "{field:?} {value:?}");
        }
        for (field, value) in [
            (Field::Status, Scalar::Int(0)),
            (Field::Status, Scalar::Int(-1)),
            (Field::Status, text("529 Overloaded")),
            (Field::Status, text("ok")),
            (Field::DurationMs, Scalar::Int(86_400_000)),
            (Field::DurationNs, Scalar::Int(90_000_000_000)),
            (Field::DurationUnitless, Scalar::Int(90_000_000_000)),
            (Field::PlannedS, Scalar::Int(86_400 * 30)),
            (Field::MaxAttempts, Scalar::Int(i64::MAX)),
        ] {
            assert!(!is_out_of_range(field, &value), "{field:?} {value:?}");
        }
    }
}
