//! When a line was written: by the time in front of it, by what its envelope says, or by its place alone.

use crate::ingest::position::Position;
use crate::ingest::timestamp;
use crate::model::{NO_TIME, Time, Zone};

/// A moment as a log tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest::formats) struct Moment {
    pub(in crate::ingest::formats) at: Time,
    /// It may have been up to so much later, µs.
    pub(in crate::ingest::formats) slack_us: i64,
    /// No clock was read: it only stands in order.
    pub(in crate::ingest::formats) is_made_up: bool,
    /// The clock shows whole seconds.
    pub(in crate::ingest::formats) is_coarse: bool,
}

/// A time with whole seconds may have been nearly a second later.
const WHOLE_SECOND_US: i64 = 999_999;
/// What one line is further than the line before, where nothing tells, µs.
const STEP_US: i64 = 1_000;
/// A logger writes the time within so many bytes of the front of a line.
const PREFIX: usize = 96;

/// Tells the moments of lines that are given one after the other.
#[derive(Debug)]
pub(in crate::ingest::formats) struct Clock {
    last: Option<Moment>,
    /// No line that comes was written before.
    floor: Time,
    made_up: Time,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { last: None, floor: Time(i64::MIN), made_up: NO_TIME }
    }
}

impl Clock {
    /// When `line` was written, which stands at `at`.
    pub(in crate::ingest::formats) fn read(&mut self, line: &str, at: &Position<'_>, zone: Zone) -> Moment {
        let own =
            time_in_front(line, zone).map(|(time, is_whole, _)| (time, if is_whole { WHOLE_SECOND_US } else { 0 }));
        let told = own.or_else(|| Some((at.given?.time?, 0)));
        if let Some((stamp, slack_us)) = told {
            // Of lines of one second, the later was written later.
            let at = stamp.max(self.floor.min(stamp.plus_us(slack_us)));
            let moment =
                Moment { at, slack_us: slack_us - at.us_since(stamp), is_made_up: false, is_coarse: slack_us > 0 };
            (self.floor, self.last) = (at, Some(moment));
            return moment;
        }
        // A line without a time among lines with one was written when they were.
        self.last.unwrap_or_else(|| {
            self.made_up = self.made_up.plus_us(STEP_US);
            Moment { at: self.made_up, slack_us: 0, is_made_up: true, is_coarse: false }
        })
    }

    /// Lines that come were written at `time` or later.
    pub(in crate::ingest::formats) fn reach(&mut self, time: Time) {
        self.floor = self.floor.max(time);
    }

    /// Where nothing tells the time: it is `time` at least by now.
    pub(in crate::ingest::formats) fn pass(&mut self, time: Time) {
        self.made_up = self.made_up.max(time);
    }
}

/// The time that a logger wrote near the front of a line, whether it has whole seconds, and where it ends.
pub(in crate::ingest::formats) fn time_in_front(line: &str, zone: Zone) -> Option<(Time, bool, usize)> {
    let bytes = line.as_bytes();
    // A date has its first sign behind four digits.
    let front = &bytes[..bytes.len().min(PREFIX + 4)];
    let starts = memchr::memchr2_iter(b'-', b'/', front).filter_map(|sign| sign.checked_sub(4));
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
    let named = match rest {
        [b'Z', ..] => 1,
        [b'U', b'T', b'C', ..] => 3,
        _ if fits(rest, b"+00:00") => 6,
        _ if fits(rest, b"+0000") => 5,
        _ => 0,
    };
    if named > 0 {
        end = zone_at + named;
    }
    // `2026-01-05 10:00:00,123` and `[2026/01/05 10:00:00.123]`; nine digits of a second at most.
    let time = timestamp::from_text(line.get(start..end)?, zone)?;
    Some((time, is_whole, end))
}

/// `0` stands for a digit, `+` for a sign, `-` for what may stand in a date, `T` for what may stand behind one.
const DATE_AND_TIME: &[u8] = b"0000-00-00T00:00:00";

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
    fn times_in_front_of_lines() {
        for (line, time, is_whole) in [
            ("[2026-03-02 07:00:01 - httpx:1025 - INFO] x", "2026-03-02T07:00:01Z", true),
            ("2026-03-02 07:00:01,250 - root - INFO - x", "2026-03-02T07:00:01.250Z", false),
            ("WARN 2026/03/02 07:00:01.250 x", "2026-03-02T07:00:01.250Z", false),
            ("2026-03-02T07:00:01.250+02:00  WARN 69 --- [m] x", "2026-03-02T05:00:01.250Z", false),
            ("2026-03-02 07:00:01.250 +0200 x", "2026-03-02T05:00:01.250Z", false),
            ("2026-03-02T07:00:01.250123Z  INFO x", "2026-03-02T07:00:01.250123Z", false),
        ] {
            let (found, whole, _) = time_in_front(line, Zone::UTC).unwrap_or((Time(0), false, 0));
            assert_eq!((found.to_string().as_str(), whole), (time, is_whole), "{line}");
        }
        assert_eq!(time_in_front("INFO:httpx:HTTP Request", Zone::UTC), None);
    }

    #[test]
    fn lines_without_a_time_stand_in_order() {
        let (mut clock, at) = (Clock::default(), Position::line(1));
        let first = clock.read("a", &at, Zone::UTC);
        clock.pass(first.at.plus_us(2_000_000));
        let second = clock.read("b", &at, Zone::UTC);
        assert!(first.is_made_up && second.is_made_up && second.at > first.at.plus_us(2_000_000));
        let told = clock.read("2026-03-02 07:00:01 c", &at, Zone::UTC);
        assert_eq!((told.is_made_up, told.slack_us), (false, WHOLE_SECOND_US));
        assert_eq!(clock.read("d", &at, Zone::UTC), told);
    }
}
