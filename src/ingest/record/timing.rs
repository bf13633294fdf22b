//! Timing of the attempt of a record: when it was sent, and how long it took.

use super::attempt_start;
use super::fields::Field;
use super::fingerprint::truncate;
use super::record_context::{ReadResult, RecordContext};
use super::scalar::Scalar;
use super::typed::Record;
use super::unknown_outcome;
use crate::ingest::conventions::RecordTimes;
use crate::ingest::timestamp;
use crate::model::{Time, Zone};

/// When an attempt was sent, and its duration in ms if known.
pub(in crate::ingest) type Timing = (Time, Option<f64>);

/// Returns the timing of the attempt of a record whose text is `line`, or the result of reading a record that is not an
/// attempt or cannot be used as one.
pub(in crate::ingest) fn attempt_timing(
    record: &Record<'_>,
    line: &str,
    context: &RecordContext<'_>,
) -> Result<Timing, ReadResult> {
    if !record.has_outcome() {
        if let Some(status) =
            record.unreadable_in(Field::Status).filter(|_| record.names_an_attempt() || record.names_a_model())
        {
            return Err(ReadResult::Unusable(format!("`status` is no HTTP status: {}", truncate(status, 40))));
        }
        let unknown = unknown_outcome::of(record, line).map(ReadResult::UnknownOutcome);
        let result = unknown.or_else(|| attempt_start::of(record, line, context).map(ReadResult::Start));
        return Err(result.unwrap_or(ReadResult::NotAnAttempt));
    }
    match record_timing(record, context) {
        Ok(Some(found)) => Ok(found),
        Ok(None) if record.names_an_attempt() => Err(ReadResult::Unusable("an attempt without a time (`ts`)".into())),
        Ok(None) => Err(ReadResult::NotAnAttempt),
        Err(text) => Err(ReadResult::Unusable(format!("`ts` is no time: {text}"))),
    }
}

/// Like [`attempt_timing`], from the times of the record only; `None` if it has none.
pub(in crate::ingest) fn record_timing(
    record: &Record<'_>,
    context: &RecordContext<'_>,
) -> Result<Option<Timing>, String> {
    let mut times = record_times(record, context.zone)?;
    if times.stamp.is_none() && times.started.is_none() && times.ended.is_none() {
        // The time of an envelope is the time of writing, which is after the response.
        times.ended = context.defaults.and_then(|defaults| defaults.time);
    }
    Ok(context.conventions.sent_and_duration(&times))
}

/// Parses the times and durations of a record.
pub(in crate::ingest) fn record_times(record: &Record<'_>, zone: Zone) -> Result<RecordTimes, String> {
    let time = |value: &Option<Scalar<'_>>| value.as_ref().map(|value| time(value, zone)).transpose();
    Ok(RecordTimes {
        stamp: time(&record.ts)?,
        started: time(&record.started_at)?,
        ended: time(&record.ended_at)?,
        duration_ms: record.duration_ms,
        unitless_duration: record.unitless_duration,
    })
}

fn time(ts: &Scalar<'_>, zone: Zone) -> Result<Time, String> {
    let parsed = match ts {
        Scalar::Int(value) => timestamp::from_integer(*value),
        Scalar::Float(value) => timestamp::from_number(*value),
        Scalar::Text(text) => timestamp::from_text(text, zone),
        _ => None,
    };
    parsed.ok_or_else(|| match ts {
        Scalar::Text(text) if timestamp::is_skipped(text, zone) => {
            format!("\"{}\" does not exist in {zone}, where clocks were set forward over it", truncate(text, 40))
        }
        Scalar::Text(text) => format!("\"{}\"", truncate(text, 40)),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        _ => "not a string or a number".to_owned(),
    })
}
