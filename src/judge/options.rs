//! Options of a judgement.

use super::ProblemStatsKey;
use crate::classify::Class;
use crate::ingest::Filter;
use crate::model::{AttemptTable, Severity, Symbol};
use crate::rules::{CATALOGUE, Rule, Settings};
use glob::Pattern;
use std::collections::BTreeMap;

/// What is judged, and by which rules and thresholds.
#[derive(Clone, Debug)]
pub struct Options {
    /// Thresholds of the rules.
    pub settings: Settings,
    /// Whether the log is complete. If so, no call is open.
    pub complete: bool,
    /// Which calls are judged; all others are excluded from findings and counts.
    pub filter: Filter,
    /// Rules whose findings are reported.
    pub rules: Vec<&'static Rule>,
    /// Severities that replace those of the catalogue, by rule code.
    pub severities: BTreeMap<&'static str, Severity>,
    /// Known and accepted findings, which are counted and not reported.
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

/// Matches known and accepted findings. A pattern that is `None` matches everything.
#[derive(Clone, Debug)]
pub struct Suppression {
    /// Rule code, or a prefix of rule codes.
    pub rule: String,
    /// Pattern for the run.
    pub run: Option<Pattern>,
    /// Pattern for the model.
    pub model: Option<Pattern>,
    /// Pattern for the provider.
    pub provider: Option<Pattern>,
    /// Pattern for the name of the failure class.
    pub class: Option<Pattern>,
    /// Text by which messages refer to this suppression.
    pub label: String,
}

impl Suppression {
    pub(super) fn covers(&self, key: &ProblemStatsKey, rule: &Rule, run: Symbol, table: &AttemptTable) -> bool {
        let fits = |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(text));
        let name = |symbol| table.names.text(symbol);
        rule.begins_with(&self.rule)
            && fits(&self.run, name(run))
            && fits(&self.model, name(key.model))
            && fits(&self.provider, name(key.provider))
            && fits(&self.class, key.class.map_or("", Class::name))
    }
}
