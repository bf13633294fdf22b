//! `[[suppress]]`: accepted findings, with a reason and an optional expiry date.

use super::file::{File, Value};
use super::invalid::InvalidConfig;
use crate::classify::Class;
use crate::judge::Suppression;
use chrono::NaiveDate;
use glob::Pattern;

/// Keys of one entry.
const KEYS: [&str; 7] = ["rule", "run", "model", "provider", "class", "reason", "expires"];

/// An entry of `[[suppress]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Suppress {
    /// Line on which it begins, from 1.
    pub line: usize,
    /// Code of a rule, or a prefix of codes.
    pub rule: String,
    /// Runs it applies to; all if `None`.
    pub run: Option<Pattern>,
    /// Models it applies to; all if `None`.
    pub model: Option<Pattern>,
    /// Providers it applies to; all if `None`.
    pub provider: Option<Pattern>,
    /// Failure classes it applies to; all if `None`.
    pub class: Option<Pattern>,
    /// Why the findings are accepted.
    pub reason: String,
    /// Last day on which it applies, in UTC.
    pub expires: Option<NaiveDate>,
}

impl Suppress {
    /// Returns whether its last day is before `today`.
    #[must_use]
    pub fn is_expired(&self, today: NaiveDate) -> bool {
        self.expires.is_some_and(|last| today > last)
    }

    /// Converts the entry to the options of a judgement.
    pub(super) fn to_suppression(&self) -> Suppression {
        Suppression {
            rule: self.rule.clone(),
            run: self.run.clone(),
            model: self.model.clone(),
            provider: self.provider.clone(),
            class: self.class.clone(),
            label: self.label(),
        }
    }

    /// Returns the notice that the suppression has expired.
    pub(super) fn expiry_notice(&self) -> String {
        let date = self.expires.map_or_else(String::new, |date| format!(" on {date}"));
        format!("{} has expired{date}: its findings count again", self.label())
    }

    fn label(&self) -> String {
        format!("suppression of {} (line {}: {})", self.rule, self.line, self.reason)
    }
}

/// Reads all entries.
pub(super) fn read(file: &File<'_>, value: &Value<'_>) -> Result<Vec<Suppress>, InvalidConfig> {
    file.list(value, "suppress")?.iter().map(|value| read_entry(file, value)).collect()
}

fn read_entry(file: &File<'_>, value: &Value<'_>) -> Result<Suppress, InvalidConfig> {
    let (mut rule, mut reason, mut expires) = (None, None, None);
    let [mut run, mut model, mut provider, mut class] = [const { None }; 4];
    for (key, value) in file.table(value, "suppress")? {
        match key.get_ref().as_ref() {
            "rule" => rule = Some(file.rule_prefix(value, "rule")?),
            "run" => run = Some(file.pattern(value, "run")?),
            "model" => model = Some(file.pattern(value, "model")?),
            "provider" => provider = Some(file.pattern(value, "provider")?),
            "class" => class = Some(class_pattern(file, value)?),
            "reason" => reason = Some(reason_text(file, value)?),
            "expires" => expires = Some(file.date(value, "expires")?),
            other => return Err(file.unknown_key(key.span(), other, &KEYS, "an entry of `suppress`")),
        }
    }
    let missing = |key| file.invalid(value.span(), format!("this entry of `suppress` has no `{key}`"));
    Ok(Suppress {
        line: file.line(value.span()),
        rule: rule.ok_or_else(|| missing("rule"))?,
        reason: reason.ok_or_else(|| missing("reason"))?,
        run,
        model,
        provider,
        class,
        expires,
    })
}

fn reason_text(file: &File<'_>, value: &Value<'_>) -> Result<String, InvalidConfig> {
    let text = file.string(value, "reason")?.trim();
    if text.is_empty() {
        return Err(file.invalid(value.span(), "`reason` must say why"));
    }
    Ok(text.to_owned())
}

/// Reads a glob pattern of failure classes; one that matches no class is an error.
fn class_pattern(file: &File<'_>, value: &Value<'_>) -> Result<Pattern, InvalidConfig> {
    let pattern = file.pattern(value, "class")?;
    if !Class::ALL.iter().any(|class| pattern.matches(class.name())) {
        file.class(value, pattern.as_str())?;
    }
    Ok(pattern)
}
