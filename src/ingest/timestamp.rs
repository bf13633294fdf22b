//! Parses timestamps: RFC 3339, epoch numbers in any unit, and the times without zone that loggers write.

use super::record::digits::{self, TENS};
use crate::model::{Time, Zone};
use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// Earliest plausible time of a log, 1990-01-01, in epoch seconds. A number below it is in another unit.
const OLDEST_S: f64 = 631_152_000.0;
/// Latest plausible time of a log, 2100-01-01, in epoch seconds.
const NEWEST_S: f64 = 4_102_444_800.0;

/// Formats of loggers without a zone, in strftime notation. A comma before the fraction is replaced by a point first.
const LOCAL_FORMATS: [&str; 5] =
    ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y/%m/%d %H:%M:%S%.f", "%d/%b/%Y:%H:%M:%S", "%Y%m%dT%H%M%S%.f"];

/// Parses a number since the epoch in s, ms, µs or ns, whose unit is inferred from its size.
pub(crate) fn from_number(value: f64) -> Option<Time> {
    [1e6, 1e3, 1.0, 1e-3].into_iter().find_map(|us_per_unit| {
        let seconds = value * us_per_unit / 1e6;
        (OLDEST_S..NEWEST_S).contains(&seconds).then(|| Time((value * us_per_unit).round() as i64))
    })
}

/// Parses an integer since the epoch, without the rounding of nanoseconds that a float would cause.
pub(crate) fn from_integer(value: i64) -> Option<Time> {
    let in_range = |us: i64| (OLDEST_S..NEWEST_S).contains(&(us as f64 / 1e6));
    let candidates = [value.checked_mul(1_000_000), value.checked_mul(1000), Some(value), Some(value / 1000)];
    candidates.into_iter().flatten().find(|us| in_range(*us)).map(Time)
}

/// Parses a time given as text, in the years 1 to 9999. `zone` applies to times that name none.
#[inline]
pub(crate) fn from_text(text: &str, zone: Zone) -> Option<Time> {
    rfc3339_utc(text.as_bytes()).or_else(|| {
        let time = from_other_text(text, zone)?;
        (Time::EARLIEST..=Time::LATEST).contains(&time).then_some(time)
    })
}

fn from_other_text(text: &str, zone: Zone) -> Option<Time> {
    let text = text.trim();
    if let Some(time) = common_format(text, zone) {
        return Some(time);
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(Time(time.timestamp_micros()));
    }
    if let Ok(value) = text.parse::<i64>() {
        return from_integer(value);
    }
    if let Ok(value) = text.parse::<f64>() {
        return from_number(value);
    }
    zoned(text).or_else(|| local(text, zone))
}

/// Parses `2026-01-05 10:00:00 +0200`, the Common Log Format and RFC 2822 dates, with their offsets.
fn zoned(text: &str) -> Option<Time> {
    // Dates of HTTP and mail.
    if let Ok(time) = DateTime::parse_from_rfc2822(text) {
        return Some(Time(time.timestamp_micros()));
    }
    let formats = ["%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %z", "%d/%b/%Y:%H:%M:%S %z"];
    let text = text.replace(',', ".");
    let parsed = formats.iter().find_map(|format| DateTime::parse_from_str(&text, format).ok());
    parsed.map(|time| Time(time.timestamp_micros()))
}

fn local(text: &str, zone: Zone) -> Option<Time> {
    let (local, zone) = local_time(text, zone)?;
    zone.local_to_utc(local)
}

/// Whether it is a local time that does not exist in `zone`, because clocks were set forward.
pub(crate) fn is_skipped(text: &str, zone: Zone) -> bool {
    local_time(text.trim(), zone).is_some_and(|(local, zone)| zone.local_to_utc(local).is_none())
}

/// Parses a time without an offset, and returns it with its zone: UTC if the text says so, else `zone`.
fn local_time(text: &str, zone: Zone) -> Option<(NaiveDateTime, Zone)> {
    let utc = text.strip_suffix(" UTC").or_else(|| text.strip_suffix('Z'));
    let (text, zone) = utc.map_or((text, zone), |rest| (rest, Zone::UTC));
    let text = text.replace(',', ".");
    let parsed = LOCAL_FORMATS.iter().find_map(|format| NaiveDateTime::parse_from_str(&text, format).ok())?;
    Some((parsed, zone))
}

/// Parses the most common format without a date library: `YYYY-MM-DDTHH:MM:SS[.fraction]Z`.
#[inline]
fn rfc3339_utc(text: &[u8]) -> Option<Time> {
    leading_rfc3339_utc(text).filter(|(_, length)| *length == text.len()).map(|(time, _)| time)
}

/// Parses `YYYY-MM-DDTHH:MM:SS[.fraction]Z` at the start of `bytes`, and returns its length; finer digits than
/// microseconds are dropped.
#[inline(always)]
pub(in crate::ingest) fn leading_rfc3339_utc(bytes: &[u8]) -> Option<(Time, usize)> {
    let (minute, rest) = bytes.split_first_chunk::<16>()?;
    let ([b':', tens @ b'0'..=b'5', ones @ b'0'..=b'9'], rest) = rest.split_first_chunk::<3>()? else { return None };
    let (us, length) = match rest.first()? {
        b'.' => fraction_us(&rest[1..]).map(|(us, digits)| (us, 1 + digits))?,
        _ => (0, 0),
    };
    if !matches!(rest.get(length), Some(b'Z' | b'z')) {
        return None;
    }
    let seconds = minute_of(minute)? * 60 + i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
    Some((Time(seconds * 1_000_000 + us), 20 + length))
}

/// Parses the most common formats of loggers without a date library: `YYYY-MM-DD HH:MM:SS[,fraction]`, followed by an
/// offset or in `zone`. `None` does not mean that the text is invalid: other formats are left to the date library.
fn common_format(text: &str, zone: Zone) -> Option<Time> {
    let (minute, rest) = text.as_bytes().split_first_chunk::<16>()?;
    let ([b':', tens @ b'0'..=b'5', ones @ b'0'..=b'9'], rest) = rest.split_first_chunk::<3>()? else { return None };
    let seconds = i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
    let (us, rest) = match rest {
        [b'.' | b',', digits @ ..] => {
            let (us, count) = fraction_us(digits).filter(|(_, count)| *count <= 6)?;
            (us, &digits[count..])
        }
        _ => (0, rest),
    };
    let local = Time((minute_of(minute)? * 60 + seconds) * 1_000_000 + us);
    let two = |digits: &[u8; 2]| digits::integer(digits).filter(|_| digits[0] != b'-');
    match rest {
        [] => zone.local_to_utc(local.utc().naive_utc()),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] | [sign @ (b'+' | b'-'), h0, h1, m0, m1] => {
            let (hours, minutes) = (two(&[*h0, *h1])?, two(&[*m0, *m1])?);
            if hours > 23 || minutes > 59 || text.contains(',') {
                return None;
            }
            let offset_us = (hours * 60 + minutes) * 60_000_000;
            Some(local.plus_us(if *sign == b'+' { -offset_us } else { offset_us }))
        }
        _ => None,
    }
}

/// Returns the minutes from 1970-01-01 to `YYYY-MM-DDTHH:MM`.
fn minute_of(text: &[u8; 16]) -> Option<i64> {
    // Adjacent lines of a log mostly share a minute, so each thread caches the latest result.
    thread_local! {
        static LAST: std::cell::Cell<([u8; 16], i64)> = const { std::cell::Cell::new(([0; 16], 0)) };
    }
    let (known, minutes) = LAST.get();
    if known == *text {
        return Some(minutes);
    }
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
    };
    let punctuated = [text[4], text[7], text[13]] == *b"--:" && matches!(text[10], b'T' | b't' | b' ');
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    if !punctuated || year == 0 || hour > 23 || minute > 59 {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(year as i32, month, day)?;
    let days = date.signed_duration_since(NaiveDate::default()).num_days();
    let minutes = days * 1440 + i64::from(hour * 60 + minute);
    LAST.set((*text, minutes));
    Some(minutes)
}

/// Parses the digits after a decimal point, one to nine of them, into microseconds, and counts them.
#[inline(always)]
fn fraction_us(digits: &[u8]) -> Option<(i64, usize)> {
    let (value, count) = digits::leading(digits).filter(|(_, count)| (1..=9).contains(count))?;
    Some((value * TENS[9 - count] / 1000, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Option<String> {
        from_text(value, Zone::UTC).map(|time| time.to_string())
    }

    #[test]
    fn one_time_in_many_formats() {
        for spelling in [
            "2026-01-05T10:00:12.300Z",
            "2026-01-05T10:00:12.3Z",
            "2026-01-05T10:00:12.300000000Z",
            "2026-01-05T12:00:12.300+02:00",
            "2026-01-05 10:00:12,300",
            "2026-01-05 10:00:12.300",
            "2026/01/05 10:00:12.300",
            "2026-01-05 10:00:12.300 UTC",
            "2026-01-05 12:00:12.300 +0200",
            "2026-01-05T12:00:12.300+0200",
            "1767607212300",
            "1767607212300000000",
            "1767607212.3",
        ] {
            assert_eq!(text(spelling).as_deref(), Some("2026-01-05T10:00:12.300Z"), "{spelling}");
        }
        assert_eq!(text("05/Jan/2026:12:00:12 +0200").as_deref(), Some("2026-01-05T10:00:12Z"));
    }

    #[test]
    fn the_unit_of_epoch_numbers_is_inferred_from_their_size() {
        let s = 1_767_607_212;
        for value in [s, s * 1000, s * 1_000_000, s * 1_000_000_000] {
            assert_eq!(from_integer(value), Some(Time(s * 1_000_000)));
        }
        assert_eq!(from_number(1_767_607_212.25), Some(Time(s * 1_000_000 + 250_000)));
        assert_eq!(from_integer(42), None);
    }

    #[test]
    fn times_without_a_zone_are_in_the_given_zone() {
        let zone: Zone = "Europe/Berlin".parse().unwrap_or(Zone::UTC);
        let time = from_text("2026-07-01 12:00:00", zone).map(|time| time.to_string());
        assert_eq!(time.as_deref(), Some("2026-07-01T10:00:00Z"));
    }

    #[test]
    fn common_formats_are_read_as_the_date_library_reads_them() {
        for date in ["2026-03-29 01:59:59", "2026-10-25T02:30:00", "2024-02-29 23:59:59", "2026-02-30 00:00:00"] {
            for fraction in ["", ".5", ",250", ".250123", ",25012345", ".", ","] {
                for offset in ["", "Z", "+02:00", "-0330", "+24:00", "+2:00", "+-1:00", " +0200", " UTC"] {
                    let text = format!("{date}{fraction}{offset}");
                    for zone in [Zone::UTC, "Europe/Berlin".parse().unwrap_or(Zone::UTC)] {
                        let slow = DateTime::parse_from_rfc3339(&text).ok().map(|time| Time(time.timestamp_micros()));
                        let slow = slow.or_else(|| zoned(&text)).or_else(|| local(&text, zone));
                        // The formats of the fallback require a colon in the offset after a `T`.
                        let is_basic = text.contains('T') && offset == "-0330";
                        if let Some(quick) = common_format(&text, zone).filter(|_| !is_basic) {
                            assert_eq!(Some(quick), slow, "{text}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn invalid_times_are_none() {
        for bad in [
            "",
            "yesterday",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-01-05T25:00:00Z",
            "12:00:00",
            "2026-01-05T10:00:00.Z",
        ] {
            assert_eq!(text(bad), None, "{bad}");
        }
    }
}
