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
    last: Option<Symbol>,
}

impl Interner {
    /// The symbol of `value`, new or known. Texts past 4 GiB in total are not kept apart any more.
    pub fn intern(&mut self, value: &str) -> Symbol {
        // Neighbouring records nearly always repeat the string before.
        let (text, ends) = (&self.text, &self.ends);
        if let Some(last) = self.last
            && is_same(bytes(text, ends, last.0), value.as_bytes())
        {
            return last;
        }
        let hash = self.hasher.hash_one(value);
        if let Some(&index) = self.table.find(hash, |&index| bytes(text, ends, index) == value.as_bytes()) {
            self.last = Some(Symbol(index));
            return Symbol(index);
        }
        let Ok(end) = u32::try_from(self.text.len() + value.len()) else {
            return Symbol::NONE;
        };
        let index = self.ends.len() as u32;
        self.text.push_str(value);
        self.ends.push(end);
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        self.table.insert_unique(hash, index, |&other| hasher.hash_one(slice(text, ends, other)));
        self.last = Some(Symbol(index));
        Symbol(index)
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

/// Names that are numbered differ in their last byte, which costs less to see than a call of `memcmp`.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.last() == b.last() && a == b
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
