//! Keys of a logger's own, and the fields they stand for.

use super::conversion::Conversion;
use super::fields::Field;
use super::id_field::{IdField, id_field};
use super::kept::FINGERPRINT;
use super::spellings::{exact, lookup};
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// Own keys by name. A key with dots is both the key as it stands and the path through nested objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    keys: BTreeMap<String, Own>,
    /// What fields say of records that do not say it themselves.
    constants: Vec<(Field, String)>,
    /// Something is made of values.
    converts: bool,
    /// Tells two mappings apart; 0 for none.
    fingerprint: u64,
}

/// What an own key is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::ingest) struct Own {
    /// The field it stands for.
    pub(in crate::ingest) target: Option<Target>,
    /// Own keys inside it.
    pub(in crate::ingest) below: Mapping,
}

/// A field of ours, as the user spelled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ingest) struct Target {
    pub(in crate::ingest) field: Field,
    /// For headers, which one.
    pub(in crate::ingest) name: String,
    /// What is done to values.
    pub(in crate::ingest) conversion: Conversion,
}

/// Why an own key or a constant cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmappable {
    /// No field has this name.
    NoField(String),
    /// Something of it cannot be done to values of its field: under which key that stands, and why.
    Conversion(&'static str, String),
    /// The field differs from record to record.
    NoConstant(String),
}

/// Whether a key means a field, in any of its spellings or as a user's own.
pub(in crate::ingest) fn is_field(key: &str, own: &Mapping) -> bool {
    own.get(key).is_some() || lookup(key).is_some()
}

/// What may be the same for all records of a log. What says how an attempt went, or which one it is, may not: it would
/// make attempts of other lines.
const CONSTANT: [Field; 20] = [
    Field::Provider,
    Field::Model,
    Field::Layer,
    Field::RunId,
    Field::Org,
    Field::ApiKey,
    Field::Workspace,
    Field::Host,
    Field::Endpoint,
    Field::UserAgent,
    Field::SdkLanguage,
    Field::SdkVersion,
    Field::MaxAttempts,
    Field::MaxRetries,
    Field::MaxTokens,
    Field::TimeoutMs,
    Field::TimeoutS,
    Field::Stream,
    Field::SideEffect,
    Field::Tool,
];

impl Mapping {
    /// The same, to be lent.
    pub(crate) const EMPTY: &'static Mapping = &Mapping::NONE;
    /// No own key.
    pub(crate) const NONE: Mapping =
        Mapping { keys: BTreeMap::new(), constants: Vec::new(), converts: false, fingerprint: 0 };

    /// Maps each own key to the field of the name beside it.
    ///
    /// # Errors
    /// The first name that no field has.
    pub fn new<'n>(pairs: impl IntoIterator<Item = (&'n str, &'n str)>) -> Result<Mapping, Unmappable> {
        let mut mapping = Mapping::NONE;
        pairs.into_iter().try_for_each(|(key, name)| mapping.add(key, name, &Conversion::default()))?;
        Ok(mapping)
    }

    /// Maps an own key to the field of this name; `conversion` is done to its values.
    ///
    /// # Errors
    /// Where no field has the name, or values of it cannot be converted so.
    pub fn add(&mut self, key: &str, name: &str, conversion: &Conversion) -> Result<(), Unmappable> {
        let Some((field, _)) = exact(name) else { return Err(Unmappable::NoField(name.to_owned())) };
        if let Some((part, why)) = conversion.misfit(field, name) {
            return Err(Unmappable::Conversion(part, why));
        }
        let target = Target { field, name: name.to_owned(), conversion: conversion.clone() };
        self.entry(key).target = Some(target.clone());
        if key.contains('.') {
            let mut steps = key.split('.');
            let first = self.entry(steps.next().unwrap_or_default());
            steps.fold(first, |own, step| own.below.entry(step)).target = Some(target);
        }
        self.converts |= !conversion.is_none();
        self.fingerprint = FINGERPRINT.hash_one((self.fingerprint, key, name, format!("{conversion:?}"))).max(1);
        Ok(())
    }

    /// Has the field of this name say `value` in records that do not say it themselves.
    ///
    /// # Errors
    /// Where no field has the name, or its value is not the same for all records of a log.
    pub fn add_constant(&mut self, name: &str, value: &str) -> Result<(), Unmappable> {
        let Some((field, _)) = exact(name) else { return Err(Unmappable::NoField(name.to_owned())) };
        if !CONSTANT.contains(&field) {
            return Err(Unmappable::NoConstant(name.to_owned()));
        }
        self.constants.push((field, value.to_owned()));
        self.fingerprint = FINGERPRINT.hash_one((self.fingerprint, name, value)).max(1);
        Ok(())
    }

    /// What fields say of records that do not say it themselves.
    pub(in crate::ingest) fn constants(&self) -> &[(Field, String)] {
        &self.constants
    }

    /// Whether more is done than reading own keys as fields: only the strict parser does that.
    pub(in crate::ingest) fn needs_parser(&self) -> bool {
        self.converts || !self.constants.is_empty()
    }

    /// The names of fields that a constant may stand for.
    pub fn constant_fields() -> impl Iterator<Item = &'static str> {
        CONSTANT.iter().map(|field| field.name())
    }

    fn entry(&mut self, key: &str) -> &mut Own {
        self.keys.entry(key.to_owned()).or_default()
    }

    pub(in crate::ingest) fn get(&self, key: &str) -> Option<&Own> {
        self.keys.get(key)
    }

    pub(in crate::ingest) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.constants.is_empty()
    }

    /// What the value of an own key of this level names, if it is an id.
    pub(in crate::ingest) fn id_field(&self, key: &str) -> Option<IdField> {
        id_field(&self.get(key)?.target.as_ref()?.name)
    }

    /// The own keys inside the value of `key`.
    pub(in crate::ingest) fn below(&self, key: &str) -> &Mapping {
        self.get(key).map_or(Mapping::EMPTY, |own| &own.below)
    }

    /// What the value of an own key names that stands at whatever depth, if it may be an id.
    pub(crate) fn id_field_anywhere(&self, key: &str) -> Option<IdField> {
        let below = || self.keys.values().find_map(|own| own.below.id_field_anywhere(key));
        self.id_field(key).or_else(below)
    }

    pub(in crate::ingest) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_dotted_key_is_a_key_and_a_path() {
        let mapping = Mapping::new([("upstream.request", "request_id"), ("upstream.took", "duration_s")]).unwrap();
        let field = |own: Option<&Own>| own.and_then(|own| own.target.as_ref()).map(|target| target.field);
        assert_eq!(field(mapping.get("upstream.request")), Some(Field::RequestId));
        let upstream = mapping.get("upstream").unwrap();
        assert_eq!(upstream.target, None);
        assert_eq!(field(upstream.below.get("request")), Some(Field::RequestId));
        assert_eq!(field(upstream.below.get("took")), Some(Field::DurationS));
        assert_eq!(Mapping::new([("x", "requestid")]), Err(Unmappable::NoField("requestid".to_owned())));
        assert_eq!(
            Mapping::NONE.clone().add_constant("status", "200"),
            Err(Unmappable::NoConstant("status".to_owned()))
        );
        assert!(Mapping::NONE.is_empty() && mapping.fingerprint() != Mapping::NONE.fingerprint());
    }
}
