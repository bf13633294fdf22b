//! Finds calls that consist of one successful attempt. Most calls of a healthy log do, and they only need to be
//! counted, so they are separated before the other rows are grouped.

use crate::model::{Attempt, AttemptTable, Flags};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bits in a word.
const WORD_BITS: usize = 64;
/// Bits of the set of keys for each row. At most one bit in this many is set, so a key that occurs once is taken for a
/// repeated one with at most this probability.
const BITS_PER_ROW: usize = 16;

/// Set of the rows that are single successes, one bit for each row from `from` on.
#[derive(Debug)]
pub(crate) struct SingleSuccesses {
    from: usize,
    bits: Vec<u64>,
}

impl SingleSuccesses {
    /// Finds the single successes, except a few whose keys have the same bit as another key. Those are grouped like
    /// other calls.
    pub(crate) fn of(table: &AttemptTable) -> SingleSuccesses {
        SingleSuccesses::find(table, 0, |_| true)
    }

    /// Like [`SingleSuccesses::of`], for the rows from `from` on. Rows without a call id are left out: as long as the
    /// log is being read, later attempts may belong to their calls.
    pub(crate) fn with_call_id(table: &AttemptTable, from: usize) -> SingleSuccesses {
        SingleSuccesses::find(table, from, |row| !row.flags.has(Flags::NO_CALL_ID))
    }

    fn find(table: &AttemptTable, from: usize, wanted: impl Fn(&Attempt) -> bool + Sync) -> SingleSuccesses {
        let rows = &table.rows[from..];
        let repeated_keys = RepeatedKeys::of(rows);
        let is_single = |row: &Attempt| row.is_single_success() && wanted(row) && !repeated_keys.has(row.key[0]);
        let word = |rows: &[Attempt]| rows.iter().rev().fold(0, |word, row| word << 1 | u64::from(is_single(row)));
        let mut bits: Vec<u64> = rows.par_chunks(WORD_BITS).with_min_len(256).map(word).collect();
        // A row with a view in another log belongs to a call of several rows.
        let linked = table.views.links().flat_map(|(view, of)| [view as usize, of as usize]);
        for row in linked.filter_map(|row| row.checked_sub(from)) {
            bits[row / WORD_BITS] &= !(1 << (row % WORD_BITS));
        }
        SingleSuccesses { from, bits }
    }

    /// Returns whether a row is a single success.
    pub(crate) fn has(&self, row: u32) -> bool {
        let Some(row) = (row as usize).checked_sub(self.from) else { return false };
        self.bits.get(row / WORD_BITS).is_some_and(|word| word >> (row % WORD_BITS) & 1 != 0)
    }

    /// Iterates over the single successes within a range of rows.
    pub(crate) fn among(&self, rows: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        (rows.start as u32..rows.end as u32).filter(|row| self.has(*row))
    }
}

/// Set of keys that occur on several rows, stored as one bit for each hash: keys seen, and keys seen again.
struct RepeatedKeys {
    seen: Vec<AtomicU64>,
    repeated: Vec<AtomicU64>,
}

impl RepeatedKeys {
    fn of(rows: &[Attempt]) -> RepeatedKeys {
        let words = (rows.len() * BITS_PER_ROW).div_ceil(WORD_BITS);
        let empty = || std::iter::repeat_with(AtomicU64::default).take(words).collect();
        let repeated_keys = RepeatedKeys { seen: empty(), repeated: empty() };
        rows.par_iter().with_min_len(1 << 14).for_each(|row| repeated_keys.add(row.key[0]));
        repeated_keys
    }

    fn add(&self, key: u64) {
        let (word, bit) = self.bit_of(key);
        let was_seen = self.seen[word].load(Relaxed) & bit != 0 || self.seen[word].fetch_or(bit, Relaxed) & bit != 0;
        if was_seen {
            self.repeated[word].fetch_or(bit, Relaxed);
        }
    }

    fn has(&self, key: u64) -> bool {
        let (word, bit) = self.bit_of(key);
        self.repeated[word].load(Relaxed) & bit != 0
    }

    /// Scales the upper half of a key, which is a hash, to a bit position.
    fn bit_of(&self, key: u64) -> (usize, u64) {
        let bit = ((key >> 32) as usize * self.seen.len() * WORD_BITS) >> 32;
        (bit / WORD_BITS, 1 << (bit % WORD_BITS))
    }
}
