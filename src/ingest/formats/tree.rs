//! JSON as a tree, for formats whose records are spread over nested objects.
//!
//! [`Members`](crate::ingest::record::Members) is the alternative, for formats whose records are one object of flat
//! members. It keeps the text of each member, which these formats pass to the readers of headers and of error bodies,
//! and decodes a member each time it is asked for. A tree decodes each scalar once, for records whose parts are visited
//! several times. Both are built on the same JSON parser, [`Reader`].

use crate::ingest::block::Block;
use crate::ingest::position::Position;
use crate::ingest::record::Scalar;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::sink::Sink;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Maximum nesting depth; deeper values are skipped.
const MAX_DEPTH: u8 = 48;
/// Initial capacity: number of members of a typical top-level object.
const TYPICAL_MEMBERS: usize = 16;

/// A JSON value.
#[derive(Clone, Debug)]
pub(super) enum Json<'t> {
    Scalar(Scalar<'t>),
    List(Nested<'t, Json<'t>>),
    /// Members in order.
    Object(Nested<'t, Member<'t>>),
}

/// When the contents of nested objects and lists are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsing {
    /// At once, for records of which nearly everything is used.
    Eager,
    /// On first access, for records that consist mostly of prompts and responses, which are not used.
    Lazy,
}

/// A member of an object.
type Member<'t> = (Cow<'t, str>, Json<'t>);

/// Text of an object or a list, and its contents once parsed.
#[derive(Clone, Debug)]
pub(super) struct Nested<'t, T> {
    text: &'t str,
    /// Nesting depth, counting itself.
    depth: u8,
    contents: OnceCell<Vec<T>>,
}

impl<'t> Json<'t> {
    /// Parses a text that is a single value.
    pub(super) fn parse(text: &'t str, parsing: Parsing) -> Result<Json<'t>, Fault> {
        let mut reader = Reader::new(text);
        let value = read(&mut reader, text, 0, parsing)?;
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

    /// Returns the members of an object; none of any other value.
    pub(super) fn members(&self) -> &[Member<'t>] {
        let Json::Object(Nested { text, depth, contents }) = self else { return &[] };
        contents.get_or_init(|| read_members(&mut Reader::new(text), text, *depth, Parsing::Lazy).unwrap_or_default())
    }

    /// Returns the items of a list; none of any other value.
    pub(super) fn items(&self) -> &[Json<'t>] {
        let Json::List(Nested { text, depth, contents }) = self else { return &[] };
        contents.get_or_init(|| read_items(&mut Reader::new(text), text, *depth, Parsing::Lazy).unwrap_or_default())
    }

    /// Returns a string that is not empty.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Scalar(Scalar::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns a scalar as text, numbers and Booleans formatted. A list yields its first item.
    pub(super) fn scalar_text(&self) -> Option<String> {
        match self {
            Json::Scalar(Scalar::Bool(truth)) => Some(truth.to_string()),
            Json::Scalar(scalar) => scalar.clone().into_text().map(Cow::into_owned).filter(|text| !text.is_empty()),
            Json::List(_) => self.items().first()?.scalar_text(),
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

    /// Returns a member's scalar, as [`Json::scalar_text`] does.
    pub(super) fn scalar_text_of(&self, key: &str) -> Option<String> {
        self.get(key)?.scalar_text()
    }
}

/// Calls `take` with every line that is JSON. `take` returns whether the line contains an attempt. An incomplete object
/// is rejected, and any other line counts as noise.
pub(super) fn each_value(
    block: &Block<'_>,
    sink: &mut Sink<'_>,
    parsing: Parsing,
    mut take: impl FnMut(&mut Sink<'_>, &Json<'_>, Position<'_>) -> bool,
) {
    block.each_line(sink, |sink, line, at| match Json::parse(line.trim_start_matches('\u{feff}'), parsing) {
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
fn read<'t>(reader: &mut Reader<'t>, text: &'t str, depth: u8, parsing: Parsing) -> Result<Json<'t>, Fault> {
    let first = reader.peek();
    let (start, depth) = (reader.offset(), depth + 1);
    // The contents of the outermost object are always used.
    let is_parsed = depth == 1 || parsing == Parsing::Eager;
    match first {
        Some(b'{' | b'[') if depth > MAX_DEPTH => reader.skip().map(|()| Json::Scalar(Scalar::Other)),
        Some(b'{') => {
            let members = if is_parsed { read_members(reader, text, depth, parsing)?.into() } else { OnceCell::new() };
            Ok(Json::Object(nested(reader, text, start, depth, members)?))
        }
        Some(b'[') => {
            let items = if is_parsed { read_items(reader, text, depth, parsing)?.into() } else { OnceCell::new() };
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
    contents: OnceCell<Vec<T>>,
) -> Result<Nested<'t, T>, Fault> {
    if contents.get().is_none() {
        reader.skip()?;
    }
    Ok(Nested { text: &text[start..reader.offset()], depth, contents })
}

fn read_members<'t>(
    reader: &mut Reader<'t>,
    text: &'t str,
    depth: u8,
    parsing: Parsing,
) -> Result<Vec<Member<'t>>, Fault> {
    let mut members = Vec::with_capacity(if depth == 1 { TYPICAL_MEMBERS } else { 0 });
    reader.object(|reader, key| {
        members.push((key, read(reader, text, depth, parsing)?));
        Ok(())
    })?;
    Ok(members)
}

fn read_items<'t>(reader: &mut Reader<'t>, text: &'t str, depth: u8, parsing: Parsing) -> Result<Vec<Json<'t>>, Fault> {
    let mut items = Vec::new();
    reader.list(|reader| {
        items.push(read(reader, text, depth, parsing)?);
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
        for parsing in [Parsing::Eager, Parsing::Lazy] {
            let json = Json::parse(r#"{"a":{"b":[1, {"c": "x"} ],"d":{}},"n":"7","n":8}"#, parsing).unwrap();
            let items = json.at(&["a", "b"]).unwrap().items();
            assert_eq!((items[0].integer(), items[1].raw()), (Some(1), Some(r#"{"c": "x"}"#)));
            assert_eq!((json.get("n").unwrap().integer(), json.at(&["a", "d"]).unwrap().raw()), (Some(8), None));
            let deep = Json::parse(&("[".repeat(500) + &"]".repeat(500)), parsing).map(|json| depth_of(&json));
            assert_eq!(deep, Ok(MAX_DEPTH));
            assert_eq!(Json::parse(r#"{"a":"#, parsing).unwrap_err().what, "cut off before a value");
            assert!(Json::parse(r#"{"a":{"b":[}]}"#, parsing).is_err());
        }
    }
}
