//! Points in time, and the time zone they are displayed in.

use chrono::{DateTime, Datelike, FixedOffset, TimeZone, Timelike, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Microseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(pub i64);

impl Time {
    /// 0001-01-01 at 00:00 UTC: RFC 3339 has four digits for the year, and calendars no year 0.
    pub const EARLIEST: Time = Time(-62_135_596_800_000_000);
    /// The last microsecond of the year 9999, UTC.
    pub const LATEST: Time = Time(253_402_300_799_999_999);

    /// Returns the time `us` microseconds later, saturating.
    #[must_use]
    pub const fn plus_us(self, us: i64) -> Time {
        Time(self.0.saturating_add(us))
    }

    /// Returns the microseconds from `earlier` to `self`; negative if `earlier` is later.
    #[must_use]
    pub fn us_since(self, earlier: Time) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the seconds from `earlier` to `self`.
    #[must_use]
    pub fn s_since(self, earlier: Time) -> f64 {
        self.us_since(earlier) as f64 / 1e6
    }

    /// Converts to a calendar time, clamped to the years 1 to 9999.
    #[must_use]
    pub fn utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.clamp(Time::EARLIEST, Time::LATEST).0).unwrap_or_default()
    }

    /// Returns 00:00 UTC on the first day of the next month, when a monthly cap reopens.
    #[must_use]
    pub fn next_month(self) -> Time {
        let now = self.utc();
        let (year, month) = if now.month() == 12 { (now.year() + 1, 1) } else { (now.year(), now.month() + 1) };
        Utc.with_ymd_and_hms(year, month, 1, 0, 0, 0).single().map_or(self, |date| Time(date.timestamp_micros()))
    }
}

/// RFC 3339 in UTC, with no, three or six decimals of the second, as needed.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.utc();
        let us = time.timestamp_subsec_micros();
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        write_digits(&mut text[..4], time.year().unsigned_abs());
        write_digits(&mut text[5..7], time.month());
        write_digits(&mut text[8..10], time.day());
        write_digits(&mut text[11..13], time.hour());
        write_digits(&mut text[14..16], time.minute());
        write_digits(&mut text[17..19], time.second());
        write_digits(&mut text[20..26], us);
        let end = match us {
            0 => 19,
            us if us.is_multiple_of(1_000) => 23,
            _ => 26,
        };
        text[end] = b'Z';
        f.pad(std::str::from_utf8(&text[..=end]).unwrap_or_default())
    }
}

/// Fills `room` with the digits of a number, with leading zeros. Every row of a report has times, and the formatting of
/// the standard library would take most of the time needed to write one.
fn write_digits(room: &mut [u8], mut number: u32) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Parses any form of RFC 3339, including the one that [`Time`] is displayed in.
impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let time = DateTime::parse_from_rfc3339(&text).map_err(serde::de::Error::custom)?;
        Ok(Time(time.timestamp_micros()))
    }
}

/// Time zone of logged times without one, and of displayed times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Fixed offset from UTC.
    Fixed(FixedOffset),
    /// Zone of the IANA database, with daylight-saving rules.
    Named(chrono_tz::Tz),
}

impl Zone {
    /// Coordinated Universal Time, the default.
    pub const UTC: Zone = Zone::Named(chrono_tz::UTC);

    /// Converts a local time in this zone to UTC; the earlier of two if the clock is set back.
    #[must_use]
    pub fn local_to_utc(self, local: chrono::NaiveDateTime) -> Option<Time> {
        let us = match self {
            Zone::Fixed(offset) => offset.from_local_datetime(&local).earliest()?.timestamp_micros(),
            Zone::Named(zone) => zone.from_local_datetime(&local).earliest()?.timestamp_micros(),
        };
        Some(Time(us))
    }

    /// Formats a time in this zone for display.
    #[must_use]
    pub fn show(self, time: Time, format: &str) -> String {
        match self {
            Zone::Fixed(offset) => time.utc().with_timezone(&offset).format(format).to_string(),
            Zone::Named(zone) => time.utc().with_timezone(&zone).format(format).to_string(),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Zone::Fixed(offset) => write!(f, "{offset}"),
            Zone::Named(zone) => f.write_str(zone.name()),
        }
    }
}

impl std::str::FromStr for Zone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(zone) = text.parse::<chrono_tz::Tz>() {
            return Ok(Zone::Named(zone));
        }
        if text.eq_ignore_ascii_case("z") || text.eq_ignore_ascii_case("utc") {
            return Ok(Zone::UTC);
        }
        text.parse::<FixedOffset>().map(Zone::Fixed).map_err(|_| {
            format!("`{text}` is no time zone: give an offset such as +02:00, or a name such as Europe/Berlin")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_as_many_decimals_as_needed() {
        assert_eq!(Time(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Time(1_500_000).to_string(), "1970-01-01T00:00:01.500Z");
        assert_eq!(Time(1_000_001).to_string(), "1970-01-01T00:00:01.000001Z");
    }

    #[test]
    fn times_outside_the_calendar_are_clamped() {
        for us in [i64::MAX, Time::LATEST.0, Time::LATEST.0 + 1] {
            assert_eq!(Time(us).to_string(), "9999-12-31T23:59:59.999999Z");
        }
        for us in [i64::MIN, Time::EARLIEST.0, Time::EARLIEST.0 - 1_000_000] {
            assert_eq!(Time(us).utc(), Time::EARLIEST.utc());
        }
        assert_eq!(Time::EARLIEST.to_string(), "0001-01-01T00:00:00Z");
    }

    #[test]
    fn december_is_followed_by_january() {
        let december = Time(1_798_675_200_000_000);
        assert_eq!(december.to_string(), "2026-12-31T00:00:00Z");
        assert_eq!(december.next_month().to_string(), "2027-01-01T00:00:00Z");
    }

    #[test]
    fn zones_are_offsets_or_names() {
        assert_eq!("utc".parse(), Ok(Zone::UTC));
        assert!(matches!("+02:00".parse(), Ok(Zone::Fixed(_))));
        assert!(matches!("Europe/Berlin".parse(), Ok(Zone::Named(_))));
        assert!("Berlin-ish".parse::<Zone>().is_err());
    }
}
