//! Immediate retries after rate limits and overloads, among all retries whose wait the client chose.

use super::backoff::place;
use super::call_terms::CallTerms;
use super::loops::loops_of;
use super::row_ref::RowRef;
use crate::calls::{Call, Grouping, same_sender};
use crate::measure::chance::tail;
use crate::model::Flags;
use smallvec::SmallVec;

/// Waits shorter than this involved no timer, in µs.
const NO_TIMER_US: i64 = 5_000;
/// Smallest first wait of a sound backoff, in µs; it doubles. Official SDKs, _constants.py: 0.5 s.
const LEAST_BASE_US: f64 = 500_000.0;
/// Number of retries of a loop that are distinguished; later ones count as the last.
const STEPS: usize = 4;
/// Retries kept as examples.
const EXAMPLES: usize = 4;

/// Waits after overloads and rate limits for which the server requested no wait: those of the client's own retries, and
/// those of a loop around them.
#[derive(Clone, Debug, Default)]
pub struct ImmediateRetries {
    /// The client's own retries, or the only loop.
    pub inner: LoopImmediateRetries,
    /// The loop around them.
    pub outer: LoopImmediateRetries,
}

/// Waits of one loop.
#[derive(Clone, Debug, Default)]
pub struct LoopImmediateRetries {
    /// Number of waits before the first retry of the loop in a call, the second, and so on.
    steps: [u64; STEPS],
    /// Waits that count as none, and those shorter than [`NO_TIMER_US`].
    short: u64,
    timerless: u64,
    /// Of `short`, those the client states it chose to be 0.
    meant: u64,
    /// Of `short`, those whose send was refused again.
    refused_again: u64,
    /// Of `short`, those in calls that two loops retried.
    layered: u64,
    /// The earliest failures that were retried immediately, in order.
    examples: SmallVec<[RowRef; EXAMPLES]>,
}

/// A wait chosen by the client after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnWait {
    us: i64,
    meant: bool,
}

impl OwnWait {
    /// Returns whether the wait counts as none.
    pub(crate) fn is_none(self, terms: &CallTerms) -> bool {
        self.us < terms.no_wait_us
    }

    /// Returns the wait after the attempt at `position`, if that was refused and the client chose the wait.
    pub(crate) fn after(call: &Call<'_>, position: usize) -> Option<OwnWait> {
        let (attempt, next) = (call.at(position), call.at(position + 1));
        let refused = attempt.refused() && !attempt.flags.has(Flags::SERVER_SAYS_NO);
        // A hint of zero means "now", and a different model is a fallback.
        if !refused || call.explicit_hint_us(position).is_some() || !same_sender(call.table(), attempt, next) {
            return None;
        }
        let wait = call.wait_before(position + 1)?;
        let planned = call.detail(position).and_then(|detail| detail.planned_us);
        // The client states that it did not wait, and the log's clock is too coarse to contradict it.
        if planned == Some(0) && (call.whole_seconds || !wait.is_exact) && wait.us <= 2_000_000 {
            return Some(OwnWait { us: 0, meant: true });
        }
        let sure = call.grouping != Grouping::Inferred || attempt.flags.has(Flags::DECIDED_RETRY) || planned.is_some();
        (sure && !call.whole_seconds).then_some(OwnWait { us: wait.us, meant: planned == Some(0) })
    }
}

impl ImmediateRetries {
    /// Creates the counts of one call.
    #[must_use]
    pub(crate) fn of(call: &Call<'_>, terms: &CallTerms) -> ImmediateRetries {
        let mut immediate_retries = ImmediateRetries::default();
        immediate_retries.absorb(call, terms);
        immediate_retries
    }

    pub(super) fn absorb(&mut self, call: &Call<'_>, terms: &CallTerms) {
        let mut layered = None;
        for position in call.retried() {
            let Some(wait) = OwnWait::after(call, position) else { continue };
            let (outer, step) = place(call, position + 1).unwrap_or((false, u8::MAX));
            let own = if outer { &mut self.outer } else { &mut self.inner };
            own.steps[usize::from(step.max(1) - 1).min(STEPS - 1)] += 1;
            if wait.is_none(terms) {
                own.short += 1;
                own.timerless += u64::from(wait.us < NO_TIMER_US);
                own.meant += u64::from(wait.meant);
                own.refused_again += u64::from(call.at(position + 1).failed());
                own.layered += u64::from(*layered.get_or_insert_with(|| loops_of(call).is_some()));
                own.note(RowRef::of(call.table(), call.rows()[position]));
            }
        }
    }

    pub(super) fn merge(&mut self, other: ImmediateRetries) {
        self.inner.merge(other.inner);
        self.outer.merge(other.outer);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let both = self.inner.examples.iter_mut().chain(&mut self.outer.examples);
        both.for_each(|failure| visit(&mut failure.row));
    }
}

impl LoopImmediateRetries {
    fn note(&mut self, failure: RowRef) {
        let place = self.examples.partition_point(|known| *known < failure);
        if place < EXAMPLES {
            self.examples.truncate(EXAMPLES - 1);
            self.examples.insert(place, failure);
        }
    }

    fn merge(&mut self, other: LoopImmediateRetries) {
        self.steps.iter_mut().zip(other.steps).for_each(|(mine, theirs)| *mine += theirs);
        self.short += other.short;
        self.timerless += other.timerless;
        self.meant += other.meant;
        self.refused_again += other.refused_again;
        self.layered += other.layered;
        other.examples.into_iter().for_each(|failure| self.note(failure));
    }

    /// Returns the number of waits chosen by the clients.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.steps.iter().sum()
    }

    /// Returns the number of waits that count as none.
    #[must_use]
    pub fn short(&self) -> u64 {
        self.short
    }

    /// Returns the number of sends after them that were refused again.
    #[must_use]
    pub fn refused_again(&self) -> u64 {
        self.refused_again
    }

    /// Iterates over the rows of the earliest failures that were retried immediately.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.examples.iter().map(|failure| failure.row)
    }

    /// Returns whether clients state for some waits that they chose them to be 0.
    #[must_use]
    pub fn is_meant(&self) -> bool {
        self.meant > 0
    }

    /// Returns whether all waits count as none, in calls that two loops retried; there must be at least two.
    #[must_use]
    pub fn is_all_layered(&self) -> bool {
        self.short > 1 && self.short == self.waits() && self.layered == self.short
    }

    /// Returns an upper bound of the probability that full jitter, with the smallest sound base, produces as many short
    /// waits. The probability of a short wait differs between steps; the binomial distribution with their mean gives at
    /// least as much (Hoeffding 1956).
    #[must_use]
    pub fn by_chance(&self, no_wait_us: i64) -> f64 {
        let at_least = |count: u64, us: i64| -> f64 {
            let steps = self.steps.iter().zip(0..);
            let expected: f64 = steps.map(|(&n, step)| n as f64 * us as f64 / (LEAST_BASE_US * 2_f64.powi(step))).sum();
            // Below this the bound does not hold, and the count is not unlikely anyway.
            if (count as f64) < expected + 1.0 {
                1.0
            } else {
                tail(count, self.waits(), expected / self.waits() as f64)
            }
        };
        at_least(self.short, no_wait_us).min(at_least(self.timerless, NO_TIMER_US))
    }
}

#[cfg(test)]
mod tests {
    use super::LoopImmediateRetries;

    /// Probability by chance, given the number of waits before the first, second, ... retries, of which `short` count
    /// as none.
    fn chance(steps: [u64; 4], short: u64, timerless: u64) -> f64 {
        LoopImmediateRetries { steps, short, timerless, ..LoopImmediateRetries::default() }.by_chance(50_000)
    }

    #[test]
    fn chances_are_those_of_the_binomial() {
        for (steps, short, expected) in
            [([6, 0, 0, 0], 6, 1e-6), ([1, 0, 0, 0], 1, 1.0), ([2, 0, 0, 0], 2, 0.01), ([10, 0, 0, 0], 1, 1.0)]
        {
            let found = chance(steps, short, 0);
            assert!((found / expected - 1.0).abs() < 1e-9, "{steps:?} {short}: {found} for {expected}");
        }
    }

    #[test]
    fn chances_of_several_steps_are_no_less_than_they_are() {
        // One call, with probabilities 0.1, 0.05 and 0.025.
        let found = chance([1, 1, 1, 0], 3, 0);
        assert!((1.25e-4..3e-4).contains(&found), "{found}");
        assert!(chance([1, 1, 1, 0], 3, 3) < 1e-6);
        assert_eq!(chance([0; 4], 0, 0), 1.0);
    }
}
