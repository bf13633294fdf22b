//! What the forms of the catalogue say alike of a rule.

use super::catalogue::scope_name;
use crate::rules::{Rule, Scope};

/// A threshold as people read it.
pub(super) struct Threshold {
    pub(super) name: &'static str,
    /// Its default with its unit.
    pub(super) default: String,
    pub(super) meaning: &'static str,
}

/// The thresholds of a rule.
pub(super) fn thresholds(rule: &Rule) -> impl Iterator<Item = Threshold> {
    rule.settings.iter().map(|setting| Threshold {
        name: setting.name,
        default: format!("{} {}", setting.default, setting.unit).trim_end().to_owned(),
        meaning: setting.meaning,
    })
}

/// How the subjects of a scope are gone through.
pub(super) const fn judged(scope: Scope) -> &'static str {
    match scope {
        Scope::Attempt => "attempt by attempt",
        Scope::Call => "call by call",
        Scope::Run => "run by run",
        Scope::Fleet => "over all runs",
    }
}

/// The fields a rule cannot do without, each spelled by `spell`.
pub(super) fn needs(rule: &Rule, spell: impl Fn(&str) -> String) -> String {
    if rule.needs.is_empty() {
        return format!("nothing beyond the {} itself", scope_name(rule.scope));
    }
    rule.needs.iter().map(|field| spell(field.name())).collect::<Vec<_>>().join(", ")
}
