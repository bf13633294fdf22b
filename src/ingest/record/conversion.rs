//! Conversion of the values of user-defined keys into those of their field: other words, time formats, units.

use super::fields::Field;
use super::scalar::Scalar;
use crate::ingest::hint;
use crate::model::{Time, Zone};
use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{NaiveDate, NaiveTime};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Conversion of the value of a user-defined key. By default, the value is read like one of the field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// Values of the key, each with the corresponding value of the field; `*` stands for all others.
    pub values: BTreeMap<String, String>,
    /// Format of times.
    pub format: Option<TimeFormat>,
    /// Time zone of times that name none.
    pub zone: Option<Zone>,
    /// Unit of durations.
    pub unit: Option<SpanUnit>,
}

/// A time format in strftime notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeFormat {
    text: String,
    /// The parsed format.
    items: Vec<Item<'static>>,
}

impl TimeFormat {
    /// Creates a format from strftime notation. It is checked only when it is used in a mapping.
    #[must_use]
    pub fn new(text: &str) -> TimeFormat {
        TimeFormat { text: text.to_owned(), items: StrftimeItems::new(text).map(Item::to_owned).collect() }
    }

    /// Returns the strftime notation.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Unit of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Minutes.
    Min,
}

impl SpanUnit {
    /// All units with their names.
    pub const NAMED: [(&'static str, SpanUnit); 5] =
        [("ns", SpanUnit::Ns), ("us", SpanUnit::Us), ("ms", SpanUnit::Ms), ("s", SpanUnit::S), ("min", SpanUnit::Min)];

    /// Returns the name used in configurations.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, unit)| *unit == self).map_or("", |(name, _)| name)
    }

    fn ms(self) -> f64 {
        match self {
            SpanUnit::Ns => 1e-6,
            SpanUnit::Us => 1e-3,
            SpanUnit::Ms => 1.0,
            SpanUnit::S => 1e3,
            SpanUnit::Min => 60e3,
        }
    }
}

/// Key in [`Conversion::values`] that stands for all values not listed.
const OTHERS: &str = "*";

impl Conversion {
    /// Whether values are read unchanged.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Conversion::default()
    }

    /// Returns why the conversion cannot be applied to values of `field`, if so: the faulty key of the conversion, and
    /// a message. `name` is the name of the field as the user wrote it.
    pub(super) fn reason_against(&self, field: Field, name: &str) -> Option<(&'static str, String)> {
        if is_structure(field) && !self.is_none() {
            return Some((
                "field",
                format!("`{name}` is read with all that is in it: nothing can be made of its value"),
            ));
        }
        if self.unit.is_some() && field_in_ms(field).is_none() {
            let what = format!("`{name}` is no span of time: `unit` is for duration_ms, ttft_ms, retry_after_ms, ")
                + "planned_wait_ms, timeout_ms and max_chunk_gap_ms";
            return Some(("unit", what));
        }
        if !is_time(field) {
            let key = if self.format.is_some() { "format" } else { "zone" };
            let is_given = self.format.is_some() || self.zone.is_some();
            return is_given.then(|| (key, format!("`{name}` is no time: `{key}` is for ts, started_at and ended_at")));
        }
        match &self.format {
            Some(format) => Some(("format", fault_of_format(format)?)),
            None => self.zone.map(|_| ("zone", "`zone` needs a `format` beside it".to_owned())),
        }
    }

    /// Returns the field to set and its value, for a key whose value is `value`. A value that cannot be converted is
    /// returned unchanged.
    pub(super) fn apply<'a>(&self, field: Field, value: Scalar<'a>) -> (Field, Scalar<'a>) {
        let value = self.replaced(value);
        if let (Some(unit), Some(field)) = (self.unit, field_in_ms(field)) {
            let with_own_unit = match &value {
                Scalar::Text(text) if text.contains(' ') => hint::go_duration(&text.replace(' ', "")),
                Scalar::Text(text) => hint::go_duration(text),
                _ => None,
            };
            let ms = with_own_unit.map(|us| us as f64 / 1e3).or_else(|| Some(value.number()? * unit.ms()));
            return (field, ms.map_or(value, Scalar::Float));
        }
        match (&self.format, &value) {
            (Some(format), Scalar::Text(text)) => {
                let time = to_rfc3339(text.trim(), format, self.zone);
                (field, time.map_or(value, |time| Scalar::Text(Cow::Owned(time))))
            }
            _ => (field, value),
        }
    }

    /// Replaces a value by the one it stands for.
    fn replaced<'a>(&self, value: Scalar<'a>) -> Scalar<'a> {
        if self.values.is_empty() {
            return value;
        }
        let word = match &value {
            Scalar::Bool(truth) => Some(Cow::Owned(truth.to_string())),
            Scalar::Null => None,
            other => other.clone().into_text(),
        };
        let known = word.and_then(|word| self.values.get(word.trim()).or_else(|| self.values.get(OTHERS)));
        known.map_or(value, |known| Scalar::Text(Cow::Owned(known.clone())))
    }
}

/// Parses a time in this format and returns it in RFC 3339; without an offset if no zone is known.
fn to_rfc3339(text: &str, format: &TimeFormat, zone: Option<Zone>) -> Option<String> {
    let mut parsed = Parsed::new();
    parse(&mut parsed, text, format.items.iter()).ok()?;
    if let Ok(time) = parsed.to_datetime() {
        return Some(Time(time.timestamp_micros()).to_string());
    }
    let local = parsed.to_naive_datetime_with_offset(0).ok()?;
    match zone {
        Some(zone) => Some(zone.local_to_utc(local)?.to_string()),
        // The debug format of chrono is RFC 3339 without the offset.
        None => Some(format!("{local:?}")),
    }
}

/// Returns why times cannot be read in this format, if so: a sample is formatted and read back.
fn fault_of_format(format: &TimeFormat) -> Option<String> {
    let text = format.text();
    if format.items.contains(&Item::Error) {
        return Some(format!("`{text}` is no format of strftime, such as %d.%m.%Y %H:%M:%S%.f"));
    }
    let sample = NaiveDate::from_ymd_opt(2026, 11, 29)?.and_time(NaiveTime::from_hms_opt(18, 3, 48)?);
    let formatted = sample.and_utc().fixed_offset().format_with_items(format.items.iter()).to_string();
    let parsed = to_rfc3339(&formatted, format, Some(Zone::UTC));
    let is_complete = parsed.is_some_and(|time| time.starts_with("2026-11-29T18:03"));
    (!is_complete)
        .then(|| format!("`{text}` does not tell a date and a time of day: a time spelled so cannot be read back"))
}

fn is_time(field: Field) -> bool {
    matches!(field, Field::Ts | Field::StartedAt | Field::EndedAt)
}

/// Whether the value of a field is an object.
fn is_structure(field: Field) -> bool {
    matches!(field, Field::Headers | Field::RequestHeaders | Field::Error | Field::Body | Field::Usage | Field::Client)
}

/// Returns the field in ms that corresponds to a field of durations.
fn field_in_ms(field: Field) -> Option<Field> {
    Some(match field {
        Field::DurationMs | Field::DurationS | Field::DurationUs | Field::DurationNs | Field::DurationUnitless => {
            Field::DurationMs
        }
        Field::TtftMs | Field::TtftS => Field::TtftMs,
        Field::RetryAfter | Field::RetryAfterMs => Field::RetryAfterMs,
        Field::PlannedMs | Field::PlannedS => Field::PlannedMs,
        Field::TimeoutMs | Field::TimeoutS => Field::TimeoutMs,
        Field::ChunkGapMs | Field::ChunkGapS => Field::ChunkGapMs,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(text: &str) -> Scalar<'_> {
        Scalar::Text(Cow::Borrowed(text))
    }

    #[test]
    fn values_are_replaced() {
        let values = [("DEFAULT", "ok"), ("true", "error"), ("7", "429"), ("*", "?")];
        let values = values.map(|(from, to)| (from.to_owned(), to.to_owned())).into_iter().collect();
        let conversion = Conversion { values, ..Conversion::default() };
        for (value, becomes) in
            [(text(" DEFAULT"), "ok"), (Scalar::Bool(true), "error"), (Scalar::Int(7), "429"), (text("WARN"), "?")]
        {
            assert_eq!(conversion.apply(Field::Outcome, value), (Field::Outcome, text(becomes)));
        }
        assert_eq!(conversion.apply(Field::Outcome, Scalar::Null).1, Scalar::Null);
    }

    #[test]
    fn the_unit_applies_to_values_without_one() {
        let conversion = Conversion { unit: Some(SpanUnit::S), ..Conversion::default() };
        for (value, ms) in
            [(text("1.5"), 1500.0), (Scalar::Int(2), 2000.0), (text("80 ms"), 80.0), (text("1m2s"), 62e3)]
        {
            assert_eq!(conversion.apply(Field::DurationUnitless, value), (Field::DurationMs, Scalar::Float(ms)));
        }
        // It is later reported as a value that could not be read.
        assert_eq!(conversion.apply(Field::TtftS, text("soon")), (Field::TtftMs, text("soon")));
    }

    #[test]
    fn times_are_read_in_their_format_and_zone() {
        let of = |format: &str, zone: Option<&str>, value: &str| {
            let zone = zone.map(|zone| zone.parse().unwrap());
            let conversion = Conversion { format: Some(TimeFormat::new(format)), zone, ..Conversion::default() };
            conversion.apply(Field::EndedAt, text(value)).1.into_text().unwrap().into_owned()
        };
        assert_eq!(
            of("%d.%m.%Y %H:%M:%S%.f", Some("Europe/Berlin"), "05.01.2026 11:00:00.5"),
            "2026-01-05T10:00:00.500Z"
        );
        assert_eq!(of("%d.%m.%Y %H:%M:%S", None, "05.01.2026 11:00:00"), "2026-01-05T11:00:00");
        assert_eq!(of("%d/%m/%y %H:%M:%S %z", None, "05/01/26 11:00:00 +0200"), "2026-01-05T09:00:00Z");
        assert_eq!(of("%d/%m/%y %H:%M:%S", None, "yesterday"), "yesterday");
    }

    #[test]
    fn conversions_that_do_not_suit_the_field_are_rejected() {
        let with = |format: Option<&str>, unit, field, name| {
            let conversion = Conversion { format: format.map(TimeFormat::new), unit, ..Conversion::default() };
            conversion.reason_against(field, name).map(|(key, _)| key)
        };
        assert_eq!(with(None, Some(SpanUnit::S), Field::Status, "status"), Some("unit"));
        assert_eq!(with(Some("%Y"), None, Field::Status, "status"), Some("format"));
        assert_eq!(with(Some("%H:%M:%S"), None, Field::Ts, "ts"), Some("format"));
        assert_eq!(with(Some("%Q%"), None, Field::Ts, "ts"), Some("format"));
        assert_eq!(with(Some("%d.%m.%Y %H:%M"), None, Field::Ts, "ts"), None);
        assert_eq!(with(None, Some(SpanUnit::Us), Field::PlannedS, "planned_wait_s"), None);
        assert_eq!(with(None, Some(SpanUnit::Us), Field::Headers, "headers"), Some("field"));
    }
}
