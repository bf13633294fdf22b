//! What the attempts of one origin came to: of one client, layer, model, account, host and address.

use super::spent::Spent;
use crate::model::Outcome;

/// Counts of one origin. Calls count where their first attempt is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderTally {
    /// Calls whose first attempt it sent.
    pub calls: u64,
    /// Of them, calls that failed.
    pub calls_failed: u64,
    /// Attempts it sent.
    pub attempts: u64,
    /// Of them, attempts beyond the first of their call.
    pub retries: u64,
    /// Of its attempts, those that could not have helped.
    pub wasted: u64,
    /// Findings whose evidence begins with an attempt of it: infos, warnings, errors.
    pub findings: [u64; 3],
    /// What its attempts consumed.
    pub spent: Spent,
}

impl SenderTally {
    /// Takes in the attempt at `position` of a call that ended so.
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

    /// Takes in the counts of other calls.
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
