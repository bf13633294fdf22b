//! Determines when a line was written: from its timestamp, from its envelope, or from its position alone.

use crate::ingest::position::Position;
use crate::ingest::record::Times;
use crate::ingest::timestamp;
use crate::model::{Time, UNDATED_START, UNTIMED_START, Zone};

/// The time at which a line was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest::formats) struct LineTime {
    pub(in crate::ingest::formats) at: Time,
    /// The true time may be later by up to this many µs.
    pub(in crate::ingest::formats) slack_us: i64,
    /// Whether a clock was read, and whether it included the date.
    pub(in crate::ingest::formats) times: Times,
    /// Whether the timestamp is in whole seconds.
    pub(in crate::ingest::formats) is_whole_seconds: bool,
}

impl LineTime {
    /// Returns whether no clock was read, so that the time only expresses an order.
    pub(in crate::ingest::formats) fn is_made_up(self) -> bool {
        self.times == Times::OrderOnly
    }
}

/// Slack of a timestamp in whole seconds, in µs.
const WHOLE_SECOND_US: i64 = 999_999;
/// Made-up time between consecutive lines without any time, in µs.
const BETWEEN_LINES_US: i64 = 1_000;
/// If a time of day is earlier than the one before by more than this, in µs, midnight has passed.
const HALF_A_DAY_US: i64 = 43_200_000_000;
/// Number of bytes at the start of a line in which a timestamp may begin.
const MAX_PREFIX: usize = 96;

/// Assigns times to consecutive lines.
#[derive(Debug)]
pub(in crate::ingest::formats) struct Clock {
    last: Option<LineTime>,
    /// Earliest possible time of the following lines.
    earliest: Time,
    /// Time of the latest line without any time.
    made_up: Time,
    /// Midnight of the current day, for a clock without a date.
    midnight: Time,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { last: None, earliest: Time(i64::MIN), made_up: UNTIMED_START, midnight: UNDATED_START }
    }
}

impl Clock {
    /// Returns when `line` at position `at` was written.
    pub(in crate::ingest::formats) fn read(&mut self, line: &str, at: &Position<'_>, zone: Zone) -> LineTime {
        let slack_us = |is_whole| if is_whole { WHOLE_SECOND_US } else { 0 };
        let of_line = leading_time(line, zone).map(|(time, is_whole, _)| (time, slack_us(is_whole), Times::Dated));
        let dated = of_line.or_else(|| Some((at.defaults?.time?, 0, Times::Dated)));
        let found =
            dated.or_else(|| self.by_time_of_day(line).map(|(time, whole)| (time, slack_us(whole), Times::Undated)));
        if let Some((stamp, slack_us, times)) = found {
            // A line is not earlier than those before it, within the slack of its timestamp.
            let at = stamp.max(self.earliest.min(stamp.plus_us(slack_us)));
            let is_whole_seconds = slack_us > 0;
            let line_time = LineTime { at, slack_us: slack_us - at.us_since(stamp), times, is_whole_seconds };
            (self.earliest, self.last) = (at, Some(line_time));
            return line_time;
        }
        // A line without a time that follows one with a time is taken to be written at that time.
        self.last.unwrap_or_else(|| {
            self.made_up = self.made_up.plus_us(BETWEEN_LINES_US);
            LineTime { at: self.made_up, slack_us: 0, times: Times::OrderOnly, is_whole_seconds: false }
        })
    }

    /// Returns the time of day at the start of a line, offset by the days passed so far.
    fn by_time_of_day(&mut self, line: &str) -> Option<(Time, bool)> {
        // If other lines have dates, it is not a timestamp.
        let before = self.last.filter(|last| last.times == Times::Undated);
        if before.is_none() && self.last.is_some() {
            return None;
        }
        let (us, is_whole) = time_of_day(line)?;
        let time = self.midnight.plus_us(us);
        if before.is_some_and(|before| before.at.us_since(time) > HALF_A_DAY_US) {
            self.midnight = self.midnight.plus_us(2 * HALF_A_DAY_US);
        }
        Some((self.midnight.plus_us(us), is_whole))
    }

    /// Sets that the following lines were written at `time` or later.
    pub(in crate::ingest::formats) fn set_earliest(&mut self, time: Time) {
        self.earliest = self.earliest.max(time);
    }

    /// Advances the made-up time of lines without any time to at least `time`.
    pub(in crate::ingest::formats) fn advance_to(&mut self, time: Time) {
        self.made_up = self.made_up.max(time);
    }
}

/// Returns the timestamp near the start of a line, whether it is in whole seconds, and where it ends.
pub(in crate::ingest::formats) fn leading_time(line: &str, zone: Zone) -> Option<(Time, bool, usize)> {
    let bytes = line.as_bytes();
    // The first separator of a date follows the four digits of the year.
    let start_of_line = &bytes[..bytes.len().min(MAX_PREFIX + 4)];
    let starts = memchr::memchr2_iter(b'-', b'/', start_of_line).filter_map(|separator| separator.checked_sub(4));
    let start = starts.into_iter().find(|&at| fits(&bytes[at..], DATE_AND_TIME))?;
    let mut end = start + DATE_AND_TIME.len();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut is_whole = true;
    if matches!(bytes.get(end), Some(b'.' | b',')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
        is_whole = false;
    }
    let zone_at = end + usize::from(bytes.get(end) == Some(&b' '));
    let rest = &bytes[zone_at..];
    let zone_length = match rest {
        [b'Z', ..] => 1,
        [b'U', b'T', b'C', ..] => 3,
        _ if fits(rest, b"+00:00") => 6,
        _ if fits(rest, b"+0000") => 5,
        _ => 0,
    };
    if zone_length > 0 {
        end = zone_at + zone_length;
    }
    let time = timestamp::from_text(line.get(start..end)?, zone)?;
    Some((time, is_whole, end))
}

/// Returns the time of day at the start of a line in µs since midnight, and whether it is in whole seconds:
/// `10:00:05.123 `, `[10:00:05] `, `10:00:05,123 - `.
fn time_of_day(line: &str) -> Option<(i64, bool)> {
    let text = line.strip_prefix('[').unwrap_or(line);
    let bytes = text.as_bytes();
    if !fits(bytes, TIME_OF_DAY) {
        return None;
    }
    let two = |at: usize| text.get(at..at + 2)?.parse::<i64>().ok();
    let (hours, minutes, seconds) = (two(0)?, two(3)?, two(6)?);
    let mut end = TIME_OF_DAY.len();
    let mut us = 0;
    let mut is_whole = true;
    if matches!(bytes.get(end), Some(b'.' | b',')) {
        let digits = bytes[end + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        is_whole = false;
        us = text.get(end + 1..end + 1 + digits.min(6))?.parse::<i64>().ok()? * 10_i64.pow(6 - digits.min(6) as u32);
        end += 1 + digits;
    }
    let is_delimited = bytes.get(end).is_none_or(|byte| matches!(byte, b' ' | b']' | b'\t' | b'|'));
    let is_time = hours < 24 && minutes < 60 && seconds < 61;
    (is_delimited && is_time).then_some((((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + us, is_whole))
}

/// Pattern of a time of day; see [`fits`].
const TIME_OF_DAY: &[u8] = b"00:00:00";

/// Pattern of a date and a time; see [`fits`].
const DATE_AND_TIME: &[u8] = b"0000-00-00T00:00:00";

/// Returns whether `bytes` begins as `pattern` says: `0` stands for a digit, `+` for a sign, `-` for a separator of
/// dates, `T` for `T` or a space, and any other byte for itself.
fn fits(bytes: &[u8], pattern: &[u8]) -> bool {
    bytes.len() >= pattern.len()
        && pattern.iter().zip(bytes).all(|(wanted, byte)| match wanted {
            b'0' => byte.is_ascii_digit(),
            b'-' => matches!(byte, b'-' | b'/'),
            b'T' => matches!(byte, b'T' | b' '),
            b'+' => matches!(byte, b'+' | b'-'),
            other => other == byte,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_at_the_start_of_lines_are_read() {
        for (line, time, is_whole) in [
            ("[2026-03-02 07:00:01 - httpx:1025 - INFO] x", "2026-03-02T07:00:01Z", true),
            ("2026-03-02 07:00:01,250 - root - INFO - x", "2026-03-02T07:00:01.250Z", false),
            ("WARN 2026/03/02 07:00:01.250 x", "2026-03-02T07:00:01.250Z", false),
            ("2026-03-02T07:00:01.250+02:00  WARN 69 --- [m] x", "2026-03-02T05:00:01.250Z", false),
            ("2026-03-02 07:00:01.250 +0200 x", "2026-03-02T05:00:01.250Z", false),
            ("2026-03-02T07:00:01.250123Z  INFO x", "2026-03-02T07:00:01.250123Z", false),
        ] {
            let (found, whole, _) = leading_time(line, Zone::UTC).unwrap_or((Time(0), false, 0));
            assert_eq!((found.to_string().as_str(), whole), (time, is_whole), "{line}");
        }
        assert_eq!(leading_time("INFO:httpx:HTTP Request", Zone::UTC), None);
    }

    #[test]
    fn lines_without_a_time_get_made_up_times_in_order() {
        let (mut clock, at) = (Clock::default(), Position::line(1));
        let first = clock.read("a", &at, Zone::UTC);
        clock.advance_to(first.at.plus_us(2_000_000));
        let second = clock.read("b", &at, Zone::UTC);
        assert!(first.is_made_up() && second.is_made_up() && second.at > first.at.plus_us(2_000_000));
        let dated = clock.read("2026-03-02 07:00:01 c", &at, Zone::UTC);
        assert_eq!((dated.is_made_up(), dated.slack_us), (false, WHOLE_SECOND_US));
        assert_eq!(clock.read("d", &at, Zone::UTC), dated);
    }

    #[test]
    fn times_of_day_continue_after_midnight() {
        let (mut clock, at) = (Clock::default(), Position::line(1));
        let mut read = |line| clock.read(line, &at, Zone::UTC);
        let first = read("23:59:59.500 - a");
        let (second, third, without_time) = (read("[00:00:01] b"), read("00:00:01,250 c"), read("d"));
        assert_eq!((first.times, first.slack_us, second.slack_us), (Times::Undated, 0, WHOLE_SECOND_US));
        assert_eq!((second.at.us_since(first.at), third.at.us_since(second.at)), (1_500_000, 250_000));
        assert_eq!(without_time, third);
        for other in ["23:59", "23:59:61.5", "24:00:00 a", "10:00:05Z", "10:00:05. a", "10:00:0é"] {
            assert_eq!(time_of_day(other), None, "{other}");
        }
    }
}
