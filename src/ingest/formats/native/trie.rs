//! Trie of lines by their constant bytes.

use crate::ingest::record::scan;

/// Maximum number of values; when it is reached, all are discarded and learning starts anew.
const MOST: usize = 256;

/// Start and end of a scalar in its line, including quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScalarSpan {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: scan::Kind,
}

impl ScalarSpan {
    /// Returns start and end.
    pub(super) fn ends(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }

    /// Returns the scalar's text in `line`, including quotes.
    #[inline]
    pub(super) fn of<'l>(&self, line: &'l str) -> Option<&'l str> {
        line.get(self.start as usize..self.end as usize)
    }

    /// Returns what a text without escapes has between its quotes.
    #[inline]
    pub(super) fn inside<'l>(&self, line: &'l str) -> Option<&'l str> {
        line.get(self.start as usize + 1..(self.end as usize).checked_sub(1)?)
    }
}

/// Maps sequences of constant bytes and scalars to values.
#[derive(Debug)]
pub(super) struct Trie<V> {
    /// Start of every line.
    root: Node<V>,
    /// Number of values.
    count: usize,
}

/// A scalar, and what may follow it.
#[derive(Debug)]
struct Node<V> {
    /// Constant bytes before the scalar.
    before: Box<[u8]>,
    /// Possible next scalars, most frequent first, but none behind one whose constant bytes begin its own: before a
    /// list, an object or whitespace, the longest constant that fits is the right one.
    next: Vec<Node<V>>,
    /// Constant bytes after the last scalar, with the value of each such line.
    ends: Vec<(Box<[u8]>, V)>,
}

/// Result of matching a line.
pub(super) enum Fit<'t, V> {
    /// The line matches; its value.
    Whole(&'t mut V),
    /// The line matches so far, but has a scalar that needs the strict reader.
    Unusual,
    /// The line does not match, or is not JSON.
    Other,
}

/// The constant bytes of a line, and its value.
#[derive(Debug)]
pub(super) struct Entry<V> {
    /// Bytes before each scalar.
    pub(super) before: Vec<Box<[u8]>>,
    /// Bytes after the last scalar.
    pub(super) tail: Box<[u8]>,
    pub(super) value: V,
}

impl<V> Entry<V> {
    /// Builds an entry from `line` by cutting out scalars given by start and end, including quotes.
    pub(super) fn cut(line: &str, scalars: impl IntoIterator<Item = (usize, usize)>, value: V) -> Entry<V> {
        let (bytes, mut from) = (line.as_bytes(), 0);
        let before = scalars.into_iter().map(|(start, end)| bytes[std::mem::replace(&mut from, end)..start].into());
        let before = before.collect();
        Entry { before, tail: bytes[from..].into(), value }
    }
}

impl<V> Default for Trie<V> {
    fn default() -> Self {
        Trie { root: Node::new(Box::default()), count: 0 }
    }
}

impl<V> Trie<V> {
    /// Removes all values.
    pub(super) fn clear(&mut self) {
        *self = Trie::default();
    }

    /// Adds a value unless the same bytes already have one.
    pub(super) fn add(&mut self, Entry { before, tail, value }: Entry<V>) {
        if self.count >= MOST {
            self.clear();
        }
        let mut here = &mut self.root;
        for before in before {
            let place = here.next.iter().position(|node| node.before == before).unwrap_or_else(|| {
                let shorter = here.next.iter().position(|node| before.starts_with(&node.before));
                let place = shorter.unwrap_or(here.next.len());
                here.next.insert(place, Node::new(before));
                place
            });
            here = &mut here.next[place];
        }
        if !here.ends.iter().any(|(end, _)| *end == tail) {
            here.ends.push((tail, value));
            self.count += 1;
        }
    }

    /// Calls `visit` with every value.
    pub(super) fn each(&mut self, visit: &mut impl FnMut(&mut V)) {
        self.root.each(visit);
    }

    /// Finds the value of `line` and collects its scalars in order.
    #[inline(never)] // As a function of its own, its loop gets all registers, which saves more than the call costs.
    pub(super) fn fit(&mut self, line: &[u8], scalars: &mut Vec<ScalarSpan>) -> Fit<'_, V> {
        scalars.clear();
        let (mut here, mut rest) = (&mut self.root, line);
        loop {
            if !here.ends.is_empty()
                && let Some(nth) = here.ends.iter().position(|(end, _)| **end == *rest)
            {
                return Fit::Whole(&mut here.ends[nth].1);
            }
            let first = here.next.first().and_then(|node| scan::after(rest, &node.before)).map(|after| (0, after));
            let Some((rank, after)) = first.or_else(|| here.later(rest)) else { return Fit::Other };
            let Some((kind, length)) = scan::scalar(after) else {
                return if after.first().is_some_and(scan::begins_scalar) { Fit::Unusual } else { Fit::Other };
            };
            let start = (line.len() - after.len()) as u32;
            scalars.push(ScalarSpan { start, end: start + length as u32, kind });
            let Some(after) = after.get(length..) else { return Fit::Other };
            rest = after;
            here = &mut here.next[rank];
        }
    }
}

impl<V> Node<V> {
    fn new(before: Box<[u8]>) -> Node<V> {
        Node { before, next: Vec::new(), ends: Vec::new() }
    }

    fn each(&mut self, visit: &mut impl FnMut(&mut V)) {
        self.ends.iter_mut().for_each(|(_, value)| visit(value));
        self.next.iter_mut().for_each(|node| node.each(visit));
    }

    /// Finds the node beyond the first that `rest` continues with, and moves it one rank up. Returns its new rank, and
    /// what follows its constant bytes.
    #[inline(never)] // Rarely called.
    fn later<'r>(&mut self, rest: &'r [u8]) -> Option<(usize, &'r [u8])> {
        let found = |(rank, node): (usize, &Node<V>)| Some((rank, scan::after(rest, &node.before)?));
        let (rank, after) = self.next.iter().enumerate().skip(1).find_map(found)?;
        if self.next[rank - 1].before.starts_with(&self.next[rank].before) {
            return Some((rank, after));
        }
        self.next.swap(rank, rank - 1);
        Some((rank - 1, after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(before: &[&str], tail: &str, value: usize) -> Entry<usize> {
        let before = before.iter().map(|text| text.as_bytes().into()).collect();
        Entry { before, tail: tail.as_bytes().into(), value }
    }

    fn fit(trie: &mut Trie<usize>, line: &str) -> (Option<usize>, Vec<String>) {
        let mut scalars = Vec::new();
        let found = match trie.fit(line.as_bytes(), &mut scalars) {
            Fit::Whole(number) => Some(*number),
            Fit::Unusual => None,
            Fit::Other => Some(usize::MAX),
        };
        let text = |scalar: &ScalarSpan| match scalar.kind {
            scan::Kind::Text => scalar.inside(line).map(str::to_owned),
            _ => scalar.of(line).map(str::to_owned),
        };
        (found, scalars.iter().filter_map(text).collect())
    }

    #[test]
    fn lines_that_begin_alike_are_told_apart_where_they_differ() {
        let mut trie = Trie::default();
        trie.add(entry(&["{\"a\":", ",\"b\":"], "}", 0));
        trie.add(entry(&["{\"a\":", ",\"c\":"], "}", 1));
        trie.add(entry(&["{\"a\":"], "}", 2));
        trie.add(entry(&["{\"a\":[", ","], "]}", 3));
        trie.add(entry(&["{\"a\": "], "}", 4));
        for _ in 0..3 {
            assert_eq!(fit(&mut trie, r#"{"a":1,"c":"x"}"#), (Some(1), vec!["1".into(), "x".into()]));
            assert_eq!(fit(&mut trie, r#"{"a":1,"b":null}"#), (Some(0), vec!["1".into(), "null".into()]));
            assert_eq!(fit(&mut trie, r#"{"a":1}"#), (Some(2), vec!["1".into()]));
            assert_eq!(fit(&mut trie, r#"{"a":[1,2]}"#), (Some(3), vec!["1".into(), "2".into()]));
            assert_eq!(fit(&mut trie, r#"{"a": 7}"#), (Some(4), vec!["7".into()]));
            assert_eq!(fit(&mut trie, r#"{"a":1e5}"#).0, None);
            assert_eq!(fit(&mut trie, r#"{"a":1,"d":1}"#).0, Some(usize::MAX));
            assert_eq!(fit(&mut trie, "").0, Some(usize::MAX));
        }
    }

    #[test]
    fn too_many_values_are_forgotten() {
        let mut trie = Trie::default();
        for number in 0..1000 {
            trie.add(entry(&[&format!("{{\"k{number}\":")], "}", number));
            assert!(trie.count <= MOST && trie.root.next.len() <= MOST);
        }
        assert_eq!(fit(&mut trie, r#"{"k999":1}"#).0, Some(999));
    }
}
