//! Strings that repeat, held once.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// An interned string of one [`Interner`]. `Symbol::NONE` stands for "not logged".
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

    /// Whether a string was logged.
    #[must_use]
    pub fn is_some(self) -> bool {
        self != Symbol::NONE
    }

    fn index(self) -> usize {
        self.0 as usize
    }

    /// Its number among all, for lists by name: 0 for what was not logged.
    pub(crate) fn place(self) -> usize {
        self.0.wrapping_add(1) as usize
    }
}

/// A set of strings, each with a small number.
#[derive(Debug, Default)]
pub struct Interner {
    text: String,
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: RandomState,
    /// The strings met last, by their last bytes: records nearly always repeat those of records shortly before.
    recent: Vec<u32>,
}

/// Places of strings met last.
const RECENT: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 6;
/// No string.
const NEVER: u32 = u32::MAX;

/// Where a string is looked for among those met last: names that are numbered differ in their last bytes.
fn recent_place(value: &[u8]) -> usize {
    let tail = value.last_chunk().map_or(0, |tail| u32::from_le_bytes(*tail));
    (tail.wrapping_mul(0x9e37_79b1) >> (u32::BITS - RECENT_BITS)) as usize
}

impl Interner {
    /// The symbol of `value`, new or known. Texts past 4 GiB in total are not kept apart any more.
    pub fn intern(&mut self, value: &str) -> Symbol {
        let (text, ends) = (&self.text, &self.ends);
        let is_value = |index: u32| bytes(text, ends, index) == value.as_bytes();
        let recent = recent_place(value.as_bytes());
        if let Some(index) = self.recent.get(recent).copied().filter(|index| *index != NEVER)
            && is_value(index)
        {
            return Symbol(index);
        }
        let hash = self.hasher.hash_one(value);
        let known = self.table.find(hash, |&index| is_value(index)).copied();
        let Some(index) = known.or_else(|| self.add(hash, value)) else { return Symbol::NONE };
        self.recent.resize(RECENT, NEVER);
        self.recent[recent] = index;
        Symbol(index)
    }

    /// Adds a string that is new.
    fn add(&mut self, hash: u64, value: &str) -> Option<u32> {
        let end = u32::try_from(self.text.len() + value.len()).ok()?;
        let index = self.ends.len() as u32;
        self.text.push_str(value);
        self.ends.push(end);
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        self.table.insert_unique(hash, index, |&other| hasher.hash_one(slice(text, ends, other)));
        Some(index)
    }

    /// The string behind `symbol`; `None` for [`Symbol::NONE`].
    #[must_use]
    pub fn get(&self, symbol: Symbol) -> Option<&str> {
        (symbol.index() < self.ends.len()).then(|| slice(&self.text, &self.ends, symbol.0))
    }

    /// The string behind `symbol`, empty for [`Symbol::NONE`].
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        self.get(symbol).unwrap_or_default()
    }

    /// Every string, in the order of their places.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|index| slice(&self.text, &self.ends, index))
    }

    /// How many strings are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether none is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Takes in every string of `other`; the result maps its symbols to this interner's.
    pub fn absorb(&mut self, other: &Interner) -> Vec<Symbol> {
        (0..other.ends.len() as u32).map(|index| self.intern(slice(&other.text, &other.ends, index))).collect()
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], index: u32) -> &'a str {
    &text[place(ends, index)]
}

/// The same, for comparing: where a string begins and ends in UTF-8 need not be looked at.
fn bytes<'a>(text: &'a str, ends: &[u32], index: u32) -> &'a [u8] {
    &text.as_bytes()[place(ends, index)]
}

fn place(ends: &[u32], index: u32) -> std::ops::Range<usize> {
    let index = index as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    start..ends[index] as usize
}

/// The symbol of another interner in this one's numbers, given what [`Interner::absorb`] returned.
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
