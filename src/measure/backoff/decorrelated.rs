//! Detects decorrelated jitter, in which each wait lies between the first wait and three times the previous one (AWS
//! Architecture Blog, *Exponential Backoff And Jitter*). The longest waits of a step grow from retry to retry; the
//! shortest hardly do.

use super::{LoopTally, MOST_STEPS, Waits};

/// Minimum number of waits before first retries, and before all later ones, needed to estimate their range.
const LEAST: u64 = 16;
/// Minimum number of waits of a later step needed to estimate its range.
const LEAST_OF_STEP: u64 = 8;
/// Accepted ratio of the 95th to the fifth percentile of waits before first retries. Their bounds differ by a factor of
/// three, the percentiles by less; jitter over the upper half of a wait gives a factor of two at most.
const RANGE: std::ops::RangeInclusive<f64> = 2.0..=3.3;
/// Minimum factor by which the longest waits grow from the first step to later ones.
const GROWS: f64 = 1.6;
/// Largest share of that growth, in logarithms, by which the shortest waits may grow; with any other jitter both grow
/// alike.
const STAYS: f64 = 0.6;

/// Returns the base wait of decorrelated jitter in seconds, if the waits show it.
pub(super) fn first_s(tally: &LoopTally) -> Option<f64> {
    let first = &tally.steps.get(&1)?.waits;
    let (shortest, longest) = ends(first);
    if first.count() < LEAST || shortest <= 0.0 || !RANGE.contains(&(longest / shortest)) {
        return None;
    }
    let (mut all, mut low, mut high) = (0, 0.0, 0.0);
    for (_, step) in tally.steps.range(2..MOST_STEPS).filter(|(_, step)| step.waits.count() >= LEAST_OF_STEP) {
        let (count, (least, most)) = (step.waits.count(), ends(&step.waits));
        all += count;
        low += count as f64 * (least / shortest).ln();
        high += count as f64 * (most / longest).ln();
    }
    let is_one = all >= LEAST && high >= all as f64 * GROWS.ln() && low <= STAYS * high;
    // First waits are uniform between one and three times the base, so their median is twice the base.
    is_one.then(|| first.quantile_s(0.5) / 2.0)
}

fn ends(waits: &Waits) -> (f64, f64) {
    (waits.quantile_s(0.05), waits.quantile_s(0.95))
}
