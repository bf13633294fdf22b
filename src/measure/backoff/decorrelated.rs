//! Decorrelated jitter: each wait lies between the first wait and three times the one before (AWS Architecture Blog,
//! *Exponential Backoff And Jitter*). The longest waits of a step grow from retry to retry; the shortest stay.

use super::{LoopTally, MOST_STEPS, Waits};

/// Fewer waits of a step do not show where its ends are.
const LEAST_OF_STEP: u64 = 16;
/// What the longest wait before a first retry is of the shortest: three times, less at the 95th and the fifth
/// percentile; with jitter over the upper half of a wait it is twice at most.
const RANGE: std::ops::RangeInclusive<f64> = 2.0..=3.3;
/// From the first step to a later one the longest waits grow at least so much.
const GROWS: f64 = 1.6;
/// The shortest ones grow by no more than this part of that, in logarithms; with any other jitter they grow alike.
const STAYS: f64 = 0.4;

/// The first wait of such a schedule in seconds, where the waits show one.
pub(super) fn first_s(tally: &LoopTally) -> Option<f64> {
    let mut steps = tally.steps.range(1..MOST_STEPS).filter(|(_, step)| step.waits.count() >= LEAST_OF_STEP);
    let (_, first) = steps.next().filter(|(number, _)| **number == 1)?;
    let (shortest, longest) = ends(&first.waits);
    if shortest <= 0.0 || !RANGE.contains(&(longest / shortest)) {
        return None;
    }
    let mut later = steps.map(|(_, step)| ends(&step.waits)).peekable();
    later.peek()?;
    let fits = |(low, high): (f64, f64)| {
        let grown = high / longest;
        grown >= GROWS && (low / shortest).ln() <= STAYS * grown.ln()
    };
    // Even over one to three times the first wait.
    later.all(fits).then(|| first.waits.quantile_s(0.5) / 2.0)
}

fn ends(waits: &Waits) -> (f64, f64) {
    (waits.quantile_s(0.05), waits.quantile_s(0.95))
}
