//! How calls of one successful attempt without detail are added to the summaries of a fleet.

use super::answers;
use super::fleet::FleetStats;
use super::row_ref::RowRef;
use super::single_successes::{Pair, Sums};
use super::starts::RunMark;
use super::tally::FactsBatch;
use crate::model::{Attempt, AttemptTable, OriginId, Symbol, Time};

impl FleetStats {
    /// Adds calls of one successful attempt without detail, except what was sent before `since` to the short-term
    /// counts. Equivalent to [`FleetStats::absorb`], without the parts that such a call does not affect.
    pub fn absorb_single_successes(&mut self, table: &AttemptTable, rows: impl Iterator<Item = u32>, since: Time) {
        let mut batch = FactsBatch::default();
        for row in rows {
            let (attempt, row_ref) = (&table.rows[row as usize], RowRef::of(table, row));
            self.tally.absorb_single_success(table, attempt, row_ref, &mut batch);
            let index = self.pair_of(table, attempt);
            let Pair { mark, run, scope, .. } = self.pairs.add(index, table, attempt, row);
            self.runs[run].paces.absorb_success(table, attempt, row_ref);
            self.runs[run].terminal_failures.succeed(attempt.sent, since);
            if answers::is_counted(attempt) {
                let source = self.source_index(table, attempt);
                self.answers[source].add(attempt, row_ref);
            }
            if !attempt.is_untimed() {
                self.scopes[scope].flow.update(attempt.sent, |flow| flow.add_single_success(row_ref));
                self.follow_success(table, attempt, scope, mark, since);
            }
        }
        self.tally.add_batch(batch);
        self.add_sums();
    }

    /// Like [`FleetStats::follow`], for a call of one successful attempt without detail.
    pub fn follow_single_success(&mut self, table: &AttemptTable, row: u32, since: Time) {
        let attempt = &table.rows[row as usize];
        let index = self.pair_of(table, attempt);
        let Pair { mark, run, scope, .. } = self.pairs.at(index);
        self.runs[run].terminal_failures.succeed(attempt.sent, since);
        if !attempt.is_untimed() {
            self.follow_success(table, attempt, scope, mark, since);
        }
    }

    /// Adds an attempt to the short-term counts of its scope, unless it was sent before `since`.
    #[inline]
    fn follow_success(&mut self, table: &AttemptTable, attempt: &Attempt, scope: usize, mark: RunMark, since: Time) {
        if attempt.sent >= since {
            self.scopes[scope].short_window.follow_single_success(table, attempt, mark);
            self.under_way.add(attempt);
        }
        self.note_start(attempt.sent);
    }

    /// Returns the index of the pair of an attempt.
    #[inline]
    fn pair_of(&mut self, table: &AttemptTable, attempt: &Attempt) -> usize {
        let key = (attempt.run, attempt.origin);
        // The bits of the two numbers are apart, so that few pairs share a place in the cache.
        let number = attempt.run.list_index() ^ (attempt.origin.0 as usize).rotate_right(usize::BITS - 6);
        match self.pairs.find(key, number) {
            Some(index) => index,
            None => self.add_pair(table, key),
        }
    }

    #[cold]
    fn add_pair(&mut self, table: &AttemptTable, key: (Symbol, OriginId)) -> usize {
        let (run, mark) = self.run_of(table, key.0);
        let (scope, sender) = self.indices_of(table, key.1);
        let model = table.origin_of(key.1).model;
        self.pairs.push(key, Pair { mark, run, scope, sender, model, sums: Sums::NONE })
    }

    /// Adds the sums of all pairs to the summaries.
    fn add_sums(&mut self) {
        for (pair, sums) in self.pairs.drain() {
            self.runs[pair.run].add_single_successes(&sums, pair.model);
            self.senders[pair.sender].add_single_successes(&sums);
            self.scopes[pair.scope].add_single_successes(&sums);
        }
    }
}
