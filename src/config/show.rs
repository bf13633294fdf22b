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
        of_rule(config, rule, &mut out);
    }
    of_words(&config.preset, &mut out);
    for policy in config.policies.iter() {
        out.push_str("\n[[policy]]\n");
        of_policy(policy, &mut out);
    }
    for (model, price) in config.prices.iter() {
        out.push('\n');
        of_price(model, price, &mut out);
    }
    for row in &config.preset.classify {
        out.push('\n');
        of_row(row, &mut out);
    }
    for one in &config.suppress {
        out.push('\n');
        of_suppress(one, &mut out);
    }
    out
}

fn of_words(words: &Preset, out: &mut String) {
    if !words.fields.is_empty() {
        out.push_str("\n[fields]\n");
    }
    for (key, own) in &words.fields {
        let _ = writeln!(out, "{} = {}", quoted(key), of_key(own));
    }
    if !words.constants.is_empty() {
        out.push_str("\n[constants]\n");
    }
    for (name, value) in &words.constants {
        let _ = writeln!(out, "{} = {}", quoted(name), quoted(value));
    }
    for pattern in &words.lines {
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

fn of_key(own: &CustomKey) -> String {
    let field = quoted(&own.field);
    if own.conversion.is_none() {
        return field;
    }
    let Conversion { values, format, zone, unit } = &own.conversion;
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

fn of_rule(config: &Config, rule: &Rule, out: &mut String) {
    let changed = config.rules.get(rule.code);
    let severity = config.severity(rule).unwrap_or(rule.severity);
    let mut line = |text: String, was: Option<String>| {
        let note = was.map_or_else(String::new, |was| format!(" # default: {was}"));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{text}{note}");
    };
    line(format!("[rules.{}] # {}", rule.code, rule.name), None);
    let wanted = config.wants(rule);
    line(format!("enabled = {wanted}"), (!wanted).then(|| "true".to_owned()));
    let was = (severity != rule.severity).then(|| format!("{:?}", rule.severity.name()));
    line(format!("severity = {:?}", severity.name()), was);
    for setting in rule.settings {
        let value = changed.and_then(|rule| rule.thresholds.get(setting.name)).copied().unwrap_or(setting.default);
        let was = (value != setting.default).then(|| setting.default.to_string());
        line(format!("{} = {value}", setting.name), was);
    }
}

/// Returns one policy as the key-value lines of its table.
#[must_use]
pub fn policy_keys(policy: &Policy) -> String {
    let mut out = String::new();
    of_policy(policy, &mut out);
    out
}

fn of_policy(policy: &Policy, out: &mut String) {
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

fn of_price(model: &str, price: &Price, out: &mut String) {
    let _ = writeln!(out, "[prices.{}]", quoted(model));
    let values = [price.input, price.output, price.cache_read, price.cache_write];
    for (key, value) in prices::KEYS.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))) {
        let _ = writeln!(out, "{key} = {value}");
    }
}

fn of_row(row: &CustomRow, out: &mut String) {
    out.push_str("[[classify]]\n");
    let text = |pattern: &Option<Pattern>| pattern.as_ref().map(|it| quoted(it.as_str()));
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

fn of_suppress(one: &Suppress, out: &mut String) {
    out.push_str("[[suppress]]\n");
    let globs = [("run", &one.run), ("model", &one.model), ("provider", &one.provider), ("class", &one.class)];
    let globs = globs.iter().filter_map(|(key, glob)| Some((*key, glob.as_ref()?.as_str())));
    let texts = [("rule", one.rule.as_str()), ("reason", one.reason.as_str())].into_iter().chain(globs);
    for (key, text) in texts {
        let _ = writeln!(out, "{key} = {}", quoted(text));
    }
    if let Some(date) = one.expires {
        let _ = writeln!(out, "expires = {date}");
    }
}

/// Returns `text` as a TOML basic string; the escapes of JSON are a subset of TOML's, but JSON leaves DEL as it is.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
