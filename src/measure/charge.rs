//! Counts tokens and cost of each attempt for its run and its sender.

use super::fleet::FleetStats;
use super::spent::Spent;
use crate::calls::Call;
use crate::model::{AttemptTable, Symbol};

impl FleetStats {
    /// Adds the sender and the consumption of each attempt of `call`.
    pub(super) fn absorb_senders(&mut self, call: &Call<'_>, run: usize) {
        for (position, (attempt, row)) in call.attempts().zip(call.rows()).enumerate() {
            let spent = Spent::of(call.table(), attempt, *row);
            self.runs[run].spent.add(spent);
            let (_, sender) = self.indices_of(call.table(), attempt.origin);
            self.senders[sender].absorb(position, call.outcome, spent);
        }
    }

    /// Records attempts of `run` that could not have helped.
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
