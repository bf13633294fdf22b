//! Parsing of `retry-after` values in all spellings that servers use.

use super::timestamp;
use crate::model::{HintSource, Time, Zone};

/// The value of a hint: a wait, or a value no client can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// Wait, in µs from the end of the response.
    Wait(i64),
    /// Not a wait: negative, empty, or not a number.
    Unreadable,
}

/// A hint, its source, and whether its unit is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerHint {
    pub(crate) hint: Hint,
    pub(crate) source: HintSource,
    /// Whether the value or the name of the field states the unit, or the hint was a point in time. A bare number under
    /// `retry-after` counts seconds, but some gateways write milliseconds.
    pub(crate) unit_known: bool,
}

impl ServerHint {
    /// Returns the wait in µs, if a client can follow it.
    pub(crate) fn wait_us(self) -> Option<i64> {
        match self.hint {
            Hint::Wait(us) => Some(us),
            Hint::Unreadable => None,
        }
    }
}

/// Whether a header value contains a letter, and so more than a bare number.
pub(crate) fn names_its_unit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Longest plausible wait in seconds, ten years: larger numbers are not waits.
const LONGEST_S: f64 = 10.0 * 365.0 * 86_400.0;

/// Parses a number of seconds, from a JSON number or a header's digits.
pub(crate) fn from_seconds(seconds: f64) -> Hint {
    if (0.0..LONGEST_S).contains(&seconds) { Hint::Wait((seconds * 1e6).round() as i64) } else { Hint::Unreadable }
}

/// Parses a JSON integer: seconds, or a point in time in epoch seconds. `answered` is when the response was complete.
pub(crate) fn from_integer(number: i64, answered: Time) -> Hint {
    if number < 0 { Hint::Unreadable } else { seconds_or_time(number as f64, answered) }
}

/// Parses a header value. `answered` is when the response was complete; dates are measured from `server_date`, the
/// server's own clock, if given.
pub(crate) fn from_text(text: &str, answered: Time, server_date: Option<Time>) -> Hint {
    let text = text.trim();
    // HTTP libraries join the values of a repeated header: "20, 20". A date contains a comma too.
    if let Some((first, rest)) = text.split_once(',')
        && first.trim().bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && rest.split(',').all(|part| part.trim() == first.trim())
    {
        return from_text(first, answered, server_date);
    }
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return text.parse().map_or(Hint::Unreadable, |seconds| seconds_or_time(seconds, answered));
    }
    if let Some(us) = go_duration(text) {
        return Hint::Wait(us);
    }
    let time = httpdate::parse_http_date(text)
        .ok()
        .and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .map(Time)
        .or_else(|| text.contains('T').then(|| timestamp::from_text(text, Zone::UTC))?);
    match time {
        // A date in the past means that the client need not wait.
        Some(time) => Hint::Wait(time.us_since(server_now(answered, server_date)).max(0)),
        None => Hint::Unreadable,
    }
}

/// Returns the time of the server's clock when the response was complete. The `date` header has whole seconds. If both
/// clocks agree within that precision, the client's time is returned, since it is more precise. Otherwise the end of
/// that second is returned: the wait is then rather too short than too long, and no client is blamed for waiting less.
fn server_now(answered: Time, server_date: Option<Time>) -> Time {
    match server_date {
        Some(date) if answered.us_since(date).abs() > 2_000_000 => date.plus_us(1_000_000),
        _ => answered,
    }
}

/// Parses seconds, or a point in time since the epoch, which some servers send instead.
fn seconds_or_time(seconds: f64, answered: Time) -> Hint {
    let now = answered.0 as f64 / 1e6;
    // OpenRouter sends the point in time in milliseconds (its docs, Limits).
    // Larger than any time in seconds (1e12 s are 30,000 years).
    let seconds = if seconds > 1e12 { seconds / 1e3 } else { seconds };
    // A number of more than 30 years that, as epoch seconds, is within a year of the response.
    if seconds > 1e9 && (seconds - now).abs() < 366.0 * 86_400.0 {
        return Hint::Wait(((seconds - now).max(0.0) * 1e6).round() as i64);
    }
    from_seconds(seconds)
}

/// Parses Go's duration format, which OpenAI and Groq use, into µs: `6m0s`, `1m9.696s`, `579ms`, `1h3m`.
pub(crate) fn go_duration(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let us = match &rest[..end] {
            "h" => 3_600e6,
            "m" => 60e6,
            "s" => 1e6,
            "ms" => 1e3,
            "us" | "µs" => 1.0,
            "ns" => 1e-3,
            _ => return None,
        };
        total += value * us;
        rest = &rest[end..];
    }
    (total < LONGEST_S * 1e6).then_some(total.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_767_607_200_000_000);

    fn wait_s(text: &str) -> Option<f64> {
        match from_text(text, NOW, None) {
            Hint::Wait(us) => Some(us as f64 / 1e6),
            Hint::Unreadable => None,
        }
    }

    #[test]
    fn every_form_servers_use_is_read() {
        for (text, seconds) in [
            ("0", 0.0),
            (" 20 ", 20.0),
            ("20, 20", 20.0),
            ("0.5", 0.5),
            ("7m12s", 432.0),
            ("1m9.696s", 69.696),
            ("579ms", 0.579),
            ("50.597142857s", 50.597_143),
            ("1h3m", 3780.0),
            ("11180000", 11_180_000.0),
            ("Mon, 05 Jan 2026 10:00:30 GMT", 30.0),
            ("Monday, 05-Jan-26 10:00:30 GMT", 30.0),
            ("Mon, 05 Jan 2026 09:59:30 GMT", 0.0),
            ("2026-01-05T10:00:30Z", 30.0),
            ("1767607230", 30.0),
            ("1767607230500", 30.5),
        ] {
            assert_eq!(wait_s(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn values_no_client_can_follow_are_unreadable() {
        for text in ["", "-1", "NaN", "1e3", "0x10", "²", "soon", "Tue, 32 Jan 2026 10:00:30 GMT", "20, 30"] {
            assert_eq!(wait_s(text), None, "{text}");
        }
    }

    #[test]
    fn dates_are_measured_from_the_server_clock() {
        let server = Time(NOW.0 - 28_000_000);
        let hint = from_text("Mon, 05 Jan 2026 10:00:02 GMT", NOW, Some(server));
        assert_eq!(hint, Hint::Wait(29_000_000));
    }

    #[test]
    fn clocks_that_agree_keep_the_fractions_of_the_clients() {
        let answered = Time(NOW.0 + 950_000);
        let hint = from_text("Mon, 05 Jan 2026 10:00:04 GMT", answered, Some(NOW));
        assert_eq!(hint, Hint::Wait(3_050_000));
    }
}
