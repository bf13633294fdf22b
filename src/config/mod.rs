//! `retrylens.toml`: which rules apply, their thresholds and severities, and which findings are suppressed.
//!
//! The file is read into plain data, [`Config`]. Every key and value is checked, and errors carry their position.

mod classify;
mod fields;
mod file;
mod find;
mod invalid;
mod policy;
mod preset;
mod prices;
mod read;
mod rules;
mod schema;
mod show;
mod suppress;

pub use find::{NAME, find};
pub use invalid::{InvalidConfig, did_you_mean, most_similar};
pub use preset::{CustomKey, Preset};
pub use schema::schema;
pub(crate) use show::{fields_table, quoted};
pub use show::{policy_keys, show};
pub use suppress::Suppress;

use crate::ingest::Dialect;
use crate::judge::Suppression;
use crate::model::{Policies, Prices, Severity};
use crate::rules::{CATALOGUE, Rule, Settings};
use chrono::NaiveDate;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Contents of a `retrylens.toml`.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Path of the file it was read from; `None` if there is no file.
    pub path: Option<PathBuf>,
    /// Codes and code prefixes of the rules to apply; empty for all.
    pub select: Vec<String>,
    /// Codes and code prefixes of rules to leave out.
    pub ignore: Vec<String>,
    /// Changes to single rules, by code.
    pub rules: BTreeMap<&'static str, RuleConfig>,
    /// Declared retry policies.
    pub policies: Policies,
    /// Prices of tokens, by model.
    pub prices: Prices,
    /// How keys, lines and errors of a custom logger or provider are read.
    pub preset: Preset,
    /// Findings that are known and accepted.
    pub suppress: Vec<Suppress>,
}

/// Changes to one rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleConfig {
    /// Turns the rule on or off, overriding `select` and `ignore`.
    pub enabled: Option<bool>,
    /// Severity of all its findings.
    pub severity: Option<Severity>,
    /// Thresholds by name.
    pub thresholds: BTreeMap<&'static str, f64>,
}

/// Why a configuration file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// The content is invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidConfig),
}

impl Config {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or the first error in its content.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        Ok(Config::parse(&text_of(path)?, path)?)
    }

    /// Parses `text`; `path` is used in error messages, and presets of `include` are found relative to its folder.
    ///
    /// # Errors
    /// Returns the first error in the text, or in a preset it includes.
    pub fn parse(text: &str, path: &Path) -> Result<Config, InvalidConfig> {
        read::config(text, path)
    }

    /// Returns whether a rule is applied.
    #[must_use]
    pub fn wants(&self, rule: &Rule) -> bool {
        let named = |list: &[String]| list.iter().any(|prefix| rule.begins_with(prefix));
        let enabled = self.rules.get(rule.code).and_then(|rule| rule.enabled);
        enabled.unwrap_or_else(|| (self.select.is_empty() || named(&self.select)) && !named(&self.ignore))
    }

    /// Returns the configured severity of a rule, if any.
    #[must_use]
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        self.rules.get(rule.code)?.severity
    }

    /// Returns the configured severities, by code.
    #[must_use]
    pub fn severities(&self) -> BTreeMap<&'static str, Severity> {
        self.rules.iter().filter_map(|(code, rule)| Some((*code, rule.severity?))).collect()
    }

    /// Returns the settings of the rules: thresholds and declared policies.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let all =
            self.rules.iter().flat_map(|(code, rule)| rule.thresholds.iter().map(move |(name, x)| (*code, *name, *x)));
        Settings::with(all).declaring(self.policies.clone())
    }

    /// Returns how records are read: field mapping, line patterns, failure classes and prices.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        Dialect {
            fields: self.preset.mapping(),
            lines: self.preset.lines.clone(),
            failures: self.preset.classify.clone(),
            prices: self.prices.clone(),
        }
    }

    /// Returns the suppressions not expired on `today`.
    #[must_use]
    pub fn suppressions(&self, today: NaiveDate) -> Vec<Suppression> {
        self.suppress
            .iter()
            .filter(|suppression| !suppression.is_expired(today))
            .map(Suppress::to_suppression)
            .collect()
    }

    /// Returns a sentence for every suppression that has expired by `today`.
    #[must_use]
    pub fn expired(&self, today: NaiveDate) -> Vec<String> {
        self.suppress.iter().filter(|suppression| suppression.is_expired(today)).map(Suppress::expiry_notice).collect()
    }
}

impl Preset {
    /// Reads a preset: a file with `fields`, `constants`, `lines` and `classify` only.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or the first error in its content.
    pub fn load(path: &Path) -> Result<Preset, ConfigError> {
        Ok(read::preset(&text_of(path)?, path)?)
    }
}

fn text_of(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path)
        .map_err(|error| ConfigError::Unreadable { path: path.to_owned(), reason: error.to_string() })
}

/// Finds a rule by its code, ignoring case.
fn rule(code: &str) -> Option<&'static Rule> {
    CATALOGUE.iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}
