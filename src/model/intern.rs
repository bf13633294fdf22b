//! Interning of strings that repeat.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A string interned in one [`Interner`]; `Symbol::NONE` if not logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

impl Default for Symbol {
    fn default() -> Self {
        Symbol::NONE
    }
}

impl Symbol {
    /// Not logged.
    pub const NONE: Symbol = Symbol(u32::MAX);

    /// Returns whether a string was logged.
    #[must_use]
    pub fn is_some(self) -> bool {
        self != Symbol::NONE
    }

    fn index(self) -> usize {
        self.0 as usize
    }

    /// Index of the symbol in lists that have an entry for [`Symbol::NONE`] at 0, and the symbols from 1.
    pub(crate) fn list_index(self) -> usize {
        self.0.wrapping_add(1) as usize
    }
}

/// A set of strings, each identified by a small number.
#[derive(Debug, Default)]
pub struct Interner {
    text: String,
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: RandomState,
    /// Cache of recently interned strings, indexed by their last bytes: records mostly repeat the strings of those
    /// shortly before.
    recent: Vec<u32>,
}

/// Number of slots of the cache of recent strings.
const RECENT_SLOTS: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 6;
/// Marks an empty slot of the cache.
const EMPTY_SLOT: u32 = u32::MAX;

/// Returns the slot of a string in the cache of recent strings, from its last four bytes: numbered names differ in
/// these. The multiplier is 2^32 divided by the golden ratio, which spreads consecutive numbers (Knuth, The Art of
/// Computer Programming, 6.4).
fn recent_slot(value: &[u8]) -> usize {
    let tail = value.last_chunk().map_or(0, |tail| u32::from_le_bytes(*tail));
    (tail.wrapping_mul(0x9e37_79b1) >> (u32::BITS - RECENT_BITS)) as usize
}

impl Interner {
    /// Returns the symbol of `value`, adding it if new. Once the strings exceed 4 GiB in total, new ones become
    /// [`Symbol::NONE`].
    #[inline]
    pub fn intern(&mut self, value: &str) -> Symbol {
        let slot = recent_slot(value.as_bytes());
        match self.recent.get(slot) {
            Some(&index) if index != EMPTY_SLOT && bytes(&self.text, &self.ends, index) == value.as_bytes() => {
                Symbol(index)
            }
            _ => self.intern_at(slot, value),
        }
    }

    /// Like [`Interner::intern`], for a string that is not in the cache; it gets this slot there.
    #[inline(never)] // Rarely called.
    fn intern_at(&mut self, slot: usize, value: &str) -> Symbol {
        let hash = self.hasher.hash_one(value);
        let known = self.table.find(hash, |&index| bytes(&self.text, &self.ends, index) == value.as_bytes()).copied();
        let Some(index) = known.or_else(|| self.add(hash, value)) else { return Symbol::NONE };
        self.recent.resize(RECENT_SLOTS, EMPTY_SLOT);
        self.recent[slot] = index;
        Symbol(index)
    }

    /// Adds a new string.
    fn add(&mut self, hash: u64, value: &str) -> Option<u32> {
        let end = u32::try_from(self.text.len() + value.len()).ok()?;
        let index = self.ends.len() as u32;
        self.text.push_str(value);
        self.ends.push(end);
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        self.table.insert_unique(hash, index, |&other| hasher.hash_one(slice(text, ends, other)));
        Some(index)
    }

    /// Returns the string of `symbol`; `None` for [`Symbol::NONE`].
    #[must_use]
    pub fn get(&self, symbol: Symbol) -> Option<&str> {
        (symbol.index() < self.ends.len()).then(|| slice(&self.text, &self.ends, symbol.0))
    }

    /// Returns the string of `symbol`; empty for [`Symbol::NONE`].
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        self.get(symbol).unwrap_or_default()
    }

    /// Iterates over all strings in order of their symbols.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|index| slice(&self.text, &self.ends, index))
    }

    /// Returns the number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds every string of `other`. The result maps its symbols, by index, to those of this interner.
    pub fn absorb(&mut self, other: &Interner) -> Vec<Symbol> {
        (0..other.ends.len() as u32).map(|index| self.intern(slice(&other.text, &other.ends, index))).collect()
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], index: u32) -> &'a str {
    &text[byte_range(ends, index)]
}

/// Like `slice`, but as bytes for comparison, which skips the check of UTF-8 boundaries.
#[inline]
fn bytes<'a>(text: &'a str, ends: &[u32], index: u32) -> &'a [u8] {
    &text.as_bytes()[byte_range(ends, index)]
}

#[inline]
fn byte_range(ends: &[u32], index: u32) -> std::ops::Range<usize> {
    let index = index as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    start..ends[index] as usize
}

/// Translates a symbol of another interner, given the result of [`Interner::absorb`].
pub(super) fn remap(symbol: Symbol, map: &[Symbol]) -> Symbol {
    map.get(symbol.index()).copied().unwrap_or(Symbol::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_symbol() {
        let mut names = Interner::default();
        let a = names.intern("a");
        let b = names.intern("b");
        assert_eq!(names.intern("a"), a);
        assert_ne!(a, b);
        assert_eq!(names.text(b), "b");
        assert_eq!(names.get(Symbol::NONE), None);
    }

    #[test]
    fn absorbing_maps_symbols() {
        let (mut left, mut right) = (Interner::default(), Interner::default());
        left.intern("x");
        let y = right.intern("y");
        let x = right.intern("x");
        let map = left.absorb(&right);
        assert_eq!(left.text(remap(x, &map)), "x");
        assert_eq!(left.text(remap(y, &map)), "y");
        assert_eq!(left.len(), 2);
    }
}
