//! Detects decorrelated jitter, in which each wait lies between the first wait and three times the previous one (AWS
//! Architecture Blog, *Exponential Backoff And Jitter*). The longest waits of a step therefore grow from retry to
//! retry, while the shortest hardly do.

use super::{LoopTally, MAX_STEPS, Waits};

/// Minimum number of waits before first retries, and before all later ones, needed to estimate their range.
const MIN_WAITS: u64 = 16;
/// Minimum number of waits of a later step needed to estimate its range.
const MIN_WAITS_OF_STEP: u64 = 8;
/// Accepted ratio of the 95th to the fifth percentile of the waits before first retries. Decorrelated jitter draws them
/// between one and three times the base, which gives a ratio of 2.6. Jitter over the upper half of a wait gives a
/// factor of two at most.
const FIRST_WAITS_RATIO: std::ops::RangeInclusive<f64> = 2.0..=3.3;
/// Minimum factor by which the longest waits grow from the first step to later ones.
const MIN_GROWTH: f64 = 1.6;
/// Largest growth of the shortest waits as a share of the growth of the longest, both in logarithms. With any other
/// jitter both grow by the same factor.
const MAX_SHORT_GROWTH: f64 = 0.6;

/// Returns the base wait of decorrelated jitter in seconds, if the waits show it.
pub(super) fn base_s(tally: &LoopTally) -> Option<f64> {
    let first = &tally.steps.get(&1)?.waits;
    let (shortest, longest) = percentiles(first);
    if first.count() < MIN_WAITS || shortest <= 0.0 || !FIRST_WAITS_RATIO.contains(&(longest / shortest)) {
        return None;
    }
    let (mut count_of_later, mut shortest_growth, mut longest_growth) = (0, 0.0, 0.0);
    for (_, step) in tally.steps.range(2..MAX_STEPS).filter(|(_, step)| step.waits.count() >= MIN_WAITS_OF_STEP) {
        let (count, (least, most)) = (step.waits.count(), percentiles(&step.waits));
        count_of_later += count;
        shortest_growth += count as f64 * (least / shortest).ln();
        longest_growth += count as f64 * (most / longest).ln();
    }
    let is_decorrelated = count_of_later >= MIN_WAITS
        && longest_growth >= count_of_later as f64 * MIN_GROWTH.ln()
        && shortest_growth <= MAX_SHORT_GROWTH * longest_growth;
    // First waits are uniform between one and three times the base, so their median is twice the base.
    is_decorrelated.then(|| first.quantile_s(0.5) / 2.0)
}

fn percentiles(waits: &Waits) -> (f64, f64) {
    (waits.quantile_s(0.05), waits.quantile_s(0.95))
}
