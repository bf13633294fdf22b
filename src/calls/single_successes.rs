//! Finds calls that consist of one successful attempt. Most calls of a healthy log do, and they only need to be
//! counted, so they are separated before rows are grouped.

use crate::model::{Attempt, AttemptTable, Flags};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bits in a word.
const WORD: usize = 64;
/// Bits for each row in the set of keys. About one in this many single rows is mistaken for a shared key.
const ROOM: usize = 16;

/// Set of the rows that are single successes, one bit for each row from `from` on.
#[derive(Debug)]
pub(crate) struct SingleSuccesses {
    from: usize,
    bits: Vec<u64>,
}

impl SingleSuccesses {
    /// Finds the single successes. Misses a few whose keys collide with another row's.
    pub(crate) fn of(table: &AttemptTable) -> SingleSuccesses {
        SingleSuccesses::find(table, 0, |_| true)
    }

    /// Like [`SingleSuccesses::of`], for the rows from `from` on. Rows without a call id are left out: as long as the
    /// log is being read, others of their stream may follow.
    pub(crate) fn of_named(table: &AttemptTable, from: usize) -> SingleSuccesses {
        SingleSuccesses::find(table, from, |row| !row.flags.has(Flags::NO_CALL_ID))
    }

    fn find(table: &AttemptTable, from: usize, wanted: impl Fn(&Attempt) -> bool + Sync) -> SingleSuccesses {
        let rows = &table.rows[from..];
        let shared = Shared::of(rows);
        let is_single = |row: &Attempt| row.is_single_success() && wanted(row) && !shared.has(row.key[0]);
        let word = |rows: &[Attempt]| rows.iter().rev().fold(0, |word, row| word << 1 | u64::from(is_single(row)));
        let mut bits: Vec<u64> = rows.par_chunks(WORD).with_min_len(256).map(word).collect();
        // Rows that another log describes too are joined with others.
        let linked = table.views.links().flat_map(|(view, of)| [view as usize, of as usize]);
        for row in linked.filter_map(|row| row.checked_sub(from)) {
            bits[row / WORD] &= !(1 << (row % WORD));
        }
        SingleSuccesses { from, bits }
    }

    /// Returns whether a row is a single success.
    pub(crate) fn has(&self, row: u32) -> bool {
        let Some(row) = (row as usize).checked_sub(self.from) else { return false };
        self.bits.get(row / WORD).is_some_and(|word| word >> (row % WORD) & 1 != 0)
    }

    /// Iterates over the single successes within a range of rows.
    pub(crate) fn among(&self, rows: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        (rows.start as u32..rows.end as u32).filter(|row| self.has(*row))
    }
}

/// Set of keys that occur on several rows, as one bit for each hash: keys seen, and keys seen again.
struct Shared {
    met: Vec<AtomicU64>,
    again: Vec<AtomicU64>,
}

impl Shared {
    fn of(rows: &[Attempt]) -> Shared {
        let words = (rows.len() * ROOM).div_ceil(WORD);
        let none = || std::iter::repeat_with(AtomicU64::default).take(words).collect();
        let shared = Shared { met: none(), again: none() };
        rows.par_iter().with_min_len(1 << 14).for_each(|row| shared.note(row.key[0]));
        shared
    }

    fn note(&self, key: u64) {
        let (word, bit) = self.place(key);
        let known = self.met[word].load(Relaxed) & bit != 0 || self.met[word].fetch_or(bit, Relaxed) & bit != 0;
        if known {
            self.again[word].fetch_or(bit, Relaxed);
        }
    }

    fn has(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.again[word].load(Relaxed) & bit != 0
    }

    /// Scales the upper half of a key, which is a hash, to a bit position.
    fn place(&self, key: u64) -> (usize, u64) {
        let bit = ((key >> 32) as usize * self.met.len() * WORD) >> 32;
        (bit / WORD, 1 << (bit % WORD))
    }
}
