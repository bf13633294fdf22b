//! Trie of lines by their constant bytes.

use crate::ingest::record::scan;

/// Maximum number of values; when it is reached, all are discarded and learning starts anew.
const MOST: usize = 256;

/// One of this many lines changes the order in which constant bytes are compared: what is frequent still gets first.
const RANKING: u32 = 8;

/// What a scalar of a line is read into.
pub(super) trait Step: Copy + PartialEq {
    /// What the scalars of one line are read into.
    type Values<'l>;

    /// Reads the scalar of `line` at `start` and returns its end; `None` if there is none, or if it needs the strict
    /// reader.
    fn read<'l>(self, line: &'l str, start: usize, values: &mut Self::Values<'l>) -> Option<usize>;
}

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

/// Collects the scalar's place and kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Collect;

impl Step for Collect {
    type Values<'l> = Vec<ScalarSpan>;

    #[inline]
    fn read(self, line: &str, start: usize, scalars: &mut Vec<ScalarSpan>) -> Option<usize> {
        let (kind, length) = scan::scalar(line.as_bytes().get(start..)?)?;
        scalars.push(ScalarSpan { start: start as u32, end: (start + length) as u32, kind });
        Some(start + length)
    }
}

/// Maps sequences of constant bytes and scalars to values.
#[derive(Debug)]
pub(super) struct Trie<S, V> {
    /// What may begin a line.
    root: Next<S, V>,
    /// Number of values.
    count: usize,
}

/// A scalar, and what may follow it.
#[derive(Debug)]
struct Node<S, V> {
    /// Constant bytes before the scalar.
    before: Box<[u8]>,
    /// What it is read into.
    step: S,
    next: Next<S, V>,
}

/// What may follow a scalar.
#[derive(Debug)]
struct Next<S, V> {
    /// Possible next scalars, most frequent first, but none behind one whose constant bytes begin its own: before a
    /// list, an object or whitespace, the longest constant that fits is the right one.
    nodes: Vec<Node<S, V>>,
    /// Constant bytes after the last scalar, with the value of each such line.
    ends: Vec<(Box<[u8]>, V)>,
    /// Number of lines that had a scalar beyond the first.
    later: u32,
}

/// Result of matching a line.
pub(super) enum Fit<'t, V> {
    /// The line matches; its value, and the length of the line.
    Whole(&'t mut V, usize),
    /// The line matches so far, but has a scalar that needs the strict reader.
    Unusual,
    /// The line does not match, or is not JSON.
    Other,
}

/// The constant bytes of a line, what its scalars are read into, and its value.
#[derive(Debug)]
pub(super) struct Entry<S, V> {
    /// Bytes before each scalar, and what it is read into.
    pub(super) before: Vec<(Box<[u8]>, S)>,
    /// Bytes after the last scalar.
    pub(super) tail: Box<[u8]>,
    pub(super) value: V,
}

impl<S, V> Entry<S, V> {
    /// Builds an entry from `line` by cutting out scalars given by start and end, including quotes.
    pub(super) fn cut(line: &str, scalars: impl IntoIterator<Item = ((usize, usize), S)>, value: V) -> Entry<S, V> {
        let (bytes, mut from) = (line.as_bytes(), 0);
        let before = scalars
            .into_iter()
            .map(|((start, end), step)| (bytes[std::mem::replace(&mut from, end)..start].into(), step));
        let before = before.collect();
        Entry { before, tail: bytes[from..].into(), value }
    }
}

impl<S, V> Default for Trie<S, V> {
    fn default() -> Self {
        Trie { root: Next::default(), count: 0 }
    }
}

impl<S, V> Default for Next<S, V> {
    fn default() -> Self {
        Next { nodes: Vec::new(), ends: Vec::new(), later: 0 }
    }
}

impl<S: Step, V> Trie<S, V> {
    /// Removes all values.
    pub(super) fn clear(&mut self) {
        *self = Trie::default();
    }

    /// Adds a value unless the same bytes already have one, or a scalar in the same place is read into something else.
    pub(super) fn add(&mut self, Entry { before, tail, value }: Entry<S, V>) {
        if self.count >= MOST {
            self.clear();
        }
        let mut here = &mut self.root;
        for (before, step) in before {
            let place = here.nodes.iter().position(|node| node.before == before).unwrap_or_else(|| {
                let shorter = here.nodes.iter().position(|node| before.starts_with(&node.before));
                let place = shorter.unwrap_or(here.nodes.len());
                here.nodes.insert(place, Node { before, step, next: Next::default() });
                place
            });
            let node = &mut here.nodes[place];
            if node.step != step {
                return;
            }
            here = &mut node.next;
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

    /// Finds the value of the first line of `text` and reads its scalars, in order.
    #[inline(never)] // As a function of its own, its loop gets all registers, which saves more than the call costs.
    pub(super) fn fit<'l>(&mut self, text: &'l str, values: &mut S::Values<'l>) -> Fit<'_, V> {
        let (mut here, mut at) = (&mut self.root, 0);
        loop {
            let Some(rest) = text.as_bytes().get(at..) else { return Fit::Other };
            if !here.ends.is_empty()
                && let Some(nth) = here.ends.iter().position(|(end, _)| ends_with(rest, end))
            {
                let (end, value) = &mut here.ends[nth];
                return Fit::Whole(value, at + end.len());
            }
            let rank = match here.nodes.first() {
                Some(node) if scan::starts_with(rest, &node.before) => 0,
                _ => match here.later(rest) {
                    Some(rank) => rank,
                    None => return Fit::Other,
                },
            };
            let node = &mut here.nodes[rank];
            let start = at + node.before.len();
            let Some(end) = node.step.read(text, start, values) else {
                let is_scalar = text.as_bytes().get(start).is_some_and(scan::begins_scalar);
                return if is_scalar { Fit::Unusual } else { Fit::Other };
            };
            at = end;
            here = &mut node.next;
        }
    }
}

impl<S, V> Next<S, V> {
    fn each(&mut self, visit: &mut impl FnMut(&mut V)) {
        self.ends.iter_mut().for_each(|(_, value)| visit(value));
        self.nodes.iter_mut().for_each(|node| node.next.each(visit));
    }

    /// Finds the node beyond the first that `rest` continues with, and now and then moves it one rank up. Returns its
    /// rank.
    #[inline(never)] // Rarely called.
    fn later(&mut self, rest: &[u8]) -> Option<usize> {
        let rank = (1..self.nodes.len()).find(|rank| scan::starts_with(rest, &self.nodes[*rank].before))?;
        self.later = self.later.wrapping_add(1);
        if !self.later.is_multiple_of(RANKING) || self.nodes[rank - 1].before.starts_with(&self.nodes[rank].before) {
            return Some(rank);
        }
        self.nodes.swap(rank, rank - 1);
        Some(rank - 1)
    }
}

/// Whether `rest` has only `end` before the end of its first line.
#[inline]
fn ends_with(rest: &[u8], end: &[u8]) -> bool {
    scan::starts_with(rest, end) && matches!(&rest[end.len()..], [] | [b'\n', ..] | [b'\r', b'\n', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(before: &[&str], tail: &str, value: usize) -> Entry<Collect, usize> {
        let before = before.iter().map(|text| (text.as_bytes().into(), Collect)).collect();
        Entry { before, tail: tail.as_bytes().into(), value }
    }

    fn fit(trie: &mut Trie<Collect, usize>, line: &str) -> (Option<usize>, Vec<String>) {
        let mut scalars = Vec::new();
        let found = match trie.fit(line, &mut scalars) {
            Fit::Whole(number, _) => Some(*number),
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
            assert!(trie.count <= MOST && trie.root.nodes.len() <= MOST);
        }
        assert_eq!(fit(&mut trie, r#"{"k999":1}"#).0, Some(999));
    }
}
