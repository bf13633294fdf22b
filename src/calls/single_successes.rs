//! Calls of one attempt, which succeeded at once. Most calls of a healthy log are of that kind, and nothing
//! but their counts is of interest: they are told from all others before any row is grouped.

use crate::model::AttemptTable;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Rows of a word of bits.
const WORD: usize = 64;
/// Bits a row, in which keys are looked for: of rows that are alone, one in so many is taken for another.
const ROOM: usize = 16;

/// Which rows of a table are plain calls, one bit each.
#[derive(Debug)]
pub(crate) struct SingleSuccesses {
    bits: Vec<u64>,
}

impl SingleSuccesses {
    /// Finds them. A few are left out, as if another row shared their key.
    pub(crate) fn of(table: &AttemptTable) -> SingleSuccesses {
        let shared = Shared::of(table);
        let word = |rows: &[crate::model::Attempt]| {
            let bits = rows.iter().zip(0..).filter(|(row, _)| row.is_single_success() && !shared.has(row.key[0]));
            bits.fold(0, |word, (_, bit)| word | 1 << bit)
        };
        let mut bits: Vec<u64> = table.rows.par_chunks(WORD).with_min_len(256).map(word).collect();
        // What another log tells of as well is a call with others.
        for row in table.views.links().flat_map(|(view, of)| [view as usize, of as usize]) {
            bits[row / WORD] &= !(1 << (row % WORD));
        }
        SingleSuccesses { bits }
    }

    /// Whether a row is one.
    pub(crate) fn has(&self, row: u32) -> bool {
        let row = row as usize;
        self.bits.get(row / WORD).is_some_and(|word| word >> (row % WORD) & 1 != 0)
    }

    /// Those among some rows, in order.
    pub(crate) fn among(&self, rows: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        (rows.start as u32..rows.end as u32).filter(|row| self.has(*row))
    }
}

/// Keys that stand on several rows, by their hash: what was met, and what was met again.
struct Shared {
    met: Vec<AtomicU64>,
    again: Vec<AtomicU64>,
}

impl Shared {
    fn of(table: &AttemptTable) -> Shared {
        let words = (table.rows.len() * ROOM).div_ceil(WORD);
        let none = || std::iter::repeat_with(AtomicU64::default).take(words).collect();
        let shared = Shared { met: none(), again: none() };
        table.rows.par_iter().with_min_len(1 << 14).for_each(|row| shared.note(row.key[0]));
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

    /// Keys are hashes: their upper half, as a share of the room there is.
    fn place(&self, key: u64) -> (usize, u64) {
        let bit = ((key >> 32) as usize * self.met.len() * WORD) >> 32;
        (bit / WORD, 1 << (bit % WORD))
    }
}
