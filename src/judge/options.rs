//! What to judge by, as plain data.

use super::ProblemStatsKey;
use crate::classify::Class;
use crate::ingest::Filter;
use crate::model::{AttemptTable, Severity, Symbol};
use crate::rules::{CATALOGUE, Rule, Settings};
use glob::Pattern;
use std::collections::BTreeMap;

/// What to judge, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Thresholds.
    pub settings: Settings,
    /// Nothing follows the data: no call is open.
    pub complete: bool,
    /// Calls to judge; the others are left out of everything.
    pub filter: Filter,
    /// Rules to judge by.
    pub rules: Vec<&'static Rule>,
    /// Severities other than the catalogue's, by code.
    pub severities: BTreeMap<&'static str, Severity>,
    /// Findings that are known and accepted: they are counted, and nothing else.
    pub suppressions: Vec<Suppression>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            settings: Settings::default(),
            complete: false,
            filter: Filter::default(),
            rules: CATALOGUE.iter().collect(),
            severities: BTreeMap::new(),
            suppressions: Vec::new(),
        }
    }
}

/// Findings that are known and accepted. What is `None` holds for everything.
#[derive(Clone, Debug)]
pub struct Suppression {
    /// Code of a rule, or the beginning of some.
    pub rule: String,
    /// Runs.
    pub run: Option<Pattern>,
    /// Models.
    pub model: Option<Pattern>,
    /// Providers.
    pub provider: Option<Pattern>,
    /// Failure classes.
    pub class: Option<Pattern>,
    /// How to speak of it.
    pub label: String,
}

impl Suppression {
    pub(super) fn covers(&self, key: &ProblemStatsKey, rule: &Rule, run: Symbol, table: &AttemptTable) -> bool {
        let fits = |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|it| it.matches(text));
        let name = |symbol| table.names.text(symbol);
        rule.begins_with(&self.rule)
            && fits(&self.run, name(run))
            && fits(&self.model, name(key.model))
            && fits(&self.provider, name(key.provider))
            && fits(&self.class, key.class.map_or("", Class::name))
    }
}
