//! Checks whether a value can be read as its field, and whether it is in the range of the field.

use super::fields::Field;
use super::scalar::Scalar;
use crate::ingest::hint;
use crate::model::{Attempt, CompactDuration, Time};
use std::borrow::Cow;

/// Whether a field of numbers or Booleans can be read from `value`; true for fields that accept any text.
pub(super) fn is_readable(field: Field, value: &Scalar<'_>) -> bool {
    match field {
        Field::Status => !matches!(value, Scalar::Float(_)) || value.integer().is_some(),
        Field::RetryAfter => match value {
            Scalar::Text(text) => hint::from_text(text, Time(0), None) != hint::Hint::Unreadable,
            other => other.number().is_some_and(|number| number >= 0.0),
        },
        Field::RetryAfterMs => value.number().is_some_and(|number| number >= 0.0),
        Field::Delivered => value.integer().is_some() || value.truth().is_some(),
        Field::MidStream
        | Field::Stream
        | Field::ShouldRetry
        | Field::WillRetry
        | Field::Success
        | Field::Failure
        | Field::SideEffect => value.truth().is_some(),
        _ => largest(field).is_none() || number_in(field, value).is_some(),
    }
}

/// Longest wait that a client may plan, a year, in ms: spending limits and subscription windows last for months.
const LONGEST_WAIT_MS: f64 = 366.0 * 86_400e3;
/// Largest cost of an attempt in US dollars that a row can store.
pub(in crate::ingest) const DEAREST_USD: f64 = u32::MAX as f64 / 1e6;
/// Largest number of tokens of an attempt that a row can store.
const MAX_TOKENS: f64 = u32::MAX as f64;
/// Largest number of an attempt within its call that a row can store.
const MAX_NUMBER: f64 = u16::MAX as f64;

/// Returns the largest number that a field of numbers can be, in its unit; the smallest is 0.
fn largest(field: Field) -> Option<f64> {
    Some(match field {
        Field::DurationMs | Field::TtftMs | Field::ChunkGapMs | Field::TimeoutMs => CompactDuration::LONGEST_MS,
        Field::DurationS | Field::TtftS | Field::ChunkGapS | Field::TimeoutS => CompactDuration::LONGEST_MS / 1e3,
        Field::DurationUs => CompactDuration::LONGEST_MS * 1e3,
        // The smallest unit that a number without one may be in.
        Field::DurationNs | Field::DurationBare => CompactDuration::LONGEST_MS * 1e6,
        Field::PlannedMs => LONGEST_WAIT_MS,
        Field::PlannedS => LONGEST_WAIT_MS / 1e3,
        Field::CostUsd => DEAREST_USD,
        Field::Number => MAX_NUMBER,
        Field::NumberFromZero => MAX_NUMBER - 1.0,
        // More than a row can store is as good as no limit.
        Field::MaxAttempts | Field::MaxRetries => f64::INFINITY,
        Field::SdkRetryCount => f64::from(Attempt::NO_COUNT) - 1.0,
        Field::Resends => MAX_NUMBER,
        Field::Delivered
        | Field::MaxTokens
        | Field::InputTokens
        | Field::OutputTokens
        | Field::CacheRead
        | Field::CacheWrite => MAX_TOKENS,
        _ => return None,
    })
}

/// Whether a field counts something, so that its numbers are whole.
fn is_count(field: Field) -> bool {
    matches!(
        field,
        Field::Number
            | Field::NumberFromZero
            | Field::MaxAttempts
            | Field::MaxRetries
            | Field::SdkRetryCount
            | Field::Resends
            | Field::Delivered
            | Field::MaxTokens
            | Field::InputTokens
            | Field::OutputTokens
            | Field::CacheRead
            | Field::CacheWrite
    )
}

/// Returns the number that `value` gives for a field of numbers, in the unit of the field.
fn number_in(field: Field, value: &Scalar<'_>) -> Option<f64> {
    match (field, value) {
        (Field::Number, Scalar::Text(text)) => {
            let number = text.split_once('/').map_or(&**text, |(number, _)| number);
            Scalar::Text(Cow::Borrowed(number)).number()
        }
        (Field::DurationBare, value) => duration_with_unit_ms(value).map(|ms| ms * 1e6).or_else(|| value.number()),
        _ => value.number(),
    }
}

/// Whether a number is out of the range of its field, and must not be used.
pub(super) fn is_out_of_range(field: Field, value: &Scalar<'_>) -> bool {
    if field == Field::Status {
        return status_in(value).is_some_and(|status| !(-1..1000).contains(&status));
    }
    let Some((number, largest)) = number_in(field, value).zip(largest(field)) else { return false };
    !(0.0..=largest).contains(&number) || (is_count(field) && number.fract() != 0.0)
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

    #[test]
    fn numbers_that_their_field_cannot_be_are_out_of_range() {
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
            (Field::InputTokens, Scalar::Int(-12)),
            (Field::OutputTokens, Scalar::Float(7.5)),
            (Field::DurationMs, Scalar::Float(-0.5)),
            (Field::DurationBare, Scalar::Int(-1)),
            (Field::DurationBare, text("400h")),
            (Field::TtftS, Scalar::Int(-1)),
            (Field::ChunkGapMs, Scalar::Int(-1)),
            (Field::TimeoutS, Scalar::Int(-1)),
            (Field::PlannedMs, Scalar::Int(-200)),
            (Field::CostUsd, Scalar::Float(-0.01)),
            (Field::Number, Scalar::Int(-3)),
            (Field::Number, Scalar::Float(2.5)),
            (Field::Number, text("2.5/4")),
            (Field::Number, Scalar::Int(70_000)),
            (Field::NumberFromZero, Scalar::Int(-1)),
            (Field::MaxRetries, Scalar::Int(-1)),
            (Field::SdkRetryCount, Scalar::Int(300)),
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
            (Field::DurationBare, Scalar::Int(90_000_000_000)),
            (Field::PlannedS, Scalar::Int(86_400 * 30)),
            (Field::MaxAttempts, Scalar::Int(i64::MAX)),
            (Field::Number, Scalar::Float(2.0)),
            (Field::Number, text("2/5")),
            (Field::InputTokens, Scalar::Float(12.0)),
            (Field::DurationBare, text("1.5s")),
        ] {
            assert!(!is_out_of_range(field, &value), "{field:?} {value:?}");
        }
    }
}
