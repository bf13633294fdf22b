//! Counts of one origin: one client, layer, model, account, host and endpoint.

use super::single_successes::Sums;
use super::spent::Spent;
use crate::model::Outcome;

/// Counts of one origin. A call counts for the origin of its first attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderTally {
    /// Calls whose first attempt it sent.
    pub calls: u64,
    /// Of `calls`, those that failed.
    pub calls_failed: u64,
    /// Attempts it sent.
    pub attempts: u64,
    /// Of `attempts`, those beyond the first of their call.
    pub retries: u64,
    /// Of `attempts`, those that could not have helped.
    pub wasted: u64,
    /// Findings whose first evidence is one of its attempts, by severity: info, warning, error.
    pub findings: [u64; 3],
    /// Consumption of its attempts.
    pub spent: Spent,
}

impl SenderTally {
    /// Adds the attempt at `position` of a call with this outcome.
    pub(super) fn absorb(&mut self, position: usize, outcome: Outcome, spent: Spent) {
        self.attempts += 1;
        self.spent.add(spent);
        if position == 0 {
            self.calls += 1;
            self.calls_failed += u64::from(outcome == Outcome::Failed);
        } else {
            self.retries += 1;
        }
    }

    /// Adds calls of one successful attempt without detail.
    pub(super) fn add_single_successes(&mut self, sums: &Sums) {
        self.attempts += sums.calls;
        self.calls += sums.calls;
        self.spent.add(sums.spent);
    }

    /// Adds the counts of other calls.
    pub fn merge(&mut self, other: &SenderTally) {
        self.calls += other.calls;
        self.calls_failed += other.calls_failed;
        self.attempts += other.attempts;
        self.retries += other.retries;
        self.wasted += other.wasted;
        self.findings.iter_mut().zip(other.findings).for_each(|(mine, theirs)| *mine += theirs);
        self.spent.add(other.spent);
    }
}
