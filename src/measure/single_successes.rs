//! Calls of one successful attempt without detail. Most calls are of this kind, so what they add to a run, a scope and
//! a sender is first summed for each pair of run and origin.

use super::answers;
use super::direct_cache::DirectCache;
use super::fleet::FleetStats;
use super::load::Load;
use super::row_ref::RowRef;
use super::spent::Spent;
use super::starts::RunMark;
use super::tally::FactsBatch;
use crate::model::{Attempt, AttemptTable, OriginId, Symbol, Time};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Sums by run and origin, until they are added to the summaries.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    list: Vec<Pair>,
    index: HashMap<(Symbol, OriginId), usize, RandomState>,
    /// Cached index of each pair.
    known: DirectCache<(Symbol, OriginId), usize>,
    /// Indices of the pairs that have calls.
    open: Vec<usize>,
}

/// A run and an origin.
#[derive(Clone, Copy, Debug)]
struct Pair {
    mark: RunMark,
    /// Indices in the summaries by run, scope and sender.
    run: usize,
    scope: usize,
    sender: usize,
    model: Symbol,
    sums: Sums,
}

/// Sums over calls of one successful attempt each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub(super) calls: u64,
    /// Earliest and latest send.
    pub(super) sent: (Time, Time),
    /// Time of the last answer.
    pub(super) ended: Time,
    pub(super) is_undated: bool,
    pub(super) spent: Spent,
    /// Load of the scope, without attempts of logs that have no times.
    pub(super) load: Load,
}

impl Sums {
    const NONE: Sums = Sums {
        calls: 0,
        sent: (Time(i64::MAX), Time(i64::MIN)),
        ended: Time(i64::MIN),
        is_undated: false,
        spent: Spent::NONE,
        load: Load::NONE,
    };

    #[inline]
    fn add(&mut self, table: &AttemptTable, attempt: &Attempt, row: u32) {
        self.calls += 1;
        self.sent = (self.sent.0.min(attempt.sent), self.sent.1.max(attempt.sent));
        self.ended = self.ended.max(attempt.ended());
        self.is_undated |= attempt.is_undated();
        if !attempt.is_untimed() {
            self.load.absorb_single_success(attempt);
        }
        if table.has_usage() {
            self.spent.add(Spent::of(table, attempt, row));
        }
    }
}

impl FleetStats {
    /// Adds calls of one successful attempt without detail, except what was sent before `since` to the short-term
    /// counts. Equivalent to [`FleetStats::absorb`], without the parts that such a call does not affect.
    pub fn absorb_single_successes(&mut self, table: &AttemptTable, rows: impl Iterator<Item = u32>, since: Time) {
        let mut batch = FactsBatch::default();
        for row in rows {
            let (attempt, row_ref) = (&table.rows[row as usize], RowRef::of(table, row));
            self.tally.absorb_single_success(table, attempt, row_ref, &mut batch);
            let place = self.pair_of(table, attempt);
            let Pair { mark, run, scope, .. } = self.pairs.add(place, table, attempt, row);
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
        let place = self.pair_of(table, attempt);
        let Pair { mark, run, scope, .. } = self.pairs.list[place];
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

    #[inline]
    fn pair_of(&mut self, table: &AttemptTable, attempt: &Attempt) -> usize {
        let key = (attempt.run, attempt.origin);
        let number = attempt.run.list_index() ^ (attempt.origin.0 as usize).rotate_right(usize::BITS - 6);
        match self.pairs.known.find(key, number) {
            Some(place) => place,
            None => self.note_pair(table, key, number),
        }
    }

    #[cold]
    fn note_pair(&mut self, table: &AttemptTable, key: (Symbol, OriginId), number: usize) -> usize {
        let place = match self.pairs.index.get(&key) {
            Some(place) => *place,
            None => {
                let (run, mark) = self.run_of(table, key.0);
                let (scope, sender) = self.indices_of(table, key.1);
                let model = table.origin_of(key.1).model;
                self.pairs.list.push(Pair { mark, run, scope, sender, model, sums: Sums::NONE });
                self.pairs.index.insert(key, self.pairs.list.len() - 1);
                self.pairs.list.len() - 1
            }
        };
        self.pairs.known.insert(key, number, place);
        place
    }

    /// Adds the sums of all pairs to the summaries.
    fn add_sums(&mut self) {
        for place in self.pairs.open.drain(..) {
            let Pair { run, scope, sender, model, ref mut sums, .. } = self.pairs.list[place];
            let sums = std::mem::replace(sums, Sums::NONE);
            self.runs[run].add_single_successes(&sums, model);
            self.senders[sender].add_single_successes(&sums);
            self.scopes[scope].add_single_successes(&sums);
        }
    }
}

impl Pairs {
    #[inline]
    fn add(&mut self, place: usize, table: &AttemptTable, attempt: &Attempt, row: u32) -> Pair {
        let pair = &mut self.list[place];
        if pair.sums.calls == 0 {
            self.open.push(place);
        }
        pair.sums.add(table, attempt, row);
        *pair
    }
}
