//! What formats have in common whose records are JSON objects of one program: their members, read when asked for.

use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::record::scalar::Scalar;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// The members of a JSON object, each with the text of its value.
#[derive(Clone, Debug, Default)]
pub(super) struct Members<'t>(Vec<(Cow<'t, str>, &'t str)>);

impl<'t> Members<'t> {
    /// Of a text that is one object.
    pub(super) fn of(text: &'t str) -> Result<Members<'t>, Fault> {
        let mut reader = Reader::new(text);
        let mut members = Vec::new();
        reader.object(|reader, key| {
            reader.peek();
            let start = reader.offset();
            reader.skip()?;
            members.push((key, &text[start..reader.offset()]));
            Ok(())
        })?;
        reader.end()?;
        Ok(Members(members))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'t str)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// The JSON of a member that is not null. Of several of one name, the last counts.
    pub(super) fn json(&self, key: &str) -> Option<&'t str> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| *value).filter(|value| *value != "null")
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.json(key).is_some()
    }

    pub(super) fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// A member without structure; null where there is none, or where it is one of the signs for nothing.
    pub(super) fn scalar(&self, key: &str) -> Scalar<'t> {
        let value = self.json(key).and_then(|value| Reader::new(value).scalar().ok());
        match value {
            Some(Scalar::Text(text)) if matches!(text.trim(), "" | "-") => Scalar::Null,
            value => value.unwrap_or(Scalar::Null),
        }
    }

    /// The first of `keys` that says something.
    pub(super) fn first(&self, keys: &[&str]) -> Scalar<'t> {
        let said = keys.iter().map(|key| self.scalar(key)).find(|value| !matches!(value, Scalar::Null | Scalar::Other));
        said.unwrap_or(Scalar::Null)
    }

    pub(super) fn words(&self, key: &str) -> Option<Cow<'t, str>> {
        self.scalar(key).into_text()
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.scalar(key).number()
    }

    pub(super) fn integer(&self, key: &str) -> Option<i64> {
        self.scalar(key).integer()
    }

    /// An object; one without members where there is none.
    pub(super) fn object(&self, key: &str) -> Members<'t> {
        self.json(key).and_then(|value| Members::of(value).ok()).unwrap_or_default()
    }

    /// The JSON of an object, also of one that was written into a string.
    pub(super) fn object_text(&self, key: &str) -> Cow<'t, str> {
        match self.json(key) {
            Some(json) if json.starts_with('{') => Cow::Borrowed(json),
            _ => self.words(key).unwrap_or_default(),
        }
    }

    /// The objects of a list.
    pub(super) fn objects(&self, key: &str) -> Vec<Members<'t>> {
        let mut objects = Vec::new();
        let Some(list) = self.json(key) else { return objects };
        let _ = Reader::new(list).list(|reader| {
            reader.peek();
            let start = reader.offset();
            reader.skip()?;
            objects.extend(Members::of(&list[start..reader.offset()]).ok());
            Ok(())
        });
        objects
    }

    /// Puts each of these members into the field beside its name.
    pub(super) fn put(&self, record: &mut Record<'t>, fields: &[(&str, Field)]) {
        for (key, field) in fields {
            record.put(*field, self.scalar(key));
        }
    }
}

/// Sure where at least half of the objects of an input fit. `mark` stands in the text of every object that does: what
/// lacks it is not parsed.
pub(super) fn told_by_members(head: &Head<'_>, mark: &str, fits: fn(&Members<'_>) -> bool) -> Match {
    if !head.text().contains(mark) {
        return Match::No;
    }
    let (mut fit, mut all) = (0, 0);
    for members in head.lines().filter_map(|line| Members::of(line).ok()) {
        all += 1;
        fit += usize::from(fits(&members));
    }
    if fit > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
}

/// Reads one object, whose text and place are given, and tells the sink what it is.
pub(super) type Take = fn(&Members<'_>, &mut Sink<'_>, &str, Position<'_>);

/// Reads lines that are objects by one function.
pub(super) struct ObjectDecoder(pub(super) Take);

impl Decoder for ObjectDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let line = line.trim_start_matches('\u{feff}');
            match Members::of(line) {
                Ok(members) => (self.0)(&members, sink, line, at),
                Err(_) if !line.starts_with('{') => sink.noise(),
                Err(fault) => sink.reject(fault.what, fault.at as u64 + 1, line, at),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn members_are_read_when_asked_for() {
        let members = Members::of(r#"{"a": 1, "b": {"c": "x"}, "d": [{"e": 2}, 3], "a": "-", "n": null}"#).unwrap();
        assert_eq!(members.json("a"), Some(r#""-""#));
        assert_eq!(members.scalar("a"), Scalar::Null);
        assert_eq!(members.object("b").words("c").as_deref(), Some("x"));
        assert_eq!(members.objects("d")[0].integer("e"), Some(2));
        assert!(members.has_all(&["a", "b"]) && !members.has("n") && members.object("x").is_empty());
        assert!(Members::of("{} {}").is_err() && Members::of("words").is_err());
    }
}
