//! Times of one record, from which the meaning of the times of its input is inferred before the input is read.

use super::attempt::AttemptBuilder;
use super::fields::Field;
use super::fingerprint::FINGERPRINT;
use super::record_context::RecordContext;
use super::scalar::Scalar;
use super::spellings::spelled;
use super::timing::{record_times, record_timing};
use super::typed::{Record, TimePrecision};
use crate::ingest::hint::ServerHint;
use crate::model::{CompactDuration, Time};
use std::hash::BuildHasher;

/// Times of one attempt, and what is needed to interpret them.
#[derive(Clone, Debug)]
pub(crate) struct TimingSample {
    /// Fingerprint of the call, if it is named.
    pub(crate) call: Option<u64>,
    /// Fingerprint of the run.
    pub(crate) run: u64,
    /// Fingerprint of the layer.
    pub(crate) layer: u64,
    /// Timestamp that may be the start or the time of writing.
    pub(crate) stamp: Option<Time>,
    /// Key of `stamp`, in the spelling of the record.
    pub(crate) key: &'static str,
    /// Whether `stamp` is a number of seconds with a fraction.
    pub(crate) fractional_seconds: bool,
    /// Precision of its times.
    pub(crate) time_precision: TimePrecision,
    pub(crate) number: Option<i64>,
    pub(crate) failed: bool,
    pub(crate) hint_us: Option<i64>,
    /// Duration in ms, from a key that names its unit.
    pub(crate) named_ms: Option<f64>,
    pub(crate) unitless: Option<UnitlessDuration>,
}

/// A duration whose key names no unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitlessDuration {
    pub(crate) value: f64,
    /// Whether it is a whole number.
    pub(crate) whole: bool,
}

/// Smallest time since the epoch that is not in seconds but in a smaller unit.
const SMALLEST_MS_TIME: f64 = 1e11;

/// Nanoseconds per millisecond: the largest factor by which a duration is too long if it is in another unit than its
/// key names.
const NS_PER_MS: f64 = 1e6;

/// Returns a duration that was not read because it is too long in the unit that its key names, in ms.
fn too_long_ms(record: &Record<'_>) -> Option<f64> {
    let units =
        [(Field::DurationMs, 1.0), (Field::DurationS, 1e3), (Field::DurationUs, 1e-3), (Field::DurationNs, 1e-6)];
    let found = units.into_iter().find_map(|(field, ms)| Some(record.unreadable_in(field)?.parse::<f64>().ok()? * ms));
    found.filter(|ms| *ms <= CompactDuration::LONGEST_MS * NS_PER_MS)
}

/// Returns the times of `record`; `None` if it is not an attempt.
pub(in crate::ingest) fn timing_sample(record: &Record<'_>, context: &RecordContext<'_>) -> Option<TimingSample> {
    if !record.has_outcome() {
        return None;
    }
    let times = record_times(record, context.zone).ok()?;
    let (sent, duration_ms) = record_timing(record, context).ok()??;
    let builder = AttemptBuilder { record, sent, duration_ms, context };
    let hint_us = builder.hint(sent).and_then(ServerHint::wait_us);
    let run = FINGERPRINT.hash_one(record.run_id.as_deref());
    Some(TimingSample {
        call: builder.call_id().map(|call| FINGERPRINT.hash_one((run, call))),
        run,
        layer: FINGERPRINT.hash_one(record.layer.as_deref()),
        stamp: times.stamp.filter(|_| times.started.is_none() && times.ended.is_none()),
        key: spelled(Field::Ts, record.stamp_rank),
        fractional_seconds: matches!(record.ts, Some(Scalar::Float(seconds)) if seconds < SMALLEST_MS_TIME),
        time_precision: record.time_precision,
        number: record.number.or(record.sdk_retry_count.map(|count| count.saturating_add(1))),
        failed: builder.verdict(hint_us).is_some(),
        hint_us,
        named_ms: record.duration_ms.or_else(|| too_long_ms(record)),
        unitless: record.unitless_duration.map(|value| UnitlessDuration { value, whole: value.fract() == 0.0 }),
    })
}
