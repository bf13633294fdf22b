//! What a file says of the words of logs: the part of it that others can share, as a preset.

use crate::classify::OwnRow;
use crate::ingest::{Conversion, LinePattern, Mapping};
use std::collections::BTreeMap;

/// Words of logs, and what they mean.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// Keys of a logger's own, and the fields they stand for.
    pub fields: BTreeMap<String, OwnKey>,
    /// Fields, and what they say where records do not.
    pub constants: BTreeMap<String, String>,
    /// What lines of text look like, the first that fits first.
    pub lines: Vec<LinePattern>,
    /// Failures of a provider's own, the first row that fits first.
    pub classify: Vec<OwnRow>,
}

/// What a key of a logger's own stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnKey {
    /// The field.
    pub field: String,
    /// What is done to its values.
    pub conversion: Conversion,
}

impl Words {
    /// Takes in what others mean: what is known already goes first.
    pub(crate) fn take(&mut self, others: Words) {
        let Words { fields, constants, lines, classify } = others;
        fields.into_iter().for_each(|(key, own)| {
            self.fields.entry(key).or_insert(own);
        });
        constants.into_iter().for_each(|(name, value)| {
            self.constants.entry(name).or_insert(value);
        });
        self.lines.extend(lines);
        self.classify.extend(classify);
    }

    /// Keys and constants, as records are read by them.
    #[must_use]
    pub(crate) fn mapping(&self) -> Mapping {
        let mut mapping = Mapping::default();
        for (key, own) in &self.fields {
            // Names were checked when the file was read.
            let _ = mapping.add(key, &own.field, &own.conversion);
        }
        for (name, value) in &self.constants {
            let _ = mapping.add_constant(name, value);
        }
        mapping
    }
}
