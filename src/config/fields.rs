//! `[fields]`: keys of a logger's own, and the fields they stand for.

use super::file::{File, Value};
use super::mistake::{Mistake, did_you_mean};
use crate::ingest::{Mapping, field_names};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Own keys and the fields they stand for.
pub(super) fn read(file: &File<'_>, value: &Value<'_>) -> Result<BTreeMap<String, String>, Mistake> {
    let mut fields = BTreeMap::new();
    collect(file, file.table(value, "fields")?, "", &mut fields)?;
    Ok(fields)
}

/// A dotted key is a table in a table to TOML where nobody quotes it.
fn collect(
    file: &File<'_>,
    table: &DeTable<'_>,
    prefix: &str,
    fields: &mut BTreeMap<String, String>,
) -> Result<(), Mistake> {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        if let DeValue::Table(inner) = value.get_ref() {
            collect(file, inner, &format!("{name}."), fields)?;
            continue;
        }
        let target = file.string(value, &name)?;
        if let Err(unknown) = Mapping::new([(name.as_str(), target)]) {
            let rest = "README lists them under \"What it reads\"";
            let like = did_you_mean(&unknown, field_names(), rest);
            return Err(file.mistake(value.span(), format!("no field `{unknown}`{like}")));
        }
        fields.insert(name, target.to_owned());
    }
    Ok(())
}
