//! Keys of a logger's own, and the fields they stand for.

use super::fields::Field;
use super::id_field::{IdField, id_field};
use super::kept::FINGERPRINT;
use super::spellings::exact;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// Own keys by name. A key with dots is both the key as it stands and the path through nested objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    keys: BTreeMap<String, Own>,
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
}

impl Mapping {
    /// The same, to be lent.
    pub(crate) const EMPTY: &'static Mapping = &Mapping::NONE;
    /// No own key.
    pub(crate) const NONE: Mapping = Mapping { keys: BTreeMap::new(), fingerprint: 0 };

    /// Maps each own key to the field of the name beside it.
    ///
    /// # Errors
    /// The first name that no field has.
    pub fn new<'n>(pairs: impl IntoIterator<Item = (&'n str, &'n str)>) -> Result<Mapping, String> {
        let mut mapping = Mapping::NONE;
        for (key, name) in pairs {
            let Some((field, _)) = exact(name) else { return Err(name.to_owned()) };
            let target = Target { field, name: name.to_owned() };
            mapping.entry(key).target = Some(target.clone());
            if key.contains('.') {
                let mut steps = key.split('.');
                let first = mapping.entry(steps.next().unwrap_or_default());
                steps.fold(first, |own, step| own.below.entry(step)).target = Some(target);
            }
            mapping.fingerprint = FINGERPRINT.hash_one((mapping.fingerprint, key, name)).max(1);
        }
        Ok(mapping)
    }

    fn entry(&mut self, key: &str) -> &mut Own {
        self.keys.entry(key.to_owned()).or_default()
    }

    pub(in crate::ingest) fn get(&self, key: &str) -> Option<&Own> {
        self.keys.get(key)
    }

    pub(in crate::ingest) fn is_empty(&self) -> bool {
        self.keys.is_empty()
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
        assert_eq!(Mapping::new([("x", "requestid")]), Err("requestid".to_owned()));
        assert!(Mapping::NONE.is_empty() && mapping.fingerprint() != Mapping::NONE.fingerprint());
    }
}
