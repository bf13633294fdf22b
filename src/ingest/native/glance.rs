//! One record at a glance, before it is known how its input is to be read.

use super::attempt::{Builder, FINGERPRINT, Place, moments};
use super::fields;
use super::scalar::Scalar;
use super::whole_record;
use crate::ingest::{conventions::Conventions, dialect::Dialect, hint::ServerHint};
use crate::model::{Time, Zone};
use std::hash::BuildHasher;

/// What one attempt says of its times.
#[derive(Clone, Debug)]
pub(crate) struct Glance {
    /// Fingerprint of the call, where it is named.
    pub(crate) call: Option<u64>,
    /// The same of the run.
    pub(crate) run: u64,
    /// The same of the layer.
    pub(crate) layer: u64,
    /// A time that may be that of the start or of the writing.
    pub(crate) stamp: Option<Time>,
    /// Its key.
    pub(crate) key: &'static str,
    /// It is a number of seconds with a fraction.
    pub(crate) fractional_seconds: bool,
    pub(crate) number: Option<i64>,
    pub(crate) failed: bool,
    pub(crate) hint_us: Option<i64>,
    /// A duration whose key names its unit.
    pub(crate) named_ms: Option<f64>,
    pub(crate) bare: Option<Bare>,
}

/// A duration whose key names no unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    pub(crate) value: f64,
    /// It has no fraction.
    pub(crate) whole: bool,
}

/// Numbers from here on are no seconds since the epoch, but milliseconds or less.
const NO_SECONDS: f64 = 1e11;

/// Glances at `line`; `None` where it is no attempt.
pub(crate) fn glance(line: &str, dialect: &Dialect, zone: Zone) -> Option<Glance> {
    let record = whole_record(line, &dialect.fields).ok()?;
    if !record.tells_an_outcome() {
        return None;
    }
    let moments = moments(&record, zone).ok()?;
    let conventions = Conventions::default();
    let (sent, duration_ms) = conventions.sent(&moments)?;
    let place = Place { file: 0, line: 0, stream: "", zone, filter: None, dialect, keep_ids: false, conventions };
    let builder = Builder { record: &record, sent, duration_ms, place: &place };
    let hint_us = builder.hint(sent).and_then(ServerHint::wait_us);
    let run = FINGERPRINT.hash_one(record.run_id.as_deref());
    Some(Glance {
        call: builder.call_id().map(|call| FINGERPRINT.hash_one((run, call))),
        run,
        layer: FINGERPRINT.hash_one(record.layer.as_deref()),
        stamp: moments.stamp.filter(|_| moments.started.is_none() && moments.ended.is_none()),
        key: fields::spelled(fields::Field::Ts, record.stamp_rank),
        fractional_seconds: matches!(record.ts, Some(Scalar::Float(seconds)) if seconds < NO_SECONDS),
        number: record.number.or(record.sdk_retry_count.map(|count| count.saturating_add(1))),
        failed: builder.verdict(hint_us).is_some(),
        hint_us,
        named_ms: record.duration_ms,
        bare: record.bare_duration.map(|value| Bare { value, whole: value.fract() == 0.0 }),
    })
}
