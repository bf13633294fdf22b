//! How many of something were under way at each time.
//!
//! A stay is two events, its beginning and its end: so it costs the same however long it lasts, and stays add up
//! in any order.

use crate::attempt::{Mergeable, Series, Time};

/// Beginnings and ends in one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// Beginnings less ends.
    net: i64,
    /// The sum of their times, µs, ends negative. It wraps; what is worked out from it does not.
    moment: i64,
}

impl Mergeable for Step {
    fn merge(&mut self, other: &Step) {
        self.net = self.net.wrapping_add(other.net);
        self.moment = self.moment.wrapping_add(other.moment);
    }
}

/// What was under way, over time.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    steps: Series<Step>,
}

/// The mean number under way in each stretch of time, from the first to the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Width of a stretch, µs.
    pub width_us: i64,
    /// Start of a stretch, and the time spent in it by all that were under way, µs. Of stretches in a row without a
    /// beginning or an end there is the first.
    pub busy: Vec<(Time, i64)>,
}

impl Levels {
    /// Something was under way from `from` to `until`.
    pub(super) fn stay(&mut self, from: Time, until: Time) {
        if until > from {
            self.steps.update(from, |step| step.merge(&Step { net: 1, moment: from.0 }));
            self.steps.update(until, |step| step.merge(&Step { net: -1, moment: until.0.wrapping_neg() }));
        }
    }

    pub(super) fn merge(&mut self, other: Levels) {
        self.steps.merge(other.steps);
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: Levels) -> Levels {
        self.merge(other);
        self
    }

    /// The mean number under way, in stretches of at least `least_us` µs.
    #[must_use]
    pub fn profile(self, least_us: i64) -> Profile {
        let (width_us, steps) = self.steps.no_finer_than(least_us).sorted();
        let mut level: i64 = 0;
        let mut busy: Vec<(Time, i64)> = Vec::with_capacity(steps.len());
        for (at, step) in steps {
            // In a gap nothing begins or ends: one stretch of it speaks for all.
            if let Some(gap) = busy.last().map(|(before, _)| before.plus_us(width_us)).filter(|gap| *gap < at) {
                busy.push((gap, level.wrapping_mul(width_us)));
            }
            let end = at.0.wrapping_add(width_us);
            let within = step.net.wrapping_mul(end).wrapping_sub(step.moment);
            busy.push((at, level.wrapping_mul(width_us).wrapping_add(within)));
            level = level.wrapping_add(step.net);
        }
        Profile { width_us, busy }
    }
}

impl Profile {
    /// The most that were under way at once, on average over a stretch; and when that stretch began.
    #[must_use]
    pub fn peak(&self) -> Option<(Time, f64)> {
        let (at, busy) = self.busy.iter().max_by_key(|(at, busy)| (*busy, std::cmp::Reverse(*at)))?;
        Some((*at, *busy as f64 / self.width_us as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(stays: &[(i64, i64)]) -> Levels {
        let mut levels = Levels::default();
        stays.iter().for_each(|(from, until)| levels.stay(Time(*from), Time(*until)));
        levels
    }

    #[test]
    fn time_spent_is_exact_in_every_stretch() {
        // Three at once in the second second, one in the third.
        let second = 1 << 20;
        let profile =
            levels(&[(second, 2 * second), (second, 3 * second), (second + second / 2, 2 * second)]).profile(second);
        assert_eq!(profile.width_us, second);
        let shares: Vec<f64> = profile.busy.iter().map(|(_, busy)| *busy as f64 / second as f64).collect();
        assert_eq!(shares, [2.5, 1.0, 0.0]);
        assert_eq!(profile.peak(), Some((Time(second), 2.5)));
    }

    #[test]
    fn what_lasts_is_seen_in_the_middle_of_it() {
        let second = 1 << 20;
        let stays = [(second / 2, 10 * second), (second / 2, 10 * second)];
        assert_eq!(levels(&stays).profile(second).peak(), Some((Time(second), 2.0)));
    }

    #[test]
    fn order_cuts_and_length_do_not_matter() {
        let base = 1_773_133_200_000_000_i64;
        let stays: Vec<(i64, i64)> = (0..20_000)
            .map(|n| {
                let from = base + (n * 7_919_131) % 30_000_000_000;
                (from, from + 1 + (n * 104_729) % 9_000_000)
            })
            .collect();
        let whole = levels(&stays).profile(0);
        let parts = levels(&stays[..77]).and(levels(&stays[12_000..])).and(levels(&stays[77..12_000])).profile(0);
        assert_eq!(whole, parts);
        assert!(whole.busy.iter().all(|(_, busy)| *busy >= 0));
    }
}
