//! The part of a configuration that describes how logs are read. Presets consist of this part alone, so that it can be
//! shared.

use crate::classify::CustomRow;
use crate::ingest::{Conversion, LinePattern, Mapping};
use std::collections::BTreeMap;

/// How keys, lines and errors of a custom logger or provider are read.
#[derive(Clone, Debug, Default)]
pub struct Preset {
    /// Keys of the logger and the fields they map to.
    pub fields: BTreeMap<String, CustomKey>,
    /// Values of fields that the records themselves lack.
    pub constants: BTreeMap<String, String>,
    /// Regular expressions for lines of text; the first that matches applies.
    pub lines: Vec<LinePattern>,
    /// Failure classes of errors; the first entry that matches applies.
    pub classify: Vec<CustomRow>,
}

/// The field a logger's key maps to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomKey {
    /// Name of the field.
    pub field: String,
    /// Conversion of its values.
    pub conversion: Conversion,
}

impl Preset {
    /// Adds the entries of `others`, over which entries already present take precedence.
    pub(crate) fn add_defaults(&mut self, others: Preset) {
        let Preset { fields, constants, lines, classify } = others;
        fields.into_iter().for_each(|(key, custom_key)| {
            self.fields.entry(key).or_insert(custom_key);
        });
        constants.into_iter().for_each(|(name, value)| {
            self.constants.entry(name).or_insert(value);
        });
        self.lines.extend(lines);
        self.classify.extend(classify);
    }

    /// Returns the field mapping and the constants.
    #[must_use]
    pub(crate) fn mapping(&self) -> Mapping {
        let mut mapping = Mapping::default();
        for (key, custom_key) in &self.fields {
            // Names were checked when the file was read.
            let _ = mapping.add(key, &custom_key.field, &custom_key.conversion);
        }
        for (name, value) in &self.constants {
            let _ = mapping.add_constant(name, value);
        }
        mapping
    }
}
