//! Durations in four bytes.

use serde::{Serialize, Serializer};

/// A duration in units of 100 µs, up to 119 hours; longer ones saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompactDuration(u32);

impl CompactDuration {
    /// The duration is not logged.
    pub const UNKNOWN: CompactDuration = CompactDuration(u32::MAX);
    /// Longest duration that can be represented, in ms.
    pub const LONGEST_MS: f64 = (u32::MAX - 1) as f64 / 10.0;
    /// Microseconds in one unit.
    const UNIT_US: i64 = 100;

    /// Converts from milliseconds; negative, infinite and NaN values become unknown.
    #[must_use]
    pub fn from_ms(ms: f64) -> CompactDuration {
        if !ms.is_finite() || ms < 0.0 {
            return CompactDuration::UNKNOWN;
        }
        // Rounds as `f64::round` does, but inline: that is a function call, and this runs for every record.
        let units = ms * 10.0;
        let whole = units as u32;
        let rounds_up = units - f64::from(whole) >= 0.5;
        CompactDuration(whole.saturating_add(rounds_up.into()).min(u32::MAX - 1))
    }

    /// Converts from units of 100 µs; `u32::MAX` is unknown.
    pub(crate) fn from_units(units: u32) -> CompactDuration {
        CompactDuration(units)
    }

    /// Returns the duration in units of 100 µs, `u32::MAX` if unknown: the inverse of [`CompactDuration::from_units`].
    pub(crate) fn units(self) -> u32 {
        self.0
    }

    /// Returns the duration in microseconds, if known.
    #[must_use]
    pub fn as_us(self) -> Option<i64> {
        (self != CompactDuration::UNKNOWN).then_some(i64::from(self.0) * Self::UNIT_US)
    }

    /// Returns the duration in milliseconds, if known.
    #[must_use]
    pub fn as_ms(self) -> Option<f64> {
        (self != CompactDuration::UNKNOWN).then_some(f64::from(self.0) / 10.0)
    }

    /// Returns the duration in seconds, if known.
    #[must_use]
    pub fn as_s(self) -> Option<f64> {
        (self != CompactDuration::UNKNOWN).then_some(f64::from(self.0) / 10_000.0)
    }
}

impl Serialize for CompactDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ms().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_tenths_of_a_millisecond() {
        assert_eq!(CompactDuration::from_ms(9.396).as_ms(), Some(9.4));
        assert_eq!(CompactDuration::from_ms(600_000.0).as_s(), Some(600.0));
        for ms in (0..20_000).map(|n| f64::from(n) * 0.05).chain([0.049_999_999_999_999_99, 429_496_729.25]) {
            assert_eq!(CompactDuration::from_ms(ms).as_ms(), Some((ms * 10.0).round() / 10.0), "{ms}");
        }
    }

    #[test]
    fn invalid_durations_are_unknown() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(CompactDuration::from_ms(bad), CompactDuration::UNKNOWN);
        }
    }

    #[test]
    fn long_durations_saturate_below_unknown() {
        assert!(CompactDuration::from_ms(1e18).as_s().is_some_and(|s| s > 400_000.0));
    }
}
