//! The shapes of a log, as a tree: lines that begin alike are told apart only where they differ.

use super::scan;
use super::values::{NOTHING, Scalar};

/// Shapes kept in mind. Beyond them all are forgotten, and learning begins anew.
const MOST: usize = 64;

/// Shapes that were learnt, each with what is to be known of it.
#[derive(Debug)]
pub(super) struct Shapes<L> {
    /// The first is the beginning of every line.
    nodes: Vec<Node>,
    /// How lines end, and what they are.
    ends: Vec<(Box<[u8]>, L)>,
}

/// A scalar, and what may follow it.
#[derive(Debug, Default)]
struct Node {
    /// The constant bytes before it.
    before: Box<[u8]>,
    /// Scalars that came next, those that come most often in front.
    next: Vec<u32>,
    /// Ends of the line.
    ends: Vec<u32>,
}

/// How a line fits the shapes.
pub(super) enum Fit<'s, L> {
    /// It has one of them.
    Whole(&'s mut L),
    /// So far it has, but a value is not ordinary.
    Unusual,
    /// It has none of them, or is no JSON.
    Other,
}

impl<L> Default for Shapes<L> {
    fn default() -> Self {
        Shapes { nodes: vec![Node::default()], ends: Vec::new() }
    }
}

impl<L> Shapes<L> {
    /// Forgets them all.
    pub(super) fn clear(&mut self) {
        *self = Shapes::default();
    }

    /// Adds the shape with these constant bytes before its scalars, and `tail` after the last.
    pub(super) fn add(&mut self, before: impl Iterator<Item = Box<[u8]>>, tail: Box<[u8]>, known: L) {
        if self.ends.len() >= MOST {
            self.clear();
        }
        let mut here = 0;
        for before in before {
            let next = &self.nodes[here].next;
            let known = next.iter().map(|node| *node as usize).find(|node| self.nodes[*node].before == before);
            here = known.unwrap_or_else(|| {
                let new = self.nodes.len();
                self.nodes.push(Node { before, ..Node::default() });
                self.nodes[here].next.push(new as u32);
                new
            });
        }
        if !self.nodes[here].ends.iter().any(|end| self.ends[*end as usize].0 == tail) {
            self.nodes[here].ends.push(self.ends.len() as u32);
            self.ends.push((tail, known));
        }
    }

    /// What is known of every shape.
    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = &mut L> {
        self.ends.iter_mut().map(|(_, known)| known)
    }

    /// Finds the shape of `line`, and its scalars: in order, after [`NOTHING`].
    pub(super) fn fit(&mut self, line: &[u8], scalars: &mut Vec<Scalar>) -> Fit<'_, L> {
        scalars.clear();
        scalars.push(NOTHING);
        let (mut here, mut at) = (0, 0);
        loop {
            match self.step(here, line, at) {
                Step::On(rank, (kind, start, end, next)) => {
                    scalars.push(Scalar { start: start as u32, end: end as u32, kind });
                    at = next;
                    let list = &mut self.nodes[here].next;
                    here = list[rank] as usize;
                    if rank > 0 {
                        list.swap(rank, rank - 1);
                    }
                }
                Step::Unusual => return Fit::Unusual,
                Step::Over => break,
            }
        }
        let rest = &line[at..];
        let (ends, all) = (&self.nodes[here].ends, &mut self.ends);
        let end = ends.iter().find(|end| scan::same(&all[**end as usize].0, rest));
        end.map_or(Fit::Other, |end| Fit::Whole(&mut all[*end as usize].1))
    }

    #[inline]
    fn step(&self, here: usize, line: &[u8], at: usize) -> Step {
        for (rank, node) in self.nodes[here].next.iter().enumerate() {
            let before = &self.nodes[*node as usize].before;
            if !scan::starts_with(line, at, before) {
                continue;
            }
            let begin = at + before.len();
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
    /// With nothing that is known: at its end, or in another shape.
    Over,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(all: &[(&[&str], &str)]) -> Shapes<usize> {
        let mut shapes = Shapes::default();
        for (number, (before, tail)) in all.iter().enumerate() {
            shapes.add(before.iter().map(|text| text.as_bytes().into()), tail.as_bytes().into(), number);
        }
        shapes
    }

    fn fit(shapes: &mut Shapes<usize>, line: &str) -> (Option<usize>, Vec<String>) {
        let mut scalars = Vec::new();
        let found = match shapes.fit(line.as_bytes(), &mut scalars) {
            Fit::Whole(number) => Some(*number),
            Fit::Unusual => None,
            Fit::Other => Some(usize::MAX),
        };
        (found, scalars[1..].iter().map(|it| line[it.start as usize..it.end as usize].to_owned()).collect())
    }

    #[test]
    fn lines_that_begin_alike_are_told_apart_where_they_differ() {
        let mut shapes = shapes(&[
            (&["{\"a\":", ",\"b\":"], "}"),
            (&["{\"a\":", ",\"c\":"], "}"),
            (&["{\"a\":"], "}"),
            (&["{\"a\":[", ","], "]}"),
            (&["{\"a\": "], "}"),
        ]);
        for _ in 0..3 {
            assert_eq!(fit(&mut shapes, r#"{"a":1,"c":"x"}"#), (Some(1), vec!["1".into(), "x".into()]));
            assert_eq!(fit(&mut shapes, r#"{"a":1,"b":null}"#), (Some(0), vec!["1".into(), "null".into()]));
            assert_eq!(fit(&mut shapes, r#"{"a":1}"#), (Some(2), vec!["1".into()]));
            assert_eq!(fit(&mut shapes, r#"{"a":[1,2]}"#), (Some(3), vec!["1".into(), "2".into()]));
            assert_eq!(fit(&mut shapes, r#"{"a": 7}"#), (Some(4), vec!["7".into()]));
            assert_eq!(fit(&mut shapes, r#"{"a":1e5}"#).0, None);
            assert_eq!(fit(&mut shapes, r#"{"a":1,"d":1}"#).0, Some(usize::MAX));
            assert_eq!(fit(&mut shapes, "").0, Some(usize::MAX));
        }
    }

    #[test]
    fn too_many_shapes_are_forgotten() {
        let mut shapes = Shapes::default();
        for number in 0..1000 {
            shapes.add(std::iter::once(format!("{{\"k{number}\":").into_bytes().into()), (*b"}").into(), number);
            assert!(shapes.ends.len() <= MOST && shapes.nodes.len() <= MOST + 1);
        }
        assert_eq!(fit(&mut shapes, r#"{"k999":1}"#).0, Some(999));
    }
}
