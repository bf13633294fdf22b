//! `[rules.RL301]`: changes to single rules.

use super::RuleConfig;
use super::file::{File, Value};
use super::invalid::{InvalidConfig, did_you_mean};
use crate::model::Severity;
use crate::rules::Rule;
use std::collections::BTreeMap;

/// Reads the table of all rules.
pub(super) fn read(file: &File<'_>, value: &Value<'_>) -> Result<BTreeMap<&'static str, RuleConfig>, InvalidConfig> {
    let mut rules = BTreeMap::new();
    for (key, value) in file.table(value, "rules")? {
        let Some(rule) = super::rule(key.get_ref()) else { return Err(file.unknown_rule(key.span(), key.get_ref())) };
        let config = read_entry(file, rule, value)?;
        if rules.insert(rule.code, config).is_some() {
            return Err(file.invalid(key.span(), format!("{} stands here twice", rule.code)));
        }
    }
    Ok(rules)
}

fn read_entry(file: &File<'_>, rule: &'static Rule, value: &Value<'_>) -> Result<RuleConfig, InvalidConfig> {
    let mut config = RuleConfig::default();
    for (key, value) in file.table(value, rule.code)? {
        match key.get_ref().as_ref() {
            "enabled" => config.enabled = Some(file.boolean(value, "enabled")?),
            "severity" => config.severity = Some(severity(file, value)?),
            name => {
                let Some(setting) = rule.settings.iter().find(|setting| setting.name == name) else {
                    let names = rule.settings.iter().map(|setting| setting.name);
                    let known: Vec<&str> = ["enabled", "severity"].into_iter().chain(names).collect();
                    return Err(file.unknown_key(key.span(), name, &known, rule.code));
                };
                config.thresholds.insert(setting.name, file.number(value, name)?);
            }
        }
    }
    Ok(config)
}

fn severity(file: &File<'_>, value: &Value<'_>) -> Result<Severity, InvalidConfig> {
    let word = file.string(value, "severity")?;
    let known = [Severity::Error, Severity::Warning, Severity::Info];
    known.into_iter().find(|severity| severity.name() == word).ok_or_else(|| {
        let suggestion = did_you_mean(word, known.map(Severity::name), "there are error, warning, info");
        file.invalid(value.span(), format!("no severity `{word}`{suggestion}"))
    })
}
