//! The parsed file, whose values carry their spans, and typed access to them.

use super::invalid::{InvalidConfig, did_you_mean};
use crate::classify::Class;
use crate::rules::CATALOGUE;
use glob::Pattern;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value with its span in the file.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// A file being read. Its accessors return an [`InvalidConfig`] with the position of a value of the wrong type or
/// range; `what` is the name of the value's key.
pub(super) struct File<'t> {
    pub(super) text: &'t str,
    pub(super) path: &'t Path,
}

impl File<'_> {
    pub(super) fn invalid(&self, span: Range<usize>, what: impl Into<String>) -> InvalidConfig {
        InvalidConfig::at(self.path, self.text, span, what)
    }

    /// Returns the line where `span` begins, from 1.
    pub(super) fn line(&self, span: Range<usize>) -> usize {
        self.invalid(span, "").line
    }

    pub(super) fn unknown_key(&self, span: Range<usize>, key: &str, known: &[&str], of: &str) -> InvalidConfig {
        let all = format!("{of} may have {}", known.join(", "));
        self.invalid(span, format!("no key `{key}` here{}", did_you_mean(key, known.iter().copied(), &all)))
    }

    fn wrong_type(&self, value: &Value<'_>, what: &str, wanted: &str) -> InvalidConfig {
        let is = type_name(value.get_ref());
        self.invalid(value.span(), format!("`{what}` must be {wanted}, not {is}"))
    }

    pub(super) fn table<'v, 'i>(&self, value: &'v Value<'i>, what: &str) -> Result<&'v DeTable<'i>, InvalidConfig> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong_type(value, what, "a table")),
        }
    }

    pub(super) fn list<'v, 'i>(&self, value: &'v Value<'i>, what: &str) -> Result<&'v [Value<'i>], InvalidConfig> {
        match value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(self.wrong_type(value, what, "a list")),
        }
    }

    pub(super) fn string<'v>(&self, value: &'v Value<'_>, what: &str) -> Result<&'v str, InvalidConfig> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type(value, what, "a string")),
        }
    }

    /// Reads a string, number or boolean as text.
    pub(super) fn scalar_text(&self, value: &Value<'_>, what: &str) -> Result<String, InvalidConfig> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(whole) => Ok(whole.as_str().to_owned()),
            DeValue::Float(float) => Ok(float.as_str().to_owned()),
            DeValue::Boolean(boolean) => Ok(boolean.to_string()),
            _ => Err(self.wrong_type(value, what, "a string, a number, or true or false")),
        }
    }

    pub(super) fn boolean(&self, value: &Value<'_>, what: &str) -> Result<bool, InvalidConfig> {
        match value.get_ref() {
            DeValue::Boolean(boolean) => Ok(*boolean),
            _ => Err(self.wrong_type(value, what, "true or false")),
        }
    }

    /// Reads a finite number of 0 or more; no threshold has a meaning below 0.
    pub(super) fn number(&self, value: &Value<'_>, what: &str) -> Result<f64, InvalidConfig> {
        let number = match value.get_ref() {
            DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix()).ok().map(|n| n as f64),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => return Err(self.wrong_type(value, what, "a number")),
        };
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.invalid(value.span(), format!("`{what}` must be 0 or more")))
    }

    /// Reads a whole number of 1 or more.
    pub(super) fn count(&self, value: &Value<'_>, what: &str) -> Result<u32, InvalidConfig> {
        let number = self.number(value, what)?;
        let is_count = number >= 1.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX);
        // The cast is exact: the range was checked above.
        is_count
            .then_some(number as u32)
            .ok_or_else(|| self.invalid(value.span(), format!("`{what}` must be a whole number of 1 or more")))
    }

    /// Reads a glob pattern over names, with the wildcards `*` and `?`.
    pub(super) fn pattern(&self, value: &Value<'_>, what: &str) -> Result<Pattern, InvalidConfig> {
        Pattern::new(self.string(value, what)?)
            .map_err(|error| self.invalid(value.span(), format!("`{what}` is no pattern: {}", error.msg)))
    }

    /// Finds a failure class by its name.
    pub(super) fn class(&self, value: &Value<'_>, word: &str) -> Result<Class, InvalidConfig> {
        Class::ALL.into_iter().find(|class| class.name() == word).ok_or_else(|| {
            let names = Class::ALL.map(Class::name);
            let all = format!("there are {}", names.join(", "));
            self.invalid(value.span(), format!("no class `{word}`{}", did_you_mean(word, names, &all)))
        })
    }

    /// Reads a date, with or without quotes.
    pub(super) fn date(&self, value: &Value<'_>, what: &str) -> Result<chrono::NaiveDate, InvalidConfig> {
        let date = match value.get_ref() {
            DeValue::Datetime(date) if date.time.is_none() => date.to_string().parse().ok(),
            DeValue::String(text) => text.parse().ok(),
            _ => None,
        };
        date.ok_or_else(|| self.invalid(value.span(), format!("`{what}` must be a date such as 2026-12-31")))
    }

    /// Reads the code of a rule or a prefix of codes, in upper case.
    pub(super) fn rule_prefix(&self, value: &Value<'_>, what: &str) -> Result<String, InvalidConfig> {
        let prefix = self.string(value, what)?;
        if CATALOGUE.iter().any(|rule| rule.begins_with(prefix)) {
            return Ok(prefix.to_ascii_uppercase());
        }
        Err(self.unknown_rule(value.span(), prefix))
    }

    pub(super) fn rule_list(&self, value: &Value<'_>, what: &str) -> Result<Vec<String>, InvalidConfig> {
        self.list(value, what)?.iter().map(|value| self.rule_prefix(value, what)).collect()
    }

    pub(super) fn unknown_rule(&self, span: Range<usize>, word: &str) -> InvalidConfig {
        // Users may write the name of a rule where its code is expected.
        if let Some(rule) = CATALOGUE.iter().find(|rule| rule.name.eq_ignore_ascii_case(word)) {
            return self.invalid(span, format!("no rule `{word}`; did you mean `{}`?", rule.code));
        }
        let suggestion = did_you_mean(word, CATALOGUE.iter().map(|rule| rule.code), "`retrylens rules` lists all");
        self.invalid(span, format!("no rule `{word}`{suggestion}"))
    }
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
