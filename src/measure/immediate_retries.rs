//! Immediate retries after rate limits and overloads, among all retries whose wait the client chose.

use super::backoff::loop_step;
use super::call_terms::CallTerms;
use super::loops::loops_of;
use super::row_ref::RowRef;
use crate::calls::{Call, Grouping, same_sender};
use crate::measure::chance::tail;
use crate::model::Flags;
use smallvec::SmallVec;

/// Waits shorter than this were not caused by a timer, in µs.
const NO_TIMER_US: i64 = 5_000;
/// First wait of the shortest backoff that counts as correct, in µs, which doubles: that of the official SDKs
/// (_constants.py, 0.5 s).
const MIN_BASE_US: f64 = 500_000.0;
/// Number of retries of a loop that are distinguished; later ones count as the last.
const MAX_STEPS: usize = 4;
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
    steps: [u64; MAX_STEPS],
    /// Waits that count as none, and those shorter than [`NO_TIMER_US`].
    short: u64,
    without_timer: u64,
    /// Of `short`, those for which the client logged a planned wait of 0.
    planned_zero: u64,
    /// Of `short`, those whose send was refused again.
    refused_again: u64,
    /// Of `short`, those in calls that two loops retried.
    layered: u64,
    /// The earliest failures that were retried immediately, in order.
    examples: SmallVec<[RowRef; EXAMPLES]>,
}

/// A wait chosen by the client after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChosenWait {
    us: i64,
    planned_zero: bool,
}

impl ChosenWait {
    /// Returns whether the wait counts as none.
    pub(crate) fn is_none(self, terms: &CallTerms) -> bool {
        self.us < terms.no_wait_us
    }

    /// Returns the wait after the attempt at `position`, if that was refused and the client chose the wait.
    pub(crate) fn after(call: &Call<'_>, position: usize) -> Option<ChosenWait> {
        let (attempt, next) = (call.at(position), call.at(position + 1));
        let refused = attempt.refused() && !attempt.flags.has(Flags::SERVER_SAYS_NO);
        // A hint of 0 asks for an immediate retry, and a send to a different model is a fallback.
        if !refused || call.explicit_hint_us(position).is_some() || !same_sender(call.table(), attempt, next) {
            return None;
        }
        let wait = call.wait_before(position + 1)?;
        let planned = call.detail(position).and_then(|detail| detail.planned_us);
        // The client logged a planned wait of 0, and the log's clock is too coarse to contradict it.
        if planned == Some(0) && (call.whole_seconds || !wait.is_exact) && wait.us <= 2_000_000 {
            return Some(ChosenWait { us: 0, planned_zero: true });
        }
        let is_retry =
            call.grouping != Grouping::Inferred || attempt.flags.has(Flags::DECIDED_RETRY) || planned.is_some();
        (is_retry && !call.whole_seconds).then_some(ChosenWait { us: wait.us, planned_zero: planned == Some(0) })
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
            let Some(wait) = ChosenWait::after(call, position) else { continue };
            let (outer, step) = loop_step(call, position + 1).unwrap_or((false, u8::MAX));
            let of_loop = if outer { &mut self.outer } else { &mut self.inner };
            of_loop.steps[usize::from(step.max(1) - 1).min(MAX_STEPS - 1)] += 1;
            if wait.is_none(terms) {
                of_loop.short += 1;
                of_loop.without_timer += u64::from(wait.us < NO_TIMER_US);
                of_loop.planned_zero += u64::from(wait.planned_zero);
                of_loop.refused_again += u64::from(call.at(position + 1).failed());
                of_loop.layered += u64::from(*layered.get_or_insert_with(|| loops_of(call).is_some()));
                of_loop.add_example(RowRef::of(call.table(), call.rows()[position]));
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
    fn add_example(&mut self, failure: RowRef) {
        let index = self.examples.partition_point(|known| *known < failure);
        if index < EXAMPLES {
            self.examples.truncate(EXAMPLES - 1);
            self.examples.insert(index, failure);
        }
    }

    fn merge(&mut self, other: LoopImmediateRetries) {
        self.steps.iter_mut().zip(other.steps).for_each(|(mine, theirs)| *mine += theirs);
        self.short += other.short;
        self.without_timer += other.without_timer;
        self.planned_zero += other.planned_zero;
        self.refused_again += other.refused_again;
        self.layered += other.layered;
        other.examples.into_iter().for_each(|failure| self.add_example(failure));
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

    /// Returns whether clients logged a planned wait of 0 for some of these.
    #[must_use]
    pub fn is_intended(&self) -> bool {
        self.planned_zero > 0
    }

    /// Returns whether there are at least two waits, all of them count as none, and all are in calls that two loops
    /// retried.
    #[must_use]
    pub fn is_all_layered(&self) -> bool {
        self.short > 1 && self.short == self.waits() && self.layered == self.short
    }

    /// Returns an upper bound of the probability that full jitter, with the base of `MIN_BASE_US`, produces as many
    /// short waits. The probability of a short wait differs between steps; the binomial distribution with their mean
    /// gives at least as much (Hoeffding 1956).
    #[must_use]
    pub fn chance_of_jitter(&self, no_wait_us: i64) -> f64 {
        let at_least = |count: u64, us: i64| -> f64 {
            let steps = self.steps.iter().zip(0..);
            let expected: f64 = steps.map(|(&n, step)| n as f64 * us as f64 / (MIN_BASE_US * 2_f64.powi(step))).sum();
            // The bound holds only for counts above this, and such a small count is not unlikely.
            if (count as f64) < expected + 1.0 {
                1.0
            } else {
                tail(count, self.waits(), expected / self.waits() as f64)
            }
        };
        at_least(self.short, no_wait_us).min(at_least(self.without_timer, NO_TIMER_US))
    }
}

#[cfg(test)]
mod tests {
    use super::LoopImmediateRetries;

    /// Probability by chance, given the number of waits before the first, second, ... retries, of which `short` count
    /// as none.
    fn chance(steps: [u64; 4], short: u64, without_timer: u64) -> f64 {
        LoopImmediateRetries { steps, short, without_timer, ..LoopImmediateRetries::default() }.chance_of_jitter(50_000)
    }

    #[test]
    fn chances_follow_the_binomial_distribution() {
        for (steps, short, expected) in
            [([6, 0, 0, 0], 6, 1e-6), ([1, 0, 0, 0], 1, 1.0), ([2, 0, 0, 0], 2, 0.01), ([10, 0, 0, 0], 1, 1.0)]
        {
            let found = chance(steps, short, 0);
            assert!((found / expected - 1.0).abs() < 1e-9, "{steps:?} {short}: {found} for {expected}");
        }
    }

    #[test]
    fn the_bound_for_several_steps_is_not_below_the_exact_chance() {
        // One call, with probabilities 0.1, 0.05 and 0.025.
        let found = chance([1, 1, 1, 0], 3, 0);
        assert!((1.25e-4..3e-4).contains(&found), "{found}");
        assert!(chance([1, 1, 1, 0], 3, 3) < 1e-6);
        assert_eq!(chance([0; 4], 0, 0), 1.0);
    }
}
