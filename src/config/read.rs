//! The typed parts of the file.

use super::file::File;
use super::mistake::Mistake;
use super::{Config, classify, fields, policy, prices, rules, suppress};
use std::path::Path;
use toml::de::DeTable;

/// Keys at the top of the file.
const KEYS: [&str; 8] = ["select", "ignore", "rules", "policy", "prices", "fields", "classify", "suppress"];

/// Reads a whole file.
pub(super) fn config(text: &str, path: &Path) -> Result<Config, Mistake> {
    let file = File { text, path };
    let tree = DeTable::parse(text).map_err(|error| {
        // The parser's own words, on one line.
        let words: Vec<&str> = error.message().split_whitespace().collect();
        file.mistake(error.span().unwrap_or(0..0), format!("not TOML: {}", words.join(" ")))
    })?;
    let mut config = Config { path: Some(path.to_owned()), ..Config::default() };
    for (key, value) in tree.get_ref() {
        match key.get_ref().as_ref() {
            "select" => config.select = file.rule_list(value, "select")?,
            "ignore" => config.ignore = file.rule_list(value, "ignore")?,
            "rules" => config.rules = rules::read(&file, value)?,
            "policy" => config.policies = policy::read(&file, value)?,
            "prices" => config.prices = prices::read(&file, value)?,
            "fields" => config.fields = fields::read(&file, value)?,
            "classify" => config.classify = classify::read(&file, value)?,
            "suppress" => config.suppress = suppress::read(&file, value)?,
            other => return Err(file.unknown_key(key.span(), other, &KEYS, "the file")),
        }
    }
    Ok(config)
}
