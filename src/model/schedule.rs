//! Backoff schedules: the waits that are allowed after the nth failure.

use std::ops::RangeInclusive;

/// Exponential backoff: `base · factor^(n-1)` after the nth failure, limited by the cap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// First wait, in seconds.
    pub base_s: f64,
    /// Factor by which each wait grows; 1 for a fixed wait.
    pub factor: f64,
    /// Longest wait, in seconds.
    pub cap_s: f64,
    /// Jitter of the waits.
    pub jitter: Jitter,
}

/// Jitter: how waits are spread around the schedule (names as in AWS Architecture Blog, Exponential Backoff And
/// Jitter).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// No jitter.
    None,
    /// From 0 to the scheduled wait.
    Full,
    /// From half the scheduled wait to all of it.
    Equal,
    /// From the base to three times the previous wait.
    Decorrelated,
    /// Up to this share of the scheduled wait more or less.
    Share(f64),
    /// Up to this share of the scheduled wait less.
    Below(f64),
}

impl Jitter {
    /// The kinds of jitter that have a name in the configuration.
    pub const NAMED: [(&'static str, Jitter); 5] = [
        ("none", Jitter::None),
        ("full", Jitter::Full),
        ("equal", Jitter::Equal),
        ("decorrelated", Jitter::Decorrelated),
        // The official SDKs: `1 - 0.25 * random()`.
        ("sdk", Jitter::Below(0.25)),
    ];
}

impl Schedule {
    /// Returns the wait after the nth failure, counted from 1, before jitter, in seconds.
    #[must_use]
    pub fn nominal_s(&self, failure: u32) -> f64 {
        self.exponential_s(self.factor, failure)
    }

    /// Returns the range of waits allowed after the nth failure, in seconds.
    #[must_use]
    pub fn allowed_s(&self, failure: u32) -> RangeInclusive<f64> {
        let nominal = self.nominal_s(failure);
        match self.jitter {
            Jitter::None => nominal..=nominal,
            Jitter::Full => 0.0..=nominal,
            Jitter::Equal => nominal / 2.0..=nominal,
            // The previous wait was at most three times the one before it, and so on back to the base.
            Jitter::Decorrelated => self.base_s.min(self.cap_s)..=self.exponential_s(3.0, failure.saturating_add(1)),
            Jitter::Share(share) => nominal * (1.0 - share).max(0.0)..=nominal * (1.0 + share),
            Jitter::Below(share) => nominal * (1.0 - share).max(0.0)..=nominal,
        }
    }

    /// Returns the sum of the waits of this many retries, before jitter, in seconds.
    #[must_use]
    pub fn total_s(&self, retries: u32) -> f64 {
        (1..=retries.min(1000)).map(|failure| self.nominal_s(failure)).sum()
    }

    fn exponential_s(&self, factor: f64, failure: u32) -> f64 {
        // After 64 steps a doubling schedule has reached any cap, and `powi` needs an exponent that fits `i32`.
        let steps = failure.saturating_sub(1).min(64);
        (self.base_s * factor.powi(steps as i32)).min(self.cap_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SDK: Schedule = Schedule { base_s: 0.5, factor: 2.0, cap_s: 8.0, jitter: Jitter::None };

    #[test]
    fn waits_double_up_to_the_cap() {
        let waits: Vec<f64> = (1..=6).map(|n| SDK.nominal_s(n)).collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]);
        assert_eq!(SDK.nominal_s(u32::MAX), 8.0);
        let endless = Schedule { cap_s: f64::INFINITY, ..SDK };
        assert!(endless.nominal_s(u32::MAX).is_finite());
    }

    #[test]
    fn jitter_allows_a_range_of_waits() {
        let band = |jitter| Schedule { jitter, ..SDK }.allowed_s(3);
        assert_eq!(band(Jitter::None), 2.0..=2.0);
        assert_eq!(band(Jitter::Full), 0.0..=2.0);
        assert_eq!(band(Jitter::Equal), 1.0..=2.0);
        assert_eq!(band(Jitter::Share(0.25)), 1.5..=2.5);
        assert_eq!(band(Jitter::Below(0.25)), 1.5..=2.0);
        // Waits are 0.5, at most 1.5, at most 4.5, then at most 13.5, which the cap limits.
        assert_eq!(band(Jitter::Decorrelated), 0.5..=8.0);
        assert_eq!(Schedule { jitter: Jitter::Decorrelated, ..SDK }.allowed_s(1), 0.5..=1.5);
    }
}
