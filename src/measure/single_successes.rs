//! Sums over calls of one successful attempt without detail, for each pair of run and origin. Most calls are of this
//! kind, so what they add to a run, a scope and a sender is summed first and added once.

use super::direct_cache::DirectCache;
use super::load::Load;
use super::spent::Spent;
use super::starts::RunMark;
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
pub(super) struct Pair {
    pub(super) mark: RunMark,
    /// Indices in the summaries by run, scope and sender.
    pub(super) run: usize,
    pub(super) scope: usize,
    pub(super) sender: usize,
    pub(super) model: Symbol,
    pub(super) sums: Sums,
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
    pub(super) const NONE: Sums = Sums {
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

impl Pairs {
    /// Returns the index of the pair `key`, whose number is `number`.
    #[inline]
    pub(super) fn find(&mut self, key: (Symbol, OriginId), number: usize) -> Option<usize> {
        self.known.find(key, number).or_else(|| {
            let index = *self.index.get(&key)?;
            Some(self.known.insert(key, number, index))
        })
    }

    /// Adds a new pair and returns its index.
    pub(super) fn push(&mut self, key: (Symbol, OriginId), pair: Pair) -> usize {
        self.index.insert(key, self.list.len());
        self.list.push(pair);
        self.list.len() - 1
    }

    /// Returns the pair at `index`.
    #[inline]
    pub(super) fn at(&self, index: usize) -> Pair {
        self.list[index]
    }

    /// Adds an attempt to the sums of the pair at `index`, and returns the pair.
    #[inline]
    pub(super) fn add(&mut self, index: usize, table: &AttemptTable, attempt: &Attempt, row: u32) -> Pair {
        let pair = &mut self.list[index];
        if pair.sums.calls == 0 {
            self.open.push(index);
        }
        pair.sums.add(table, attempt, row);
        *pair
    }

    /// Removes the sums of all pairs and returns them, each with its pair.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Pair, Sums)> + '_ {
        let list = &mut self.list;
        self.open.drain(..).map(|index| (list[index], std::mem::replace(&mut list[index].sums, Sums::NONE)))
    }
}
