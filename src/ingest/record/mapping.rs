//! User-defined keys and the fields they are mapped to.

use super::conversion::Conversion;
use super::fields::Field;
use super::fingerprint::FINGERPRINT;
use super::id_field::{IdField, id_field};
use super::spellings::{exact, lookup};
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// User-defined keys by name. A dotted key is both a literal key and a path through nested objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    keys: BTreeMap<String, CustomKey>,
    /// Values of fields for records that do not set them.
    constants: Vec<(Field, String)>,
    /// Whether any mapping converts values.
    converts: bool,
    /// Distinguishes mappings; 0 for an empty one.
    fingerprint: u64,
}

/// Meaning of a user-defined key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::ingest) struct CustomKey {
    /// The field it is mapped to.
    pub(in crate::ingest) target: Option<Target>,
    /// User-defined keys inside its value.
    pub(in crate::ingest) below: Mapping,
}

/// A field, as the user spelled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ingest) struct Target {
    pub(in crate::ingest) field: Field,
    /// The name; for headers, it says which one.
    pub(in crate::ingest) name: String,
    /// Conversion of its values.
    pub(in crate::ingest) conversion: Conversion,
}

/// Reason why a user-defined key or a constant cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmappable {
    /// No field has this name.
    NoField(String),
    /// A conversion cannot be applied to values of the field: the key of the conversion, and a message.
    Conversion(&'static str, String),
    /// The field varies between records.
    NoConstant(String),
}

/// Whether a key means a field, in any built-in spelling or as a user-defined key.
pub(in crate::ingest) fn is_field(key: &str, custom: &Mapping) -> bool {
    custom.get(key).is_some() || lookup(key).is_some()
}

/// Fields that may be constant for all records of a log. Fields that give the outcome of an attempt or identify it may
/// not: they would turn other lines into attempts.
const CONSTANT_FIELDS: [Field; 20] = [
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
    /// A reference to [`Mapping::NONE`].
    pub(crate) const EMPTY: &'static Mapping = &Mapping::NONE;
    /// The empty mapping.
    pub(crate) const NONE: Mapping =
        Mapping { keys: BTreeMap::new(), constants: Vec::new(), converts: false, fingerprint: 0 };

    /// Maps each key to the field named beside it.
    ///
    /// # Errors
    /// When no field has one of the names.
    pub fn new<'n>(pairs: impl IntoIterator<Item = (&'n str, &'n str)>) -> Result<Mapping, Unmappable> {
        let mut mapping = Mapping::NONE;
        pairs.into_iter().try_for_each(|(key, name)| mapping.add(key, name, &Conversion::default()))?;
        Ok(mapping)
    }

    /// Maps a key to the field of this name; `conversion` is applied to its values.
    ///
    /// # Errors
    /// When no field has the name, or the conversion cannot be applied to its values.
    pub fn add(&mut self, key: &str, name: &str, conversion: &Conversion) -> Result<(), Unmappable> {
        let Some((field, _)) = exact(name) else { return Err(Unmappable::NoField(name.to_owned())) };
        if let Some((part, why)) = conversion.reason_against(field, name) {
            return Err(Unmappable::Conversion(part, why));
        }
        let target = Target { field, name: name.to_owned(), conversion: conversion.clone() };
        self.entry(key).target = Some(target.clone());
        if key.contains('.') {
            let mut steps = key.split('.');
            let first = self.entry(steps.next().unwrap_or_default());
            steps.fold(first, |custom, step| custom.below.entry(step)).target = Some(target);
        }
        self.converts |= !conversion.is_none();
        self.fingerprint = FINGERPRINT.hash_one((self.fingerprint, key, name, format!("{conversion:?}"))).max(1);
        Ok(())
    }

    /// Sets the field of this name to `value` in records that do not set it themselves.
    ///
    /// # Errors
    /// When no field has the name, or the field varies between records.
    pub fn add_constant(&mut self, name: &str, value: &str) -> Result<(), Unmappable> {
        let Some((field, _)) = exact(name) else { return Err(Unmappable::NoField(name.to_owned())) };
        if !CONSTANT_FIELDS.contains(&field) {
            return Err(Unmappable::NoConstant(name.to_owned()));
        }
        self.constants.push((field, value.to_owned()));
        self.fingerprint = FINGERPRINT.hash_one((self.fingerprint, name, value)).max(1);
        Ok(())
    }

    /// Returns the values of fields for records that do not set them.
    pub(in crate::ingest) fn constants(&self) -> &[(Field, String)] {
        &self.constants
    }

    /// Whether it converts values or sets constants, which only the strict parser supports.
    pub(in crate::ingest) fn needs_parser(&self) -> bool {
        self.converts || !self.constants.is_empty()
    }

    /// Returns the names of fields that may be constant.
    pub fn constant_fields() -> impl Iterator<Item = &'static str> {
        CONSTANT_FIELDS.iter().map(|field| field.name())
    }

    fn entry(&mut self, key: &str) -> &mut CustomKey {
        self.keys.entry(key.to_owned()).or_default()
    }

    pub(in crate::ingest) fn get(&self, key: &str) -> Option<&CustomKey> {
        self.keys.get(key)
    }

    pub(in crate::ingest) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.constants.is_empty()
    }

    /// Returns what the value of a user-defined key of this level identifies, if it is an id.
    pub(in crate::ingest) fn id_field(&self, key: &str) -> Option<IdField> {
        id_field(&self.get(key)?.target.as_ref()?.name)
    }

    /// Returns the user-defined keys inside the value of `key`.
    pub(in crate::ingest) fn below(&self, key: &str) -> &Mapping {
        self.get(key).map_or(Mapping::EMPTY, |custom| &custom.below)
    }

    /// Returns what the value of a user-defined key at any depth identifies, if it may be an id.
    pub(crate) fn id_field_anywhere(&self, key: &str) -> Option<IdField> {
        let below = || self.keys.values().find_map(|custom| custom.below.id_field_anywhere(key));
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
        let field =
            |custom: Option<&CustomKey>| custom.and_then(|custom| custom.target.as_ref()).map(|target| target.field);
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
