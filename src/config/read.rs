//! Reads the top level of the file and of presets.

use super::file::{File, Value};
use super::invalid::InvalidConfig;
use super::preset::Preset;
use super::{Config, ConfigError, classify, fields, policy, prices, rules, suppress};
use std::path::Path;
use toml::Spanned;
use toml::de::DeTable;

/// Keys of a configuration file.
const KEYS: [&str; 11] = [
    "select",
    "ignore",
    "rules",
    "policy",
    "prices",
    "include",
    "fields",
    "constants",
    "lines",
    "classify",
    "suppress",
];
/// Keys of a preset.
const PRESET_KEYS: [&str; 4] = ["fields", "constants", "lines", "classify"];

/// Parses a configuration file.
pub(super) fn config(text: &str, path: &Path) -> Result<Config, InvalidConfig> {
    let file = File { text, path };
    let tree = parse(&file)?;
    let mut config = Config { path: Some(path.to_owned()), ..Config::default() };
    let mut presets = Preset::default();
    for (key, value) in tree.get_ref() {
        match key.get_ref().as_ref() {
            "select" => config.select = file.rule_list(value, "select")?,
            "ignore" => config.ignore = file.rule_list(value, "ignore")?,
            "rules" => config.rules = rules::read(&file, value)?,
            "policy" => config.policies = policy::read(&file, value)?,
            "prices" => config.prices = prices::read(&file, value)?,
            "suppress" => config.suppress = suppress::read(&file, value)?,
            "include" => presets = include(&file, value)?,
            word if PRESET_KEYS.contains(&word) => {}
            other => return Err(file.unknown_key(key.span(), other, &KEYS, "the file")),
        }
    }
    config.preset = preset_keys(&file, tree.get_ref(), presets)?;
    Ok(config)
}

/// Parses a preset: only the keys of [`PRESET_KEYS`] are allowed.
pub(super) fn preset(text: &str, path: &Path) -> Result<Preset, InvalidConfig> {
    let file = File { text, path };
    let tree = parse(&file)?;
    let unknown = tree.get_ref().iter().find(|(key, _)| !PRESET_KEYS.contains(&key.get_ref().as_ref()));
    match unknown {
        Some((key, _)) => Err(file.unknown_key(key.span(), key.get_ref(), &PRESET_KEYS, "a preset")),
        None => preset_keys(&file, tree.get_ref(), Preset::default()),
    }
}

fn parse<'t>(file: &File<'t>) -> Result<Spanned<DeTable<'t>>, InvalidConfig> {
    DeTable::parse(file.text).map_err(|error| {
        // The parser's messages may have several lines.
        let words: Vec<&str> = error.message().split_whitespace().collect();
        file.invalid(error.span().unwrap_or(0..0), format!("not TOML: {}", words.join(" ")))
    })
}

/// Reads those keys of a file that a preset may have too. They take precedence over `presets`, which the file includes.
fn preset_keys(file: &File<'_>, table: &DeTable<'_>, presets: Preset) -> Result<Preset, InvalidConfig> {
    let mut preset = Preset::default();
    if let Some(value) = table.get("fields") {
        preset.fields = fields::read(file, value)?;
    }
    if let Some(value) = table.get("constants") {
        preset.constants = fields::constants(file, value)?;
    }
    if let Some(value) = table.get("classify") {
        preset.classify = classify::read(file, value)?;
    }
    // Named groups of line patterns may be keys of a preset, so the other presets' entries are added first.
    let lines_of_presets = presets.lines.clone();
    preset.add_defaults(Preset { lines: Vec::new(), ..presets });
    if let Some(value) = table.get("lines") {
        preset.lines = fields::lines(file, value, &preset.mapping())?;
    }
    preset.lines.extend(lines_of_presets);
    Ok(preset)
}

/// Reads the presets of `include`; their paths are relative to the folder of the file.
fn include(file: &File<'_>, value: &Value<'_>) -> Result<Preset, InvalidConfig> {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let mut all = Preset::default();
    for value in file.list(value, "include")? {
        let path = folder.join(file.string(value, "include")?);
        let preset = Preset::load(&path).map_err(|error| match error {
            ConfigError::Invalid(error) => error,
            unreadable @ ConfigError::Unreadable { .. } => file.invalid(value.span(), unreadable.to_string()),
        })?;
        all.add_defaults(preset);
    }
    Ok(all)
}
