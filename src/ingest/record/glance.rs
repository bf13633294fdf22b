//! Summary of one record, taken before it is known how its input is to be read.

use super::attempt::Builder;
use super::fields::Field;
use super::kept::FINGERPRINT;
use super::place::Place;
use super::scalar::Scalar;
use super::sent::{moments, sent_at};
use super::spellings::spelled;
use super::typed::{Record, Times};
use crate::ingest::hint::ServerHint;
use crate::model::{CompactDuration, Time};
use std::hash::BuildHasher;

/// Times of one attempt, and what is needed to interpret them.
#[derive(Clone, Debug)]
pub(crate) struct Glance {
    /// Fingerprint of the call, if it is named.
    pub(crate) call: Option<u64>,
    /// Fingerprint of the run.
    pub(crate) run: u64,
    /// Fingerprint of the layer.
    pub(crate) layer: u64,
    /// Timestamp that may be the start or the time of writing.
    pub(crate) stamp: Option<Time>,
    /// Key of `stamp`.
    pub(crate) key: &'static str,
    /// Whether `stamp` is a number of seconds with a fraction.
    pub(crate) fractional_seconds: bool,
    /// Precision of its times.
    pub(crate) times: Times,
    pub(crate) number: Option<i64>,
    pub(crate) failed: bool,
    pub(crate) hint_us: Option<i64>,
    /// Duration in ms, from a key that names its unit.
    pub(crate) named_ms: Option<f64>,
    pub(crate) bare: Option<Bare>,
}

/// A duration whose key names no unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    pub(crate) value: f64,
    /// Whether it is a whole number.
    pub(crate) whole: bool,
}

/// Numbers from here on are not seconds since the epoch, but milliseconds or smaller units.
const NO_SECONDS: f64 = 1e11;

/// Nanoseconds per millisecond: no other unit differs more from the one that a key names.
const NS_OF_MS: f64 = 1e6;

/// Returns a duration that is impossible in the unit that its key names, converted from that unit to ms.
fn impossible_ms(record: &Record<'_>) -> Option<f64> {
    let units =
        [(Field::DurationMs, 1.0), (Field::DurationS, 1e3), (Field::DurationUs, 1e-3), (Field::DurationNs, 1e-6)];
    let found = units.into_iter().find_map(|(field, ms)| Some(record.misread_in(field)?.parse::<f64>().ok()? * ms));
    found.filter(|ms| *ms <= CompactDuration::LONGEST_MS * NS_OF_MS)
}

/// Summarizes `record`; `None` if it is not an attempt.
pub(in crate::ingest) fn glance(record: &Record<'_>, place: &Place<'_>) -> Option<Glance> {
    if !record.has_outcome() {
        return None;
    }
    let moments = moments(record, place.zone).ok()?;
    let (sent, duration_ms) = sent_at(record, place).ok()??;
    let builder = Builder { record, sent, duration_ms, place };
    let hint_us = builder.hint(sent).and_then(ServerHint::wait_us);
    let run = FINGERPRINT.hash_one(record.run_id.as_deref());
    Some(Glance {
        call: builder.call_id().map(|call| FINGERPRINT.hash_one((run, call))),
        run,
        layer: FINGERPRINT.hash_one(record.layer.as_deref()),
        stamp: moments.stamp.filter(|_| moments.started.is_none() && moments.ended.is_none()),
        key: spelled(Field::Ts, record.stamp_rank),
        fractional_seconds: matches!(record.ts, Some(Scalar::Float(seconds)) if seconds < NO_SECONDS),
        times: record.times,
        number: record.number.or(record.sdk_retry_count.map(|count| count.saturating_add(1))),
        failed: builder.verdict(hint_us).is_some(),
        hint_us,
        named_ms: record.duration_ms.or_else(|| impossible_ms(record)),
        bare: record.bare_duration.map(|value| Bare { value, whole: value.fract() == 0.0 }),
    })
}
