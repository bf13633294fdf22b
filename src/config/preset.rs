//! The keys that tell how logs are read; presets may contain them, so that they can be shared.

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
    /// Adds `others`; entries already present take precedence.
    pub(crate) fn take(&mut self, others: Preset) {
        let Preset { fields, constants, lines, classify } = others;
        fields.into_iter().for_each(|(key, own)| {
            self.fields.entry(key).or_insert(own);
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
