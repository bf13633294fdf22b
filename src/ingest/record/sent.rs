//! Time at which the attempt of a record was sent, and its duration.

use super::attempt_start;
use super::fields::Field;
use super::fingerprint::truncate;
use super::place::{Place, Taken};
use super::scalar::Scalar;
use super::typed::Record;
use super::unknown_outcome;
use crate::ingest::conventions::Moments;
use crate::ingest::timestamp;
use crate::model::{Time, Zone};

/// Time of sending, and the duration in ms if known.
pub(in crate::ingest) type Sent = (Time, Option<f64>);

/// Returns when the attempt of a record whose text is `line` was sent and how long it took, or what becomes of a record
/// that is not an attempt or cannot be used as one.
pub(in crate::ingest) fn sent_of(record: &Record<'_>, line: &str, place: &Place<'_>) -> Result<Sent, Taken> {
    if !record.has_outcome() {
        if let Some(status) =
            record.misread_in(Field::Status).filter(|_| record.names_an_attempt() || record.names_a_model())
        {
            return Err(Taken::Unusable(format!("`status` is no HTTP status: {}", truncate(status, 40))));
        }
        let unknown = unknown_outcome::of(record, line).map(Taken::Unclear);
        let taken = unknown.or_else(|| attempt_start::of(record, line, place).map(Taken::Begun));
        return Err(taken.unwrap_or(Taken::NotAnAttempt));
    }
    match sent_at(record, place) {
        Ok(Some(found)) => Ok(found),
        Ok(None) if record.names_an_attempt() => Err(Taken::Unusable("an attempt without a time (`ts`)".into())),
        Ok(None) => Err(Taken::NotAnAttempt),
        Err(text) => Err(Taken::Unusable(format!("`ts` is no time: {text}"))),
    }
}

/// Like [`sent_of`], from the times of the record only; `None` if it has none.
pub(in crate::ingest) fn sent_at(record: &Record<'_>, place: &Place<'_>) -> Result<Option<Sent>, String> {
    let mut moments = moments(record, place.zone)?;
    if moments.stamp.is_none() && moments.started.is_none() && moments.ended.is_none() {
        // Whatever encloses a record stamps it when it is written, after the response.
        moments.ended = place.defaults.and_then(|defaults| defaults.time);
    }
    Ok(place.conventions.sent(&moments))
}

/// Returns the times and durations of a record, each read on its own.
pub(in crate::ingest) fn moments(record: &Record<'_>, zone: Zone) -> Result<Moments, String> {
    let time = |value: &Option<Scalar<'_>>| value.as_ref().map(|value| time(value, zone)).transpose();
    Ok(Moments {
        stamp: time(&record.ts)?,
        started: time(&record.started_at)?,
        ended: time(&record.ended_at)?,
        duration_ms: record.duration_ms,
        bare_duration: record.bare_duration,
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
