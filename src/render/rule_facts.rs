//! Facts of a rule, shared by the formats of the catalogue.

use super::catalogue::scope_name;
use crate::rules::{Rule, Scope};

/// A threshold, formatted for people.
pub(super) struct Threshold {
    pub(super) name: &'static str,
    /// Default value with its unit.
    pub(super) default: String,
    pub(super) meaning: &'static str,
}

/// Returns the thresholds of a rule.
pub(super) fn thresholds(rule: &Rule) -> impl Iterator<Item = Threshold> {
    rule.settings.iter().map(|setting| Threshold {
        name: setting.name,
        default: format!("{} {}", setting.default, setting.unit).trim_end().to_owned(),
        meaning: setting.meaning,
    })
}

/// Returns how a rule goes through the subjects of a scope, in words.
pub(super) const fn judged(scope: Scope) -> &'static str {
    match scope {
        Scope::Attempt => "attempt by attempt",
        Scope::Call => "call by call",
        Scope::Run => "run by run",
        Scope::Fleet => "over all runs",
    }
}

/// Returns the fields a rule requires, each formatted by `spell`.
pub(super) fn needs(rule: &Rule, spell: impl Fn(&str) -> String) -> String {
    if rule.needs.is_empty() {
        return format!("nothing beyond the {} itself", scope_name(rule.scope));
    }
    rule.needs.iter().map(|field| spell(field.name())).collect::<Vec<_>>().join(", ")
}
