//! `[fields]`, `[constants]` and `[[lines]]`: how the keys and lines of a custom logger map to fields.

use super::file::{File, Value};
use super::invalid::{InvalidConfig, did_you_mean};
use super::preset::CustomKey;
use crate::ingest::{Conversion, LinePattern, Mapping, PatternFault, SpanUnit, TimeFormat, Unmappable, field_names};
use crate::model::Zone;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Keys of a `[fields]` entry that is a table.
const KEYS: [&str; 5] = ["field", "values", "unit", "format", "zone"];

/// Reads `[fields]`: the logger's keys and the fields they map to.
pub(super) fn read(file: &File<'_>, value: &Value<'_>) -> Result<BTreeMap<String, CustomKey>, InvalidConfig> {
    let mut fields = BTreeMap::new();
    collect(file, file.table(value, "fields")?, "", &mut fields)?;
    Ok(fields)
}

/// Collects the entries of `table`, with dotted names. TOML parses an unquoted dotted key as nested tables, so a table
/// without `field` is part of a key.
fn collect(
    file: &File<'_>,
    table: &DeTable<'_>,
    prefix: &str,
    fields: &mut BTreeMap<String, CustomKey>,
) -> Result<(), InvalidConfig> {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        let custom_key = match value.get_ref() {
            DeValue::Table(inner) if !inner.contains_key("field") => {
                collect(file, inner, &format!("{name}."), fields)?;
                continue;
            }
            DeValue::Table(inner) => entry_with_conversion(file, inner)?,
            _ => CustomKey { field: file.string(value, &name)?.to_owned(), conversion: Conversion::default() },
        };
        Mapping::default()
            .add(&name, &custom_key.field, &custom_key.conversion)
            .map_err(|fault| mapping_error(file, value, fault))?;
        fields.insert(name, custom_key);
    }
    Ok(())
}

/// Reads an entry with a conversion: `{ field = "duration_ms", unit = "s" }`.
fn entry_with_conversion(file: &File<'_>, table: &DeTable<'_>) -> Result<CustomKey, InvalidConfig> {
    let mut custom_key = CustomKey::default();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "field" => file.string(value, "field")?.clone_into(&mut custom_key.field),
            "values" => custom_key.conversion.values = scalar_strings(file, value, "values")?,
            "unit" => custom_key.conversion.unit = Some(unit(file, value)?),
            "format" => custom_key.conversion.format = Some(TimeFormat::new(file.string(value, "format")?)),
            "zone" => custom_key.conversion.zone = Some(zone(file, value)?),
            other => return Err(file.unknown_key(key.span(), other, &KEYS, "a key that stands for a field")),
        }
    }
    Ok(custom_key)
}

fn mapping_error(file: &File<'_>, value: &Value<'_>, fault: Unmappable) -> InvalidConfig {
    let part = |key: &str| match value.get_ref() {
        DeValue::Table(table) => table.get(key).map_or(value.span(), |part| part.span()),
        _ => value.span(),
    };
    match fault {
        Unmappable::NoField(name) => {
            let suggestion = did_you_mean(&name, field_names(), "docs/formats.md lists them under \"Fields\"");
            file.invalid(part("field"), format!("no field `{name}`{suggestion}"))
        }
        Unmappable::Conversion(key, why) => file.invalid(part(key), why),
        Unmappable::NoConstant(name) => {
            let all: Vec<&str> = Mapping::constant_fields().collect();
            let alternatives = format!("those that may are {}", all.join(", "));
            file.invalid(value.span(), format!("`{name}` cannot be the same for all records of a log; {alternatives}"))
        }
    }
}

fn unit(file: &File<'_>, value: &Value<'_>) -> Result<SpanUnit, InvalidConfig> {
    let word = file.string(value, "unit")?;
    SpanUnit::NAMED.into_iter().find(|(name, _)| *name == word).map(|(_, unit)| unit).ok_or_else(|| {
        let names = SpanUnit::NAMED.map(|(name, _)| name);
        file.invalid(value.span(), format!("no unit `{word}`; there are {}", names.join(", ")))
    })
}

fn zone(file: &File<'_>, value: &Value<'_>) -> Result<Zone, InvalidConfig> {
    file.string(value, "zone")?.parse().map_err(|why: String| file.invalid(value.span(), why))
}

/// Reads a table of scalar values as strings.
fn scalar_strings(file: &File<'_>, value: &Value<'_>, what: &str) -> Result<BTreeMap<String, String>, InvalidConfig> {
    let table = file.table(value, what)?;
    table.iter().map(|(key, value)| Ok((key.get_ref().to_string(), file.scalar_text(value, key.get_ref())?))).collect()
}

/// Reads `[constants]`: values of fields that the records themselves lack.
pub(super) fn constants(file: &File<'_>, value: &Value<'_>) -> Result<BTreeMap<String, String>, InvalidConfig> {
    let constants = scalar_strings(file, value, "constants")?;
    for (name, value) in file.table(value, "constants")? {
        let value_text = constants.get(name.get_ref().as_ref()).map_or("", String::as_str);
        Mapping::default()
            .add_constant(name.get_ref(), value_text)
            .map_err(|fault| mapping_error(file, value, fault))?;
    }
    Ok(constants)
}

/// Reads `[[lines]]`: regular expressions for lines of text, whose named groups are fields, or custom keys that
/// `mapping` has.
pub(super) fn lines(file: &File<'_>, value: &Value<'_>, mapping: &Mapping) -> Result<Vec<LinePattern>, InvalidConfig> {
    file.list(value, "lines")?.iter().map(|value| line(file, value, mapping)).collect()
}

fn line(file: &File<'_>, value: &Value<'_>, mapping: &Mapping) -> Result<LinePattern, InvalidConfig> {
    let mut pattern = None;
    for (key, value) in file.table(value, "lines")? {
        match key.get_ref().as_ref() {
            "pattern" => {
                let text = file.string(value, "pattern")?;
                let found = LinePattern::new(text, mapping)
                    .map_err(|fault| file.invalid(value.span(), pattern_error_text(&fault)));
                pattern = Some(found?);
            }
            other => return Err(file.unknown_key(key.span(), other, &["pattern"], "an entry of `lines`")),
        }
    }
    pattern.ok_or_else(|| file.invalid(value.span(), "this entry of `lines` has no `pattern`"))
}

fn pattern_error_text(fault: &PatternFault) -> String {
    match fault {
        PatternFault::Syntax(what, position) => {
            let position = position.map_or(String::new(), |position| format!(" at its character {position}"));
            format!("`pattern` is no regular expression: {what}{position}")
        }
        PatternFault::Nameless => {
            "`pattern` has no named group: write (?<status>\\d+), with the name of a field".to_owned()
        }
        PatternFault::NoField(name) => {
            let alternatives = format!("or map it: under [fields], {name} = \"...\"");
            let suggestion = did_you_mean(name, field_names(), &alternatives);
            format!("the group `{name}` stands for no field{suggestion}")
        }
    }
}
