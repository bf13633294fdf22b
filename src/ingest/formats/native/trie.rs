//! Lines by their constant bytes, as a trie: those that begin alike are told apart only where they differ.

use crate::ingest::record::scan;

/// Values kept. Beyond them all are forgotten, and learning begins anew.
const MOST: usize = 64;

/// Where a scalar begins and ends, quotes excluded.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScalarSpan {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: scan::Kind,
}

impl ScalarSpan {
    /// Where it begins and ends, quotes included.
    pub(super) fn with_quotes(self) -> (usize, usize) {
        let quote = usize::from(self.kind == scan::Kind::Text);
        (self.start as usize - quote, self.end as usize + quote)
    }
}

/// A value for each sequence of constant bytes and scalars.
#[derive(Debug)]
pub(super) struct Trie<V> {
    /// The beginning of every line.
    root: Node<V>,
    /// How many values there are.
    count: usize,
}

/// A scalar, and what may follow it.
#[derive(Debug)]
struct Node<V> {
    /// The constant bytes before it.
    before: Box<[u8]>,
    /// Scalars that came next, those that come most often in front.
    next: Vec<Node<V>>,
    /// How lines end after it, and their values.
    ends: Vec<(Box<[u8]>, V)>,
}

/// How a line fits.
pub(super) enum Fit<'t, V> {
    /// This is its value.
    Whole(&'t mut V),
    /// It fits so far, but a scalar needs a closer look.
    Unusual,
    /// It does not fit, or is no JSON.
    Other,
}

/// The constant bytes of a line, and its value.
#[derive(Debug)]
pub(super) struct Entry<V> {
    /// What stands before each scalar.
    pub(super) before: Vec<Box<[u8]>>,
    /// What stands after the last one.
    pub(super) tail: Box<[u8]>,
    pub(super) value: V,
}

impl<V> Entry<V> {
    /// Cuts scalars that begin and end at these bytes, quotes included, out of `line`.
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
    /// Forgets all values.
    pub(super) fn clear(&mut self) {
        *self = Trie::default();
    }

    /// Adds a value, unless there is one for the same bytes.
    pub(super) fn add(&mut self, Entry { before, tail, value }: Entry<V>) {
        if self.count >= MOST {
            self.clear();
        }
        let mut here = &mut self.root;
        for before in before {
            let place = here.next.iter().position(|node| node.before == before).unwrap_or_else(|| {
                here.next.push(Node::new(before));
                here.next.len() - 1
            });
            here = &mut here.next[place];
        }
        if !here.ends.iter().any(|(end, _)| *end == tail) {
            here.ends.push((tail, value));
            self.count += 1;
        }
    }

    /// Hands every value to `visit`.
    pub(super) fn each(&mut self, visit: &mut impl FnMut(&mut V)) {
        self.root.each(visit);
    }

    /// Finds the value of `line`, and its scalars in order.
    #[inline(never)] // By itself its loop has all registers, which saves more than a call costs.
    pub(super) fn fit(&mut self, line: &[u8], scalars: &mut Vec<ScalarSpan>) -> Fit<'_, V> {
        scalars.clear();
        let (mut here, mut at) = (&mut self.root, 0);
        loop {
            match here.step(line, at) {
                Step::On(rank, (kind, start, end, next)) => {
                    scalars.push(ScalarSpan { start: start as u32, end: end as u32, kind });
                    at = next;
                    if rank > 0 {
                        here.next.swap(rank, rank - 1);
                    }
                    here = &mut here.next[rank.saturating_sub(1)];
                }
                Step::Unusual => return Fit::Unusual,
                Step::Over => break,
            }
        }
        let rest = &line[at..];
        let end = here.ends.iter_mut().find(|(end, _)| scan::same(end, rest));
        end.map_or(Fit::Other, |(_, value)| Fit::Whole(value))
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

    #[inline]
    fn step(&self, line: &[u8], at: usize) -> Step {
        let rest = line.get(at..).unwrap_or_default();
        for (rank, node) in self.next.iter().enumerate() {
            if !scan::starts_with(rest, &node.before) {
                continue;
            }
            let begin = at + node.before.len();
            if let Some(scalar) = scan::scalar(line, begin) {
                return Step::On(rank, scalar);
            }
            // Else another constant goes on from here: a list, an object, a blank.
            if line.get(begin).is_some_and(|byte| matches!(byte, b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')) {
                return Step::Unusual;
            }
        }
        Step::Over
    }
}

/// Where a line goes on.
enum Step {
    /// With the scalar of this rank among the next ones.
    On(usize, (scan::Kind, usize, usize, usize)),
    /// With a scalar that needs a closer look.
    Unusual,
    /// With nothing that is known, or not at all.
    Over,
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
        (found, scalars.iter().map(|it| line[it.start as usize..it.end as usize].to_owned()).collect())
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
