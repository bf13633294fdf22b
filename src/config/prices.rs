//! `[prices."claude-*"]`: prices of a model's tokens, in US dollars per million.

use super::file::{File, Value};
use super::invalid::InvalidConfig;
use crate::model::{Name, Price, Prices};

/// Keys of one model.
pub(super) const KEYS: [&str; 4] = ["input_per_mtok", "output_per_mtok", "cache_read_per_mtok", "cache_write_per_mtok"];

/// Reads the prices of all models.
pub(super) fn read(file: &File<'_>, value: &Value<'_>) -> Result<Prices, InvalidConfig> {
    let mut list = Vec::new();
    for (model, value) in file.table(value, "prices")? {
        let name = model.get_ref().as_ref();
        let mut price = Price::default();
        for (key, value) in file.table(value, &format!("prices.{name}"))? {
            let key_name = key.get_ref().as_ref();
            let field = match key_name {
                "input_per_mtok" => &mut price.input,
                "output_per_mtok" => &mut price.output,
                "cache_read_per_mtok" => &mut price.cache_read,
                "cache_write_per_mtok" => &mut price.cache_write,
                // TOML parses a dot outside quotes as nested tables: without quotes, a model name with a dot becomes
                // two keys.
                other if !value_is_number(value) => {
                    let what = format!(
                        "`{name}.{other}` is read as two keys: put the model into quotes, as in [prices.\"{name}.{other}\"]"
                    );
                    return Err(file.invalid(key.span(), what));
                }
                other => return Err(file.unknown_key(key.span(), other, &KEYS, "a price")),
            };
            *field = Some(file.number(value, key_name)?);
        }
        if price == Price::default() {
            let what = format!("`prices.{name}` gives no price: {} or another of its keys", KEYS[0]);
            return Err(file.invalid(model.span(), what));
        }
        list.push((Name::new(name), price));
    }
    Ok(Prices::new(list))
}

fn value_is_number(value: &Value<'_>) -> bool {
    !matches!(value.get_ref(), toml::de::DeValue::Table(_))
}
