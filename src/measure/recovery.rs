//! Whether retries help: what became of each retry after a first attempt that failed.

use super::row_ref::{RowRef, earlier};
use super::service::Service;
use crate::calls::{Call, Grouping};
use crate::classify::Class;
use crate::policy;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Retries of one call that are told apart; further ones are only counted.
pub const MOST_RETRIES: usize = 16;

/// Calls of one service whose first attempt failed with one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Calls.
    pub calls: u64,
    /// Of them, calls that were brought together by guessing.
    pub inferred: u64,
    /// Of them, calls that sent again.
    pub retried: u64,
    /// Of those, calls of which a retry succeeded.
    pub recovered: u64,
    /// Retries.
    pub retries: u64,
    /// Time from the first failure to the end of the last retry, µs.
    pub spent_us: u64,
    /// How often the retry with this number, from 0, was made, and how often it succeeded.
    pub steps: [(u64, u64); MOST_RETRIES],
    /// The first attempt of the earliest call that sent again.
    pub first: Option<RowRef>,
}

/// By service and class.
pub type Recoveries = HashMap<(Service, Class), Recovery, RandomState>;

/// Takes in a call whose first attempt failed.
pub(super) fn absorb(recoveries: &mut Recoveries, call: &Call<'_>) {
    let Some(class) = call.first().class else { return };
    let service = Service::of(&call.origin(0).scope());
    let recovery = recoveries.entry((service, class)).or_default();
    recovery.calls += 1;
    recovery.inferred += u64::from(call.grouping == Grouping::Inferred);
    let mut last = 0;
    // A send to another service is no retry of what failed, and after a success there is none.
    for position in 1..call.len() {
        if Service::of(&call.origin(position).scope()) != service {
            break;
        }
        last = position;
        let ok = !call.at(position).failed();
        if let Some(step) = recovery.steps.get_mut(position - 1) {
            step.0 += 1;
            step.1 += u64::from(ok);
        }
        recovery.retries += 1;
        if ok {
            recovery.recovered += 1;
            break;
        }
    }
    if last > 0 {
        recovery.retried += 1;
        let spent = call.at(last).ended().us_since(call.first().ended());
        recovery.spent_us += spent.max(0).unsigned_abs();
        recovery.first = earlier(recovery.first, Some(RowRef::of(call.table(), call.rows()[0])));
    }
}

pub(super) fn merge(recoveries: &mut Recoveries, other: Recoveries) {
    for (key, theirs) in other {
        let mine = recoveries.entry(key).or_default();
        for (mine, theirs) in [
            (&mut mine.calls, theirs.calls),
            (&mut mine.inferred, theirs.inferred),
            (&mut mine.retried, theirs.retried),
            (&mut mine.recovered, theirs.recovered),
            (&mut mine.retries, theirs.retries),
            (&mut mine.spent_us, theirs.spent_us),
        ] {
            *mine += theirs;
        }
        for (mine, theirs) in mine.steps.iter_mut().zip(theirs.steps) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        mine.first = earlier(mine.first, theirs.first);
    }
}

impl Recovery {
    /// Probability that one retry succeeds, over all of them.
    #[must_use]
    pub fn success(&self) -> Option<f64> {
        (self.retries > 0).then(|| self.recovered as f64 / self.retries as f64)
    }

    /// The share of calls that recovers within so many retries, for each number of them, if those that stopped
    /// earlier fared like those that went on (the estimate of Kaplan and Meier).
    #[must_use]
    pub fn observed(&self) -> Vec<f64> {
        let mut failing = 1.0;
        let made = self.steps.iter().take_while(|(tried, _)| *tried > 0);
        made.map(|(tried, succeeded)| {
            failing *= 1.0 - *succeeded as f64 / *tried as f64;
            1.0 - failing
        })
        .collect()
    }

    /// The same if every retry were a new throw with the probability [`Recovery::success`]: 1 - (1-p)^k.
    #[must_use]
    pub fn predicted(&self, retries: usize) -> Option<f64> {
        Some(policy::success_within(u32::try_from(retries).ok()?, self.success()?))
    }

    /// Attempts a call is expected to make by the same probability: its first one, which failed, and its retries.
    #[must_use]
    pub fn expected_attempts(&self, retries: usize) -> Option<f64> {
        let success = self.success()?;
        // The first attempt has failed: the first retry is a first throw.
        let further = u32::try_from(retries).ok()?.checked_sub(1);
        Some(1.0 + further.map_or(0.0, |further| policy::expected_attempts(further, success)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_retries_succeed() {
        let mut recovery = Recovery { calls: 8, retried: 8, recovered: 7, retries: 14, ..Recovery::default() };
        recovery.steps[..3].copy_from_slice(&[(8, 4), (4, 2), (2, 1)]);
        assert_eq!(recovery.success(), Some(0.5));
        assert_eq!(recovery.observed(), [0.5, 0.75, 0.875]);
        assert_eq!(recovery.predicted(3), Some(0.875));
        assert_eq!(recovery.expected_attempts(0), Some(1.0));
        assert_eq!(recovery.expected_attempts(3), Some(2.75));
    }

    #[test]
    fn calls_that_stop_early_do_not_lower_what_is_observed() {
        let mut recovery = Recovery { retries: 5, recovered: 3, ..Recovery::default() };
        // Of four, two succeed at once; one of the others gives up, the last one succeeds with its second retry.
        recovery.steps[..2].copy_from_slice(&[(4, 2), (1, 1)]);
        assert_eq!(recovery.observed(), [0.5, 1.0]);
    }
}
