//! Decorrelated jitter: each wait lies between the first wait and three times the one before (AWS Architecture Blog,
//! *Exponential Backoff And Jitter*). The longest waits of a step grow from retry to retry; the shortest hardly do.

use super::{LoopTally, MOST_STEPS, Waits};

/// Fewer waits before first retries, and before all later ones, do not show where their ends are.
const LEAST: u64 = 16;
/// Fewer waits of a later step say nothing of its ends.
const LEAST_OF_STEP: u64 = 8;
/// What the longest wait before a first retry is of the shortest: three times, less at the 95th and the fifth
/// percentile; with jitter over the upper half of a wait it is twice at most.
const RANGE: std::ops::RangeInclusive<f64> = 2.0..=3.3;
/// From the first step to later ones the longest waits grow at least so much.
const GROWS: f64 = 1.6;
/// The shortest ones grow by no more than this part of that, in logarithms; with any other jitter they grow alike.
const STAYS: f64 = 0.6;

/// The first wait of such a schedule in seconds, where the waits show one.
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
    // They are even over one to three times it.
    is_one.then(|| first.quantile_s(0.5) / 2.0)
}

fn ends(waits: &Waits) -> (f64, f64) {
    (waits.quantile_s(0.05), waits.quantile_s(0.95))
}
