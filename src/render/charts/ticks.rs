//! Positions and labels of ticks.

use super::canvas::width;
use super::error::ChartError;
use super::style::LABEL;
use crate::model::Time;

/// Minimum time range of an axis, in µs, which a log with a single time needs.
const MIN_WINDOW_US: i64 = 10_000;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Round distances between ticks of a time axis, in microseconds.
const STEPS: [i64; 33] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
    28 * DAY,
    91 * DAY,
    364 * DAY,
];

/// The time range of an axis; never empty.
#[derive(Clone, Copy)]
pub(super) struct TimeAxis {
    /// Left end.
    pub(super) from: Time,
    /// Right end.
    pub(super) to: Time,
}

impl TimeAxis {
    /// Creates an axis from `from` to `to`, widened on both sides to the minimum range if it is shorter.
    pub(super) fn new(from: Time, to: Time) -> TimeAxis {
        let missing_us = MIN_WINDOW_US.saturating_sub(to.us_since(from)).max(0);
        TimeAxis { from: from.plus_us(-missing_us / 2), to: to.plus_us(missing_us - missing_us / 2) }
    }

    /// Position of `at` on the axis, 0 to 1.
    pub(super) fn place(self, at: Time) -> f64 {
        (at.s_since(self.from) / self.to.s_since(self.from)).clamp(0.0, 1.0)
    }

    /// Returns ticks with labels that do not overlap on `room` logical pixels.
    pub(super) fn ticks(self, room: f64) -> Result<Vec<(Time, String)>, ChartError> {
        let span = self.to.us_since(self.from);
        let step = self.step(span, room)?;
        let first = self.from.0.div_euclid(step).saturating_add(1).saturating_mul(step);
        // A tick exactly at the left end is included.
        let first = if self.from.0.rem_euclid(step) == 0 { self.from.0 } else { first };
        // Labels that do not overlap are fewer than 40; the limit matters only for times near the ends of i64.
        let max_ticks = (span / step + 1).min(40);
        let ticks = (0..max_ticks).map(|i| Time(first.saturating_add(i * step))).filter(|t| *t <= self.to);
        Ok(ticks.map(|t| (t, self.label(t, step))).collect())
    }

    /// Returns the smallest round step whose labels have room, in microseconds.
    fn step(self, span: i64, room: f64) -> Result<i64, ChartError> {
        // The width is measured at 20:00 of the first day, whose digits are wide.
        let sample = Time(self.from.0.div_euclid(DAY).saturating_mul(DAY).saturating_add(20 * HOUR));
        let mut needed = 0.0;
        for step in STEPS {
            needed = (width(&self.label(sample, step), LABEL)? + 22.0) * span as f64 / room;
            if step as f64 >= needed {
                return Ok(step);
            }
        }
        // A log with implausible times may need steps of several years.
        let years = (needed / (364 * DAY) as f64).ceil();
        Ok((364 * DAY).saturating_mul(years as i64))
    }

    fn label(self, at: Time, step: i64) -> String {
        let format = match step {
            ..SECOND => "%H:%M:%S%.3f",
            SECOND..MINUTE => "%H:%M:%S",
            MINUTE..DAY if at.0.rem_euclid(DAY) == 0 && self.many_days() => "%-d %b",
            MINUTE..DAY => "%H:%M",
            _ if step < 91 * DAY => "%-d %b",
            _ => "%b %Y",
        };
        at.utc().format(format).to_string()
    }

    fn many_days(self) -> bool {
        self.from.0.div_euclid(DAY) != self.to.0.div_euclid(DAY)
    }

    /// The days covered by the axis: `29 Nov 2026`, or the first and the last.
    pub(super) fn days(self) -> String {
        let (first, last) = (self.from.utc(), self.to.utc());
        if self.many_days() {
            format!("{} – {}", first.format("%-d %b %Y"), last.format("%-d %b %Y"))
        } else {
            first.format("%-d %b %Y").to_string()
        }
    }

    /// Formats a time in UTC at the precision of the axis.
    pub(super) fn clock(self, at: Time) -> String {
        let span = self.to.us_since(self.from);
        let format = match span {
            ..=10_000_000 => "%H:%M:%S%.3f",
            _ if span < 2 * HOUR => "%H:%M:%S",
            _ if self.many_days() => "%-d %b %H:%M",
            _ => "%H:%M",
        };
        at.utc().format(format).to_string()
    }
}

/// Returns round values up to `max`: few, whole, evenly spaced, beginning with 0.
pub(super) fn linear(max: u64) -> Vec<u64> {
    let mut step: u64 = 1;
    let mut factors = [2, 5, 10].into_iter().cycle();
    let mut decade: u64 = 1;
    while max / step > 5 {
        match factors.next() {
            Some(10) => {
                decade = decade.saturating_mul(10);
                step = decade;
            }
            Some(factor) => step = decade.saturating_mul(factor),
            None => break,
        }
    }
    (0..=max / step).map(|i| i * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::charts::style::ensure_font;

    #[test]
    fn values_are_round_and_few() {
        assert_eq!(linear(0), [0]);
        assert_eq!(linear(1), [0, 1]);
        assert_eq!(linear(5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(linear(56), [0, 10, 20, 30, 40, 50]);
        assert_eq!(linear(61), [0, 20, 40, 60]);
        assert_eq!(linear(412), [0, 100, 200, 300, 400]);
        assert!(linear(u64::MAX).len() <= 6);
    }

    #[test]
    fn ticks_lie_inside_and_apart_whatever_the_span() -> Result<(), ChartError> {
        ensure_font()?;
        let from = 1_795_975_676_017_241;
        for span in [0, 1, 999, SECOND, 7 * SECOND, 90 * MINUTE, 7 * DAY, 100 * DAY, 3_000 * DAY, i64::MAX] {
            let axis = TimeAxis::new(Time(from), Time(from).plus_us(span));
            let ticks = axis.ticks(600.0)?;
            assert!(ticks.len() <= 40, "{span}");
            assert!(ticks.iter().all(|(t, _)| (axis.from..=axis.to).contains(t)), "{span}");
            if span < 5_000 * DAY {
                assert!(ticks.len() >= 2, "{span}: {ticks:?}");
                for pair in ticks.windows(2) {
                    let gap = (axis.place(pair[1].0) - axis.place(pair[0].0)) * 600.0;
                    assert!(gap > width(&pair[0].1, LABEL)? + 10.0, "{span}: {ticks:?}");
                }
            }
        }
        Ok(())
    }
}
