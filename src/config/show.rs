//! Writes the effective configuration as a `retrylens.toml`.

use super::{Config, CustomKey, Preset, Suppress, prices};
use crate::classify::CustomRow;
use crate::ingest::Conversion;
use crate::model::{Jitter, Policy, Price};
use crate::rules::{CATALOGUE, Rule};
use glob::Pattern;
use std::fmt::Write;

/// Returns the whole configuration as TOML: every rule, severity and threshold, with the default beside each changed
/// value.
#[must_use]
pub fn show(config: &Config) -> String {
    let mut out = match &config.path {
        Some(path) => format!("# from {}\n", path.display()),
        None => format!("# defaults: no {}\n", super::NAME),
    };
    for rule in CATALOGUE {
        out.push('\n');
        write_rule(config, rule, &mut out);
    }
    write_preset(&config.preset, &mut out);
    for policy in config.policies.iter() {
        out.push_str("\n[[policy]]\n");
        write_policy(policy, &mut out);
    }
    for (model, price) in config.prices.iter() {
        out.push('\n');
        write_price(model, price, &mut out);
    }
    for row in &config.preset.classify {
        out.push('\n');
        write_classify(row, &mut out);
    }
    for entry in &config.suppress {
        out.push('\n');
        write_suppress(entry, &mut out);
    }
    out
}

fn write_preset(preset: &Preset, out: &mut String) {
    if !preset.fields.is_empty() {
        out.push_str("\n[fields]\n");
    }
    for (key, custom_key) in &preset.fields {
        let _ = writeln!(out, "{} = {}", quoted(key), key_value(custom_key));
    }
    if !preset.constants.is_empty() {
        out.push_str("\n[constants]\n");
    }
    for (name, value) in &preset.constants {
        let _ = writeln!(out, "{} = {}", quoted(name), quoted(value));
    }
    for pattern in &preset.lines {
        let _ = writeln!(out, "\n[[lines]]\npattern = {}", quoted(pattern.text()));
    }
}

/// Returns a `[fields]` table for triples of key, field and unit.
pub(crate) fn fields_table<'k>(pairs: impl Iterator<Item = (&'k str, &'k str, Option<&'k str>)>) -> String {
    let mut out = "[fields]\n".to_owned();
    for (key, field, unit) in pairs {
        let _ = match unit {
            Some(unit) => writeln!(out, "{} = {{ field = {}, unit = {} }}", quoted(key), quoted(field), quoted(unit)),
            None => writeln!(out, "{} = {}", quoted(key), quoted(field)),
        };
    }
    out
}

fn key_value(custom_key: &CustomKey) -> String {
    let field = quoted(&custom_key.field);
    if custom_key.conversion.is_none() {
        return field;
    }
    let Conversion { values, format, zone, unit } = &custom_key.conversion;
    let mut parts = vec![format!("field = {field}")];
    if !values.is_empty() {
        let values: Vec<String> =
            values.iter().map(|(from, to)| format!("{} = {}", quoted(from), quoted(to))).collect();
        parts.push(format!("values = {{ {} }}", values.join(", ")));
    }
    parts.extend(format.as_ref().map(|format| format!("format = {}", quoted(format.text()))));
    parts.extend(zone.map(|zone| format!("zone = {}", quoted(&zone.to_string()))));
    parts.extend(unit.map(|unit| format!("unit = {}", quoted(unit.name()))));
    format!("{{ {} }}", parts.join(", "))
}

fn write_rule(config: &Config, rule: &Rule, out: &mut String) {
    let changed = config.rules.get(rule.code);
    let severity = config.severity(rule).unwrap_or(rule.severity);
    let mut line = |text: String, default: Option<String>| {
        let note = default.map_or_else(String::new, |default| format!(" # default: {default}"));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{text}{note}");
    };
    line(format!("[rules.{}] # {}", rule.code, rule.name), None);
    let wanted = config.wants(rule);
    line(format!("enabled = {wanted}"), (!wanted).then(|| "true".to_owned()));
    let default = (severity != rule.severity).then(|| format!("{:?}", rule.severity.name()));
    line(format!("severity = {:?}", severity.name()), default);
    for setting in rule.settings {
        let value = changed.and_then(|rule| rule.thresholds.get(setting.name)).copied().unwrap_or(setting.default);
        let default = (value != setting.default).then(|| setting.default.to_string());
        line(format!("{} = {value}", setting.name), default);
    }
}

/// Returns one policy as the key-value lines of its table.
#[must_use]
pub fn policy_keys(policy: &Policy) -> String {
    let mut out = String::new();
    write_policy(policy, &mut out);
    out
}

fn write_policy(policy: &Policy, out: &mut String) {
    let globs = [("run", &policy.run), ("model", &policy.model), ("provider", &policy.provider)];
    let globs = globs.into_iter().filter_map(|(key, glob)| Some((key, quoted(glob.as_ref()?.as_str()))));
    let layer = policy.layer.as_deref().map(|layer| ("layer", quoted(layer)));
    let schedule = policy.schedule.as_ref();
    let jitter = schedule.map(|schedule| match schedule.jitter {
        Jitter::Share(share) => share.to_string(),
        named => quoted(Jitter::NAMED.iter().find(|(_, jitter)| *jitter == named).map_or("", |(name, _)| name)),
    });
    let numbers = [
        ("max_attempts", policy.max_attempts.map(|count| count.to_string())),
        ("base_s", schedule.map(|schedule| schedule.base_s.to_string())),
        ("factor", schedule.map(|schedule| schedule.factor.to_string())),
        ("cap_s", policy.cap_s.map(|s| s.to_string())),
        ("jitter", jitter),
        ("budget_s", policy.budget_s.map(|s| s.to_string())),
        ("timeout_s", policy.timeout_s.map(|s| s.to_string())),
        ("pool", policy.pool.map(|count| count.to_string())),
    ];
    let numbers = numbers.into_iter().filter_map(|(key, value)| Some((key, value?)));
    for (key, value) in globs.chain(layer).chain(numbers) {
        let _ = writeln!(out, "{key} = {value}");
    }
}

fn write_price(model: &str, price: &Price, out: &mut String) {
    let _ = writeln!(out, "[prices.{}]", quoted(model));
    let values = [price.input, price.output, price.cache_read, price.cache_write];
    for (key, value) in prices::KEYS.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))) {
        let _ = writeln!(out, "{key} = {value}");
    }
}

fn write_classify(row: &CustomRow, out: &mut String) {
    out.push_str("[[classify]]\n");
    let text = |pattern: &Option<Pattern>| pattern.as_ref().map(|pattern| quoted(pattern.as_str()));
    let pairs = [
        ("provider", text(&row.provider)),
        ("status", row.status.map(|status| status.to_string())),
        ("type", text(&row.error_type)),
        ("code", text(&row.error_code)),
        ("message", text(&row.message)),
        ("class", Some(quoted(row.class.name()))),
    ];
    for (key, value) in pairs.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let _ = writeln!(out, "{key} = {value}");
    }
}

fn write_suppress(entry: &Suppress, out: &mut String) {
    out.push_str("[[suppress]]\n");
    let globs = [("run", &entry.run), ("model", &entry.model), ("provider", &entry.provider), ("class", &entry.class)];
    let globs = globs.iter().filter_map(|(key, glob)| Some((*key, glob.as_ref()?.as_str())));
    let texts = [("rule", entry.rule.as_str()), ("reason", entry.reason.as_str())].into_iter().chain(globs);
    for (key, text) in texts {
        let _ = writeln!(out, "{key} = {}", quoted(text));
    }
    if let Some(date) = entry.expires {
        let _ = writeln!(out, "expires = {date}");
    }
}

/// Returns `text` as a TOML basic string. The escapes of JSON are a subset of those of TOML, but JSON does not escape
/// DEL, which TOML requires.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
