//! Histogram of waits with buckets of constant relative width.

use crate::measure::row_ref::RowRef;
use hdrhistogram::Histogram;
use smallvec::SmallVec;

/// Resolution of the shortest waits, in µs.
const FINEST_US: u64 = 1_000;
/// Longer waits count as this long, in µs: a week.
const LONGEST_US: u64 = 7 * 24 * 3600 * 1_000_000;
/// Significant decimal digits of a length.
const DIGITS: u8 = 2;
/// Retries kept as examples of one step.
const EXAMPLES: usize = 4;

/// Lengths of waits. Merging is independent of order.
#[derive(Clone, Debug)]
pub struct Waits {
    buckets: Option<Histogram<u32>>,
    /// Shortest and longest wait, in µs. No percentile lies outside, so that equal waits have their exact length.
    extremes_us: [u64; 2],
}

impl Default for Waits {
    fn default() -> Waits {
        Waits { buckets: None, extremes_us: [u64::MAX, 0] }
    }
}

impl Waits {
    /// Largest relative error of a percentile.
    pub const RESOLUTION: f64 = 0.01;

    pub(super) fn add(&mut self, us: i64) {
        let us = u64::try_from(us).unwrap_or(0).min(LONGEST_US);
        self.reach([us; 2]);
        if let Some(buckets) = self.buckets() {
            // Cannot fail: the histogram resizes itself up to the longest wait.
            let _ = buckets.record(us);
        }
    }

    /// Adds other waits.
    pub(super) fn merge(&mut self, other: &Waits) {
        self.reach(other.extremes_us);
        if let (Some(theirs), Some(mine)) = (&other.buckets, self.buckets()) {
            // Cannot fail, for the same reason as above.
            let _ = mine.add(theirs);
        }
    }

    fn reach(&mut self, [shortest, longest]: [u64; 2]) {
        let [least, most] = self.extremes_us;
        self.extremes_us = [least.min(shortest), most.max(longest)];
    }

    fn buckets(&mut self) -> Option<&mut Histogram<u32>> {
        if self.buckets.is_none() {
            let mut buckets = Histogram::new_with_bounds(FINEST_US, 2 * FINEST_US, DIGITS).ok()?;
            buckets.auto(true);
            self.buckets = Some(buckets);
        }
        self.buckets.as_mut()
    }

    /// Returns the number of waits.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.as_ref().map_or(0, Histogram::len)
    }

    /// Returns the length that a share of the waits does not exceed, in seconds.
    #[must_use]
    pub fn quantile_s(&self, share: f64) -> f64 {
        self.buckets.as_ref().map_or(0.0, |buckets| {
            let value = buckets.median_equivalent(buckets.value_at_quantile(share));
            let [shortest, longest] = self.extremes_us;
            value.max(shortest).min(longest) as f64 / 1e6
        })
    }

    /// Returns the number of waits from `low_s` to `high_s` seconds.
    #[must_use]
    pub fn between(&self, low_s: f64, high_s: f64) -> u64 {
        let us = |s: f64| (s * 1e6) as u64;
        self.buckets.as_ref().map_or(0, |buckets| buckets.count_between(us(low_s), us(high_s)))
    }

    /// Returns the distance of the fifth percentile from the 95th, as a share of the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let median = self.quantile_s(0.5);
        if median > 0.0 { (self.quantile_s(0.95) - self.quantile_s(0.05)) / median } else { 0.0 }
    }

    /// Returns the centre of the waits in seconds: the mean of the three quartiles, which is robust against a few late
    /// timers and against a wide spread.
    #[must_use]
    pub fn centre_s(&self) -> f64 {
        [0.25, 0.5, 0.75].into_iter().map(|share| self.quantile_s(share)).sum::<f64>() / 3.0
    }
}

/// Waits before one retry of a loop: the first, the second, and so on.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Lengths of the waits.
    pub waits: Waits,
    examples: SmallVec<[RowRef; EXAMPLES]>,
}

impl Step {
    pub(super) fn add(&mut self, us: i64, retry: RowRef) {
        self.waits.add(us);
        self.note(retry);
    }

    pub(super) fn merge(&mut self, other: Step) {
        self.waits.merge(&other.waits);
        other.examples.into_iter().for_each(|retry| self.note(retry));
    }

    fn note(&mut self, retry: RowRef) {
        let place = self.examples.partition_point(|known| *known < retry);
        if place < EXAMPLES {
            self.examples.truncate(EXAMPLES - 1);
            self.examples.insert(place, retry);
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.examples.iter_mut().for_each(|retry| visit(&mut retry.row));
    }

    /// Iterates over the rows of the earliest retries that ended such a wait.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.examples.iter().map(|retry| retry.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_waits_have_their_exact_length() {
        for us in [7_300, 300_000, 500_000, 501_000, 1_234_567, 60_000_000] {
            let mut waits = Waits::default();
            waits.merge(&Waits::default());
            waits.add(us);
            let one = waits.clone();
            waits.merge(&one);
            for share in [0.0, 0.05, 0.5, 0.95, 1.0] {
                assert_eq!(waits.quantile_s(share), us as f64 / 1e6, "{us} {share}");
            }
        }
    }
}
