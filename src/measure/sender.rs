//! What the attempts of one origin came to: of one client, layer, model, account, host and address.

use super::fleet::Sums;
use super::spent::Spent;
use crate::calls::Call;
use crate::model::{AttemptTable, Outcome, Symbol};

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

impl Sums {
    /// Takes in what each attempt of `call` consumed, and who sent it.
    pub(super) fn absorb_senders(&mut self, call: &Call<'_>, run: usize) {
        for (position, (attempt, row)) in call.attempts().zip(call.rows()).enumerate() {
            let spent = Spent::of(call.table(), attempt, *row);
            self.runs[run].spent.add(spent);
            let (_, sender) = self.places_of(call.table(), attempt.origin);
            self.senders[sender].absorb(position, call.outcome, spent);
        }
    }

    /// Notes attempts of `run` that could not have helped.
    pub(crate) fn note_wasted(&mut self, table: &AttemptTable, run: Symbol, rows: &[u32]) {
        for row in rows {
            let attempt = &table.rows[*row as usize];
            self.senders.entry(attempt.origin).or_default().wasted += 1;
            if let Some(tally) = self.runs.get_mut(&run) {
                tally.wasted_spent.add(Spent::of(table, attempt, *row));
            }
        }
    }
}
