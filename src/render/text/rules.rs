//! The catalogue of rules, with an entry each.

use super::layout::{Fit, Text};
use super::page::Page;
use super::{TextOptions, style, words};
use crate::model::Severity;
use crate::render::{catalogue::scope_name, rules_page::family_of};
use crate::rules::Rule;
use std::io::{self, Write};

/// Width of a code and the gap after it, in columns.
const CODE_WIDTH: usize = 7;

/// Writes an entry for each of `rules`, grouped by topic.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn rules(rules: &[&Rule], options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::over(None, *options, out);
    page.paragraph(&Text::styled(style::BOLD, head(rules)))?;
    let name_columns = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut family = None;
    for rule in rules {
        if family != Some(family_of(rule)) {
            family = Some(family_of(rule));
            page.heading(&family_of(rule).to_uppercase(), "")?;
        }
        entry(rule, name_columns, &mut page)?;
    }
    page.blank()?;
    page.remark("more about one: retrylens explain CODE")
}

fn head(rules: &[&Rule]) -> String {
    let of = |severity| rules.iter().filter(|rule| rule.severity == severity).count() as u64;
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];
    let kinds: Vec<String> = kinds.iter().map(|(severity, word)| words::counted(of(*severity), word)).collect();
    format!("{}: {}.", words::counted(rules.len() as u64, "rule"), kinds.join(", "))
}

fn entry(rule: &Rule, name_columns: usize, page: &mut Page<'_>) -> io::Result<()> {
    let label = Text::styled(style::BOLD, rule.code)
        .fitted(CODE_WIDTH, Fit::Words)
        .join(Text::plain(rule.name).fitted(name_columns, Fit::Words))
        .then("  ")
        .join(Text::styled(style::severity(rule.severity), rule.severity.name()).fitted(7, Fit::Words))
        .then("  ")
        .join(Text::plain(scope_name(rule.scope)).fitted(7, Fit::Words))
        .then("  ");
    let hang = label.width();
    let summary = Text::plain(rule.summary);
    // On a wide page the summary has room beside the name.
    if page.is_wide() {
        return page.hanging(label, hang, &summary);
    }
    page.line(label)?;
    page.hanging(Text::new(), CODE_WIDTH, &summary)
}
