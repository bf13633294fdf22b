//! JSON as a tree, for formats whose records are spread over nested objects.
//!
//! Beside it stands [`Members`](crate::ingest::record::Members), for formats whose records are one object of flat members
//! and which hand the text of a member on: to the readers of headers and of error bodies, which find what they know at any
//! depth. `Members` keeps that text and decodes a member each time it is asked for; a tree decodes each scalar once and
//! keeps what it has opened, for records whose parts are visited several times. One in place of the other would read more
//! than once what these records ask for repeatedly, or decode what those only hand on. Both are built on one reader
//! ([`Reader`]), which alone knows the grammar.

use crate::ingest::block::Block;
use crate::ingest::position::Position;
use crate::ingest::record::Scalar;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::sink::Sink;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Maximum nesting; deeper values are skipped.
const DEEPEST: u8 = 48;
/// Initial capacity: number of members of a typical top-level object.
const USUAL: usize = 16;

/// A value with everything in it.
#[derive(Clone, Debug)]
pub(super) enum Json<'t> {
    Scalar(Scalar<'t>),
    List(Nested<'t, Json<'t>>),
    /// Members in order.
    Object(Nested<'t, Member<'t>>),
}

/// When the contents of objects and lists are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// At once: all of it will be used.
    Now,
    /// On first access: most of it is answers and prompts, which are skipped.
    WhenAsked,
}

/// A member of an object.
type Member<'t> = (Cow<'t, str>, Json<'t>);

/// Text of an object or a list, and its contents once parsed.
#[derive(Clone, Debug)]
pub(super) struct Nested<'t, T> {
    text: &'t str,
    /// Nesting depth, counting itself.
    depth: u8,
    inside: OnceCell<Vec<T>>,
}

impl<'t> Json<'t> {
    /// Parses a text that is a single value.
    pub(super) fn parse(text: &'t str, inside: Inside) -> Result<Json<'t>, Fault> {
        let mut reader = Reader::new(text);
        let value = read(&mut reader, text, 0, inside)?;
        reader.end()?;
        Ok(value)
    }

    /// Returns a member; the last, if several have the name.
    pub(super) fn get(&self, key: &str) -> Option<&Json<'t>> {
        self.members().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value at a path of nested members.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Json<'t>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub(super) fn members(&self) -> &[Member<'t>] {
        let Json::Object(Nested { text, depth, inside }) = self else { return &[] };
        inside.get_or_init(|| read_members(&mut Reader::new(text), text, *depth, Inside::WhenAsked).unwrap_or_default())
    }

    pub(super) fn items(&self) -> &[Json<'t>] {
        let Json::List(Nested { text, depth, inside }) = self else { return &[] };
        inside.get_or_init(|| read_items(&mut Reader::new(text), text, *depth, Inside::WhenAsked).unwrap_or_default())
    }

    /// Returns a string that is not empty.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Scalar(Scalar::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns a scalar as text: a number by its digits. A list yields its first item.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Json::Scalar(Scalar::Bool(truth)) => Some(truth.to_string()),
            Json::Scalar(scalar) => scalar.clone().into_text().map(Cow::into_owned).filter(|text| !text.is_empty()),
            Json::List(_) => self.items().first()?.words(),
            Json::Object(_) => None,
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        if let Json::Scalar(scalar) = self { scalar.integer() } else { None }
    }

    pub(super) fn truth(&self) -> Option<bool> {
        if let Json::Scalar(scalar) = self { scalar.truth() } else { None }
    }

    /// Returns the text of an object that has members.
    pub(super) fn raw(&self) -> Option<&'t str> {
        match self {
            Json::Object(nested) if !self.members().is_empty() => Some(nested.text),
            _ => None,
        }
    }

    /// Returns a member's text, as [`Json::text`] does.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Returns a member's scalar, as [`Json::words`] does.
    pub(super) fn words_of(&self, key: &str) -> Option<String> {
        self.get(key)?.words()
    }
}

/// Calls `take` with every line that is JSON; `take` returns `false` if the line contains no attempt. An incomplete
/// object is rejected, any other line is noise.
pub(super) fn each_value(
    block: &Block<'_>,
    sink: &mut Sink<'_>,
    inside: Inside,
    mut take: impl FnMut(&mut Sink<'_>, &Json<'_>, Position<'_>) -> bool,
) {
    block.each_line(sink, |sink, line, at| match Json::parse(line.trim_start_matches('\u{feff}'), inside) {
        Ok(json) => {
            if !take(sink, &json, at) {
                sink.noise();
            }
        }
        Err(fault) if line.starts_with('{') => sink.reject(fault.what, fault.at as u64 + 1, line, at),
        Err(_) => sink.noise(),
    });
}

/// Reads a value nested in `depth` objects and lists of `text`.
fn read<'t>(reader: &mut Reader<'t>, text: &'t str, depth: u8, inside: Inside) -> Result<Json<'t>, Fault> {
    let first = reader.peek();
    let (start, depth) = (reader.offset(), depth + 1);
    // Every format uses the contents of the outermost object.
    let is_read = depth == 1 || inside == Inside::Now;
    match first {
        Some(b'{' | b'[') if depth > DEEPEST => reader.skip().map(|()| Json::Scalar(Scalar::Other)),
        Some(b'{') => {
            let members = if is_read { read_members(reader, text, depth, inside)?.into() } else { OnceCell::new() };
            Ok(Json::Object(nested(reader, text, start, depth, members)?))
        }
        Some(b'[') => {
            let items = if is_read { read_items(reader, text, depth, inside)?.into() } else { OnceCell::new() };
            Ok(Json::List(nested(reader, text, start, depth, items)?))
        }
        _ => reader.scalar().map(Json::Scalar),
    }
}

/// Returns the value that begins at `start` of `text`, skipping it if its contents were not parsed.
fn nested<'t, T>(
    reader: &mut Reader<'t>,
    text: &'t str,
    start: usize,
    depth: u8,
    inside: OnceCell<Vec<T>>,
) -> Result<Nested<'t, T>, Fault> {
    if inside.get().is_none() {
        reader.skip()?;
    }
    Ok(Nested { text: &text[start..reader.offset()], depth, inside })
}

fn read_members<'t>(
    reader: &mut Reader<'t>,
    text: &'t str,
    depth: u8,
    inside: Inside,
) -> Result<Vec<Member<'t>>, Fault> {
    let mut members = Vec::with_capacity(if depth == 1 { USUAL } else { 0 });
    reader.object(|reader, key| {
        members.push((key, read(reader, text, depth, inside)?));
        Ok(())
    })?;
    Ok(members)
}

fn read_items<'t>(reader: &mut Reader<'t>, text: &'t str, depth: u8, inside: Inside) -> Result<Vec<Json<'t>>, Fault> {
    let mut items = Vec::new();
    reader.list(|reader| {
        items.push(read(reader, text, depth, inside)?);
        Ok(())
    })?;
    Ok(items)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns the nesting depth of lists, following the first item of each.
    fn depth_of(json: &Json<'_>) -> u8 {
        u8::from(matches!(json, Json::List(_))) + json.items().first().map_or(0, depth_of)
    }

    #[test]
    fn a_tree_keeps_the_text_of_its_objects() {
        for inside in [Inside::Now, Inside::WhenAsked] {
            let json = Json::parse(r#"{"a":{"b":[1, {"c": "x"} ],"d":{}},"n":"7","n":8}"#, inside).unwrap();
            let items = json.at(&["a", "b"]).unwrap().items();
            assert_eq!((items[0].integer(), items[1].raw()), (Some(1), Some(r#"{"c": "x"}"#)));
            assert_eq!((json.get("n").unwrap().integer(), json.at(&["a", "d"]).unwrap().raw()), (Some(8), None));
            let deep = Json::parse(&("[".repeat(500) + &"]".repeat(500)), inside).map(|json| depth_of(&json));
            assert_eq!(deep, Ok(DEEPEST));
            assert_eq!(Json::parse(r#"{"a":"#, inside).unwrap_err().what, "cut off before a value");
            assert!(Json::parse(r#"{"a":{"b":[}]}"#, inside).is_err());
        }
    }
}
