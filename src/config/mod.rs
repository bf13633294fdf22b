//! `retrylens.toml`: which rules judge, by which thresholds, and what is accepted for now.
//!
//! A file becomes plain data: [`Config`]. What it says is checked to the last word, and every mistake is told
//! with its place.

mod classify;
mod fields;
mod file;
mod find;
mod invalid;
mod policy;
mod prices;
mod read;
mod rules;
mod schema;
mod show;
mod suppress;
mod words;

pub use find::{NAME, find};
pub use invalid::{InvalidConfig, did_you_mean, most_like};
pub use schema::schema;
pub(crate) use show::{fields_table, quoted};
pub use show::{policy_keys, show};
pub use suppress::Suppress;
pub use words::{OwnKey, Words};

use crate::ingest::Dialect;
use crate::judge::Suppression;
use crate::model::{Policies, Prices, Severity};
use crate::rules::{CATALOGUE, Rule, Settings};
use chrono::NaiveDate;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything a file may say.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Where it was read from; `None` where there is no file.
    pub path: Option<PathBuf>,
    /// Codes and prefixes of the rules to judge by; empty for all.
    pub select: Vec<String>,
    /// Codes and prefixes of rules to leave out.
    pub ignore: Vec<String>,
    /// What is changed of single rules, by code.
    pub rules: BTreeMap<&'static str, RuleConfig>,
    /// What is declared of retries.
    pub policies: Policies,
    /// What tokens cost.
    pub prices: Prices,
    /// What the words of logs mean.
    pub words: Words,
    /// Findings that are known and accepted.
    pub suppress: Vec<Suppress>,
}

/// What is changed of one rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleConfig {
    /// Judge by it, whatever `select` and `ignore` say, or do not.
    pub enabled: Option<bool>,
    /// How bad its findings are, all of them.
    pub severity: Option<Severity>,
    /// Thresholds by name.
    pub thresholds: BTreeMap<&'static str, f64>,
}

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It could not be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It says something that has no meaning.
    #[error(transparent)]
    Invalid(#[from] InvalidConfig),
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or the first mistake in it.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        Ok(Config::parse(&text_of(path)?, path)?)
    }

    /// Reads the text of a file; `path` is for complaints.
    ///
    /// # Errors
    /// The first mistake in it.
    pub fn parse(text: &str, path: &Path) -> Result<Config, InvalidConfig> {
        read::config(text, path)
    }

    /// Whether the file wants a rule.
    #[must_use]
    pub fn wants(&self, rule: &Rule) -> bool {
        let named = |list: &[String]| list.iter().any(|prefix| rule.begins_with(prefix));
        let enabled = self.rules.get(rule.code).and_then(|rule| rule.enabled);
        enabled.unwrap_or_else(|| (self.select.is_empty() || named(&self.select)) && !named(&self.ignore))
    }

    /// How bad findings of a rule are, where the file says so.
    #[must_use]
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        self.rules.get(rule.code)?.severity
    }

    /// Severities that differ from the catalogue's, by code.
    #[must_use]
    pub fn severities(&self) -> BTreeMap<&'static str, Severity> {
        self.rules.iter().filter_map(|(code, rule)| Some((*code, rule.severity?))).collect()
    }

    /// The thresholds in force, and what is declared.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let all =
            self.rules.iter().flat_map(|(code, rule)| rule.thresholds.iter().map(move |(name, x)| (*code, *name, *x)));
        Settings::with(all).declaring(self.policies.clone())
    }

    /// What the words of the logs mean.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        Dialect {
            fields: self.words.mapping(),
            lines: self.words.lines.clone(),
            failures: self.words.classify.clone(),
            prices: self.prices.clone(),
        }
    }

    /// The suppressions that hold on `today`.
    #[must_use]
    pub fn suppressions(&self, today: NaiveDate) -> Vec<Suppression> {
        self.suppress.iter().filter(|one| !one.is_expired(today)).map(Suppress::plain).collect()
    }

    /// A sentence for every suppression that holds no longer.
    #[must_use]
    pub fn expired(&self, today: NaiveDate) -> Vec<String> {
        self.suppress.iter().filter(|one| one.is_expired(today)).map(Suppress::has_expired).collect()
    }
}

impl Words {
    /// Reads a preset: a file that speaks of nothing but words.
    ///
    /// # Errors
    /// When it cannot be read, or the first mistake in it.
    pub fn load(path: &Path) -> Result<Words, ConfigError> {
        Ok(read::preset(&text_of(path)?, path)?)
    }
}

fn text_of(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path)
        .map_err(|error| ConfigError::Unreadable { path: path.to_owned(), reason: error.to_string() })
}

/// The rule with this code.
fn rule(code: &str) -> Option<&'static Rule> {
    CATALOGUE.iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}
