//! Members of a JSON object, decoded on demand, for records that are one flat object. `formats/tree.rs` is the
//! alternative for nested records, and explains when to use which.

use super::fields::Field;
use super::json::{Fault, Reader};
use super::scalar::Scalar;
use super::typed::Record;
use std::borrow::Cow;

/// Members of a JSON object, each with the raw JSON of its value.
#[derive(Clone, Debug, Default)]
pub(in crate::ingest) struct Members<'t>(Vec<(Cow<'t, str>, &'t str)>);

/// Typical number of members of an object.
const TYPICAL_MEMBERS: usize = 16;

impl<'t> Members<'t> {
    /// Parses a text that is exactly one object.
    pub(in crate::ingest) fn of(text: &'t str) -> Result<Members<'t>, Fault> {
        let mut reader = Reader::new(text);
        let mut members = Vec::with_capacity(TYPICAL_MEMBERS);
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

    pub(in crate::ingest) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::ingest) fn iter(&self) -> impl Iterator<Item = (&str, &'t str)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// Returns the raw JSON of a member that is not null. Of several members of the same name, the last one is used.
    pub(in crate::ingest) fn json(&self, key: &str) -> Option<&'t str> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| *value).filter(|value| *value != "null")
    }

    /// Whether there is a member of this name, even if it is null.
    pub(in crate::ingest) fn contains_key(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// Whether there is a member of this name that is not null.
    pub(in crate::ingest) fn has(&self, key: &str) -> bool {
        self.json(key).is_some()
    }

    pub(in crate::ingest) fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// Returns a scalar member; null if there is none, or if its text is empty or "-".
    pub(in crate::ingest) fn scalar(&self, key: &str) -> Scalar<'t> {
        let value = self.json(key).and_then(|value| Reader::new(value).scalar().ok());
        match value {
            Some(Scalar::Text(text)) if matches!(text.trim(), "" | "-") => Scalar::Null,
            value => value.unwrap_or(Scalar::Null),
        }
    }

    /// Returns a string member that is not empty.
    pub(in crate::ingest) fn text(&self, key: &str) -> Option<Cow<'t, str>> {
        match Reader::new(self.json(key)?).scalar() {
            Ok(Scalar::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns the first scalar among the members of these names.
    pub(in crate::ingest) fn first(&self, keys: &[&str]) -> Scalar<'t> {
        let mut values = keys.iter().map(|key| self.scalar(key));
        values.find(|value| !matches!(value, Scalar::Null | Scalar::Other)).unwrap_or(Scalar::Null)
    }

    /// Returns a scalar member as text; numbers are formatted.
    pub(in crate::ingest) fn scalar_text(&self, key: &str) -> Option<Cow<'t, str>> {
        self.scalar(key).into_text()
    }

    pub(in crate::ingest) fn number(&self, key: &str) -> Option<f64> {
        self.scalar(key).number()
    }

    pub(in crate::ingest) fn integer(&self, key: &str) -> Option<i64> {
        self.scalar(key).integer()
    }

    /// Returns an object member; an empty one if there is none.
    pub(in crate::ingest) fn object(&self, key: &str) -> Members<'t> {
        self.json(key).and_then(|value| Members::of(value).ok()).unwrap_or_default()
    }

    /// Returns the JSON of an object, which may also be encoded in a string.
    pub(in crate::ingest) fn object_text(&self, key: &str) -> Cow<'t, str> {
        match self.json(key) {
            Some(json) if json.starts_with('{') => Cow::Borrowed(json),
            _ => self.scalar_text(key).unwrap_or_default(),
        }
    }

    /// Returns the objects in an array.
    pub(in crate::ingest) fn objects(&self, key: &str) -> Vec<Members<'t>> {
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

    /// Sets each of the listed fields from the member named beside it.
    pub(in crate::ingest) fn put(&self, record: &mut Record<'t>, fields: &[(&str, Field)]) {
        for (key, field) in fields {
            record.put(*field, self.scalar(key));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn members_are_decoded_on_demand() {
        let members = Members::of(r#"{"a": 1, "b": {"c": "x"}, "d": [{"e": 2}, 3], "a": "-", "n": null}"#).unwrap();
        assert_eq!(members.json("a"), Some(r#""-""#));
        assert_eq!(members.scalar("a"), Scalar::Null);
        assert_eq!(members.object("b").scalar_text("c").as_deref(), Some("x"));
        assert_eq!(members.objects("d")[0].integer("e"), Some(2));
        assert!(members.has_all(&["a", "b"]) && !members.has("n") && members.object("x").is_empty());
        assert!(members.contains_key("n") && !members.contains_key("x"));
        assert_eq!((members.text("a").as_deref(), members.text("d"), members.text("n")), (Some("-"), None, None));
        assert!(Members::of("{} {}").is_err() && Members::of("words").is_err());
    }
}
