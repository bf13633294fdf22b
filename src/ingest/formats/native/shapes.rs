//! The shapes of a log, as a tree: lines that begin alike are told apart only where they differ.

use super::located::{NOTHING, Scalar};
use crate::ingest::record::scan;

/// Shapes kept in mind. Beyond them all are forgotten, and learning begins anew.
const MOST: usize = 64;

/// Shapes that were learnt, each with what is to be known of it.
#[derive(Debug)]
pub(super) struct Shapes<L> {
    /// The beginning of every line.
    root: Node<L>,
    /// How many there are.
    count: usize,
}

/// A scalar, and what may follow it.
#[derive(Debug)]
struct Node<L> {
    /// The constant bytes before it.
    before: Box<[u8]>,
    /// Scalars that came next, those that come most often in front.
    next: Vec<Node<L>>,
    /// How lines end after it, and what they are.
    ends: Vec<(Box<[u8]>, L)>,
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
        Shapes { root: Node::new(Box::default()), count: 0 }
    }
}

impl<L> Shapes<L> {
    /// Forgets them all.
    pub(super) fn clear(&mut self) {
        *self = Shapes::default();
    }

    /// Adds the shape with these constant bytes before its scalars, and `tail` after the last.
    pub(super) fn add(&mut self, before: impl Iterator<Item = Box<[u8]>>, tail: Box<[u8]>, known: L) {
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
            here.ends.push((tail, known));
            self.count += 1;
        }
    }

    /// Tells `hear` what is known of every shape.
    pub(super) fn each(&mut self, hear: &mut impl FnMut(&mut L)) {
        self.root.each(hear);
    }

    /// Finds the shape of `line`, and its scalars: in order, after [`NOTHING`].
    #[inline]
    pub(super) fn fit(&mut self, line: &[u8], scalars: &mut Vec<Scalar>) -> Fit<'_, L> {
        scalars.clear();
        scalars.push(NOTHING);
        let (mut here, mut at) = (&mut self.root, 0);
        loop {
            match here.step(line, at) {
                Step::On(mut rank, (kind, start, end, next)) => {
                    scalars.push(Scalar { start: start as u32, end: end as u32, kind });
                    at = next;
                    if rank > 0 {
                        here.next.swap(rank, rank - 1);
                        rank -= 1;
                    }
                    here = &mut here.next[rank];
                }
                Step::Unusual => return Fit::Unusual,
                Step::Over => break,
            }
        }
        let rest = &line[at..];
        let end = here.ends.iter_mut().find(|(end, _)| scan::same(end, rest));
        end.map_or(Fit::Other, |(_, known)| Fit::Whole(known))
    }
}

impl<L> Node<L> {
    fn new(before: Box<[u8]>) -> Node<L> {
        Node { before, next: Vec::new(), ends: Vec::new() }
    }

    fn each(&mut self, hear: &mut impl FnMut(&mut L)) {
        self.ends.iter_mut().for_each(|(_, known)| hear(known));
        self.next.iter_mut().for_each(|node| node.each(hear));
    }

    #[inline]
    fn step(&self, line: &[u8], at: usize) -> Step {
        for (rank, node) in self.next.iter().enumerate() {
            if !scan::starts_with(line, at, &node.before) {
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
            assert!(shapes.count <= MOST && shapes.root.next.len() <= MOST);
        }
        assert_eq!(fit(&mut shapes, r#"{"k999":1}"#).0, Some(999));
    }
}
