//! JSON as a tree, for formats whose records are spread over nested objects.

use crate::ingest::block::Block;
use crate::ingest::position::Position;
use crate::ingest::record::Scalar;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Nesting that is followed; what lies deeper is passed over.
const DEEPEST: usize = 48;

/// A value, and all that is in it.
#[derive(Clone, Debug)]
pub(super) enum Json<'t> {
    Scalar(Scalar<'t>),
    List(Vec<Json<'t>>),
    /// Its text as it stands, and its members in order.
    Object(&'t str, Vec<(Cow<'t, str>, Json<'t>)>),
}

impl<'t> Json<'t> {
    /// The one value a text is.
    pub(super) fn parse(text: &'t str) -> Result<Json<'t>, Fault> {
        let mut reader = Reader::new(text);
        let value = read(&mut reader, text, 0)?;
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

    pub(super) fn members(&self) -> &[(Cow<'t, str>, Json<'t>)] {
        if let Json::Object(_, members) = self { members } else { &[] }
    }

    pub(super) fn items(&self) -> &[Json<'t>] {
        if let Json::List(items) = self { items } else { &[] }
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
            Json::List(items) => items.first()?.words(),
            Json::Object(..) => None,
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
            Json::Object(text, members) if !members.is_empty() => Some(text),
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

fn read<'t>(reader: &mut Reader<'t>, text: &'t str, depth: usize) -> Result<Json<'t>, Fault> {
    match reader.peek() {
        Some(b'{' | b'[') if depth >= DEEPEST => reader.skip().map(|()| Json::Scalar(Scalar::Other)),
        Some(b'{') => {
            let start = reader.offset();
            let mut members = Vec::new();
            reader.object(|reader, key| {
                members.push((key, read(reader, text, depth + 1)?));
                Ok(())
            })?;
            Ok(Json::Object(text.get(start..reader.offset()).unwrap_or_default(), members))
        }
        Some(b'[') => {
            let mut items = Vec::new();
            reader.list(|reader| {
                items.push(read(reader, text, depth + 1)?);
                Ok(())
            })?;
            Ok(Json::List(items))
        }
        _ => reader.scalar().map(Json::Scalar),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_tree_keeps_the_text_of_its_objects() {
        let json = Json::parse(r#"{"a":{"b":[1,{"c":"x"}],"d":{}},"n":"7","n":8}"#).unwrap();
        assert_eq!(json.at(&["a", "b"]).unwrap().items()[1].raw(), Some(r#"{"c":"x"}"#));
        assert_eq!((json.get("n").unwrap().integer(), json.at(&["a", "d"]).unwrap().raw()), (Some(8), None));
        let deep = "[".repeat(500) + &"]".repeat(500);
        assert!(Json::parse(&deep).is_ok());
        assert_eq!(Json::parse(r#"{"a":"#).unwrap_err().what, "cut off before a value");
    }
}
