//! JSON as a tree, for formats whose records are spread over nested objects. What is in an object or a list is read when
//! it is first asked for: most of what lines hold are answers and prompts.

use crate::ingest::block::Block;
use crate::ingest::position::Position;
use crate::ingest::record::Scalar;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::sink::Sink;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Nesting that is followed; what lies deeper is passed over.
const DEEPEST: u8 = 48;
/// Members of most objects.
const USUAL: usize = 16;

/// A value, and all that is in it.
#[derive(Clone, Debug)]
pub(super) enum Json<'t> {
    Scalar(Scalar<'t>),
    List(Nested<'t, Json<'t>>),
    /// Its members in order.
    Object(Nested<'t, Member<'t>>),
}

/// A member of an object.
type Member<'t> = (Cow<'t, str>, Json<'t>);

/// The text of an object or a list, and what is in it, once that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Nested<'t, T> {
    text: &'t str,
    /// How many objects and lists it stands in, itself included.
    depth: u8,
    inside: OnceCell<Vec<T>>,
}

impl<'t> Json<'t> {
    /// The one value a text is.
    pub(super) fn parse(text: &'t str) -> Result<Json<'t>, Fault> {
        let mut reader = Reader::new(text);
        // What is in the outermost object is asked for by every format, and need not be passed over first.
        let value = match reader.peek() {
            Some(b'{') => {
                let start = reader.offset();
                let members = read_members(&mut reader, text, 1)?;
                Json::Object(Nested { text: &text[start..reader.offset()], depth: 1, inside: members.into() })
            }
            _ => read(&mut reader, text, 0)?,
        };
        reader.end()?;
        Ok(value)
    }

    /// A member; of several that have the name, the last.
    pub(super) fn get(&self, key: &str) -> Option<&Json<'t>> {
        self.members().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A member of a member.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Json<'t>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub(super) fn members(&self) -> &[Member<'t>] {
        let Json::Object(Nested { text, depth, inside }) = self else { return &[] };
        inside.get_or_init(|| read_members(&mut Reader::new(text), text, *depth).unwrap_or_default())
    }

    pub(super) fn items(&self) -> &[Json<'t>] {
        let Json::List(Nested { text, depth, inside }) = self else { return &[] };
        inside.get_or_init(|| read_items(&mut Reader::new(text), text, *depth).unwrap_or_default())
    }

    /// Words that are not empty.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Scalar(Scalar::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A value without structure as words: numbers by their digits. Of a list, the first member's.
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

    /// The text of an object that has members.
    pub(super) fn raw(&self) -> Option<&'t str> {
        match self {
            Json::Object(nested) if !self.members().is_empty() => Some(nested.text),
            _ => None,
        }
    }

    /// A member's words.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// A member's value as words.
    pub(super) fn words_of(&self, key: &str) -> Option<String> {
        self.get(key)?.words()
    }
}

/// Hands on every line that is JSON, to `take`, which says whether it told the sink something. An object that breaks off
/// is rejected, other words are noise.
pub(super) fn each_value(
    block: &Block<'_>,
    sink: &mut Sink<'_>,
    mut take: impl FnMut(&mut Sink<'_>, &Json<'_>, Position<'_>) -> bool,
) {
    block.each_line(sink, |sink, line, at| match Json::parse(line.trim_start_matches('\u{feff}')) {
        Ok(json) => {
            if !take(sink, &json, at) {
                sink.noise();
            }
        }
        Err(fault) if line.starts_with('{') => sink.reject(fault.what, fault.at as u64 + 1, line, at),
        Err(_) => sink.noise(),
    });
}

/// Reads a value that stands in `depth` objects and lists of `text`, and passes over what is in it.
fn read<'t>(reader: &mut Reader<'t>, text: &'t str, depth: u8) -> Result<Json<'t>, Fault> {
    let first = reader.peek();
    if !matches!(first, Some(b'{' | b'[')) {
        return reader.scalar().map(Json::Scalar);
    }
    let start = reader.offset();
    reader.skip()?;
    let (text, depth) = (&text[start..reader.offset()], depth + 1);
    Ok(match first {
        _ if depth > DEEPEST => Json::Scalar(Scalar::Other),
        Some(b'{') => Json::Object(Nested { text, depth, inside: OnceCell::new() }),
        _ => Json::List(Nested { text, depth, inside: OnceCell::new() }),
    })
}

fn read_members<'t>(reader: &mut Reader<'t>, text: &'t str, depth: u8) -> Result<Vec<Member<'t>>, Fault> {
    let mut members = Vec::with_capacity(USUAL);
    reader.object(|reader, key| {
        members.push((key, read(reader, text, depth)?));
        Ok(())
    })?;
    Ok(members)
}

fn read_items<'t>(reader: &mut Reader<'t>, text: &'t str, depth: u8) -> Result<Vec<Json<'t>>, Fault> {
    let mut items = Vec::new();
    reader.list(|reader| {
        items.push(read(reader, text, depth)?);
        Ok(())
    })?;
    Ok(items)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// How many lists are followed, each the first in the one before.
    fn depth_of(json: &Json<'_>) -> u8 {
        u8::from(matches!(json, Json::List(_))) + json.items().first().map_or(0, depth_of)
    }

    #[test]
    fn a_tree_keeps_the_text_of_its_objects() {
        let json = Json::parse(r#"{"a":{"b":[1,{"c":"x"}],"d":{}},"n":"7","n":8}"#).unwrap();
        assert_eq!(json.at(&["a", "b"]).unwrap().items()[1].raw(), Some(r#"{"c":"x"}"#));
        assert_eq!((json.get("n").unwrap().integer(), json.at(&["a", "d"]).unwrap().raw()), (Some(8), None));
        let deep = Json::parse(&("[".repeat(500) + &"]".repeat(500))).map(|json| depth_of(&json)).unwrap();
        assert_eq!(deep, DEEPEST);
        assert_eq!(Json::parse(r#"{"a":"#).unwrap_err().what, "cut off before a value");
    }
}
