//! Whether retries help: outcomes of the retries after a failed first attempt.

use super::row_ref::{RowRef, earlier};
use super::service::Service;
use crate::calls::{Call, Grouping};
use crate::classify::Class;
use crate::policy;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Number of retries of one call that are distinguished; further ones are only counted.
pub const MAX_RETRY_STEPS: usize = 16;

/// Calls of one service whose first attempt failed with one class, and the retries after any failure of that class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Number of calls.
    pub calls: u64,
    /// Of `calls`, those grouped by inference.
    pub inferred: u64,
    /// Of `calls`, those that sent again.
    pub retried: u64,
    /// Of `retried`, those with a retry that succeeded.
    pub recovered: u64,
    /// Number of retries.
    pub retries: u64,
    /// Time from the first failure to the end of the last retry, summed over the calls, in µs.
    pub spent_us: u64,
    /// How often the retry with this index, from 0, was made, and how often it succeeded.
    pub steps: [(u64, u64); MAX_RETRY_STEPS],
    /// First attempt of the earliest call that sent again.
    pub first: Option<RowRef>,
    /// Retries directly after a failure of the class, regardless of the class of the first failure of their call.
    pub next: NextSends,
}

/// Retries directly after a failure of one class, in calls whose first attempt failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextSends {
    /// Number of retries.
    pub sent: u64,
    /// Of `sent`, those that failed.
    pub failed: u64,
    /// Of `sent`, those of calls grouped by inference.
    pub inferred: u64,
    /// The earliest failure that was retried.
    pub first: Option<RowRef>,
}

/// Counts by service and failure class.
pub type Recoveries = HashMap<(Service, Class), Recovery, RandomState>;

/// Adds a call whose first attempt failed.
pub(super) fn absorb(recoveries: &mut Recoveries, call: &Call<'_>) {
    let Some(class) = call.first().class else { return };
    let service = Service::of(&call.origin(0).scope());
    absorb_next(recoveries, call, service);
    let recovery = recoveries.entry((service, class)).or_default();
    recovery.calls += 1;
    recovery.inferred += u64::from(call.grouping == Grouping::Inferred);
    let mut last = 0;
    // A send to another service does not retry the failed attempt, and nothing after a success is a retry.
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

/// Adds each retry to the class of the failure before it.
fn absorb_next(recoveries: &mut Recoveries, call: &Call<'_>, service: Service) {
    for position in 1..call.len() {
        let Some(class) = call.at(position - 1).class else { break };
        if Service::of(&call.origin(position).scope()) != service {
            break;
        }
        let next = &mut recoveries.entry((service, class)).or_default().next;
        next.sent += 1;
        next.failed += u64::from(call.at(position).failed());
        next.inferred += u64::from(call.grouping == Grouping::Inferred);
        next.first = earlier(next.first, Some(RowRef::of(call.table(), call.rows()[position - 1])));
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
            (&mut mine.next.sent, theirs.next.sent),
            (&mut mine.next.failed, theirs.next.failed),
            (&mut mine.next.inferred, theirs.next.inferred),
        ] {
            *mine += theirs;
        }
        for (mine, theirs) in mine.steps.iter_mut().zip(theirs.steps) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        mine.first = earlier(mine.first, theirs.first);
        mine.next.first = earlier(mine.next.first, theirs.next.first);
    }
}

impl Recovery {
    /// Returns the probability that a retry succeeds, over all retries.
    #[must_use]
    pub fn success(&self) -> Option<f64> {
        (self.retries > 0).then(|| self.recovered as f64 / self.retries as f64)
    }

    /// Returns the share of calls that recover within n retries, for n from 1, assuming that calls that stopped earlier
    /// would have fared like the others (Kaplan-Meier estimate).
    #[must_use]
    pub fn observed(&self) -> Vec<f64> {
        let mut still_failing = 1.0;
        let steps_made = self.steps.iter().take_while(|(tried, _)| *tried > 0);
        steps_made
            .map(|(tried, succeeded)| {
                still_failing *= 1.0 - *succeeded as f64 / *tried as f64;
                1.0 - still_failing
            })
            .collect()
    }

    /// Returns the same share for independent retries with the probability [`Recovery::success`]: 1 - (1-p)^k.
    #[must_use]
    pub fn predicted(&self, retries: usize) -> Option<f64> {
        Some(policy::success_within(u32::try_from(retries).ok()?, self.success()?))
    }

    /// Returns the expected number of attempts of a call with that probability: the first one, which failed, and its
    /// retries.
    #[must_use]
    pub fn expected_attempts(&self, retries: usize) -> Option<f64> {
        let success = self.success()?;
        // The first attempt has failed, so the first retry is the first trial.
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
        // Of four calls, two succeed with the first retry. Of the others, one gives up and one succeeds with its
        // second.
        recovery.steps[..2].copy_from_slice(&[(4, 2), (1, 1)]);
        assert_eq!(recovery.observed(), [0.5, 1.0]);
    }
}
