//! When a usage window or cap resets, if the record says so.

use std::sync::LazyLock;

use chrono::{DateTime, Datelike, Duration, FixedOffset, Months, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use memchr::memmem;
use regex::bytes::{Captures, Regex};

use super::Class;
use super::waits::stated_wait;

/// Returns the time from which on retrying makes sense, in µs since the Unix epoch.
///
/// Times in the message take precedence, except for a usage window, whose header is exact while the message is rounded.
/// Zones are offsets or names of the IANA database. With any other zone the result is `None`: no time is better than
/// one that is hours off.
pub fn reopens_at(class: Class, message: Option<&str>, sent_us: i64, window_reset_us: Option<i64>) -> Option<i64> {
    let message = message.unwrap_or_default();
    let message = &message[..message.floor_char_boundary(MAX_TEXT)];
    let text = message.as_bytes();
    match class {
        Class::SpendCap | Class::SpendLimit => stated_date(text).or_else(|| first_of_next_month(sent_us)),
        // A wait such as "retry in 47 s" is ignored: Gemini sends it even with a daily quota.
        Class::QuotaExhausted => stated_date(text).or_else(|| stated_epoch(text)),
        // A header of 0 or less is a sentinel, not a time.
        Class::UsageWindow => window_reset_us
            .filter(|reset| *reset > 0)
            .or_else(|| stated_date(text))
            .or_else(|| stated_epoch(text))
            .or_else(|| stated_clock(text, sent_us))
            // A wait of less than a second belongs to a rate limit, not to a usage window.
            .or_else(|| sent_us.checked_add(stated_wait(message).filter(|wait| wait.us >= 1_000_000)?.us)),
        _ => None,
    }
}

/// Maximum length of text searched, in bytes. Notices are short; longer text is a document around one.
const MAX_TEXT: usize = 16 * 1024;

type Pattern = LazyLock<Option<Regex>>;

/// Matches "regain access on 2026-09-01 at 00:00 UTC" and "resets at 2026-09-01T00:00:00Z".
static DATE: Pattern = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)(?:regain access|reset|resume|try again|available|until|renew)[^0-9]{0,40}?",
        r"(\d{4}-\d\d-\d\d)(?:T|\s+(?:at\s+)?)(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?",
        r"\s*(Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d)"
    ))
    .ok()
});

/// Matches `"resets_at":1775317531` (Codex) and `usage limit reached|1755806400` (Claude Code).
static EPOCH: Pattern = LazyLock::new(|| {
    Regex::new(r#"(?i-u)(?:resets?_?at\\?["']?\s*[:=]\s*\\?["']?|limit reached\|)(\d{10,19})\b"#).ok()
});

/// Matches "resets 3:30am (UTC)", "resets Oct 9, 10am (UTC)", "Resets Jul 11 at 12pm (UTC)" and
/// "try again at 13:50 UTC".
static CLOCK: Pattern = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)(?:resets?|try again|retry|available(?: again)?)\s+(?:at\s+)?",
        r"(?:([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,|\s)\s*(?:\d{4},?\s+)?(?:at\s+)?)?",
        r"(\d{1,2})(?::(\d\d))?(?::\d\d)?\s*([ap]m\b)?\s*(?:\(([^()\n]{1,40})\)|((?:UTC|GMT)(?:[+-]\d\d?(?::?\d\d)?)?)\b)?"
    ))
    .ok()
});

/// Matches a pattern that requires `digits` consecutive digits. If the text has none, it cannot match, and the costly
/// compilation of the pattern is avoided.
fn captures<'t>(pattern: &Pattern, digits: usize, text: &'t [u8]) -> Option<Captures<'t>> {
    let has_digits = text.split(|byte| !byte.is_ascii_digit()).any(|run| run.len() >= digits);
    if has_digits { pattern.as_ref()?.captures(text) } else { None }
}

fn group<'t>(captures: &Captures<'t>, index: usize) -> Option<&'t str> {
    std::str::from_utf8(captures.get(index)?.as_bytes()).ok()
}

fn stated_date(text: &[u8]) -> Option<i64> {
    let found = captures(&DATE, 4, text)?;
    let date = group(&found, 1)?.parse::<NaiveDate>().ok()?;
    let clock = group(&found, 2)?;
    let time =
        NaiveTime::parse_from_str(clock, "%H:%M:%S").or_else(|_| NaiveTime::parse_from_str(clock, "%H:%M")).ok()?;
    let zone = zone(group(&found, 3)?)?;
    Some(date.and_time(time).and_local_timezone(zone).single()?.timestamp_micros())
}

fn stated_epoch(text: &[u8]) -> Option<i64> {
    let found = captures(&EPOCH, 10, text)?;
    let number = group(&found, 1)?.parse::<i64>().ok().filter(|number| *number > 0)?;
    // The unit follows from the magnitude: times in seconds have 10 digits until the year 2286, those in ms 13, in µs
    // 16 and in ns 19.
    match number.ilog10() {
        ..11 => number.checked_mul(1_000_000),
        11..14 => number.checked_mul(1_000),
        14..17 => Some(number),
        _ => Some(number / 1_000),
    }
}

/// Returns the next time at which the stated clock shows that time. A time skipped by a change of clocks has no result;
/// of one that occurs twice the later is returned, since a retry that is too early fails.
fn stated_clock(text: &[u8], sent_us: i64) -> Option<i64> {
    let found = captures(&CLOCK, 1, text)?;
    next_in_stated_zone(&found, sent_us)
}

fn next_in_stated_zone(found: &Captures<'_>, sent_us: i64) -> Option<i64> {
    let name = group(found, 6).or_else(|| group(found, 7))?.trim();
    match zone(name) {
        Some(offset) => next_at(found, offset, sent_us),
        None => next_at(found, name.parse::<Tz>().ok()?, sent_us),
    }
}

/// Returns the time of the next attempt stated in a message such as "try again at 13:50", and whether its zone is
/// stated. Without one, the time is interpreted in `zone`, and a bare hour is ignored.
pub fn stated_moment<Z: TimeZone + Copy>(message: &str, now_us: i64, zone: Z) -> Option<(i64, bool)> {
    let text = &message.as_bytes()[..message.floor_char_boundary(MAX_TEXT)];
    // Most messages state no time and end here, before any pattern is matched.
    memmem::find(text, b" at ")?;
    if let Some(us) = stated_date(text) {
        return Some((us, true));
    }
    let found = captures(&CLOCK, 1, text)?;
    if let Some(us) = next_in_stated_zone(&found, now_us) {
        return Some((us, true));
    }
    let has_zone = found.get(6).or_else(|| found.get(7)).is_some();
    let is_clock = found.get(4).or_else(|| found.get(5)).is_some();
    if has_zone || !is_clock {
        return None;
    }
    Some((next_at(&found, zone, now_us)?, false))
}

fn next_at<Z: TimeZone + Copy>(found: &Captures<'_>, zone: Z, sent_us: i64) -> Option<i64> {
    let hour = group(found, 3)?.parse::<u32>().ok()?;
    let minute = group(found, 4).map_or(Some(0), |minute| minute.parse().ok())?;
    let hour = match group(found, 5) {
        Some(am_or_pm) if (1..=12).contains(&hour) => {
            hour % 12 + if am_or_pm.eq_ignore_ascii_case("pm") { 12 } else { 0 }
        }
        Some(_) => return None,
        None => hour,
    };
    let time = NaiveTime::from_hms_opt(hour, minute, 0)?;
    let sent = DateTime::<Utc>::from_timestamp_micros(sent_us)?.with_timezone(&zone);
    let at = |date: NaiveDate| date.and_time(time).and_local_timezone(zone).latest();
    if let (Some(month), Some(day)) = (group(found, 1), group(found, 2)) {
        let month = month_number(month)?;
        let day = day.parse().ok()?;
        let this_year = at(NaiveDate::from_ymd_opt(sent.year(), month, day)?)?;
        // A date more than a month in the past belongs to the next year, such as "resets Jan 2" sent in December.
        let is_past = this_year < sent.clone() - Duration::days(31);
        let year = if is_past { sent.year() + 1 } else { sent.year() };
        return Some(at(NaiveDate::from_ymd_opt(year, month, day)?)?.timestamp_micros());
    }
    let today = at(sent.date_naive())?;
    let next = if today > sent { today } else { at(sent.date_naive().succ_opt()?)? };
    Some(next.timestamp_micros())
}

/// Returns 00:00 UTC on the first of the next month (Anthropic docs, Errors: monthly spend cap).
fn first_of_next_month(sent_us: i64) -> Option<i64> {
    let sent = DateTime::<Utc>::from_timestamp_micros(sent_us)?.date_naive();
    let first = sent.with_day(1)?.checked_add_months(Months::new(1))?;
    Some(first.and_time(NaiveTime::MIN).and_utc().timestamp_micros())
}

/// Parses names of UTC, and offsets such as `+02:00` or `UTC+2`.
fn zone(name: &str) -> Option<FixedOffset> {
    const NAMES_OF_UTC: [&str; 6] = ["Z", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Etc/UCT"];
    if NAMES_OF_UTC.iter().any(|utc| name.eq_ignore_ascii_case(utc)) {
        return FixedOffset::east_opt(0);
    }
    let offset = name.strip_prefix("UTC").or_else(|| name.strip_prefix("GMT")).unwrap_or(name);
    let (sign, digits) = match offset.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, offset.strip_prefix('+')?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
        None => (digits, "0"),
    };
    let hours = hours.parse::<u16>().ok().filter(|hours| *hours <= 14)?;
    let minutes = minutes.parse::<u16>().ok().filter(|minutes| *minutes < 60)?;
    FixedOffset::east_opt(sign * (i32::from(hours) * 3_600 + i32::from(minutes) * 60))
}

fn month_number(name: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let index = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month))?;
    u32::try_from(index + 1).ok()
}
