//! One rule in full: what it means, what it needs, examples, what to do.

use super::examples;
use super::layout::{Fit, Text};
use super::page::Page;
use super::{TextOptions, style, words};
use crate::render::catalogue::scope_name;
use crate::rules::{Rule, Scope, Setting};
use std::io::{self, Write};

/// Columns of the labels.
const HANG: usize = 8;

/// Writes all there is to know of each of `rules`.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn explain(rules: &[&Rule], options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::over(None, *options, out);
    for (nth, rule) in rules.iter().enumerate() {
        if nth > 0 {
            page.blank()?;
        }
        in_full(rule, &mut page)?;
    }
    Ok(())
}

fn in_full(rule: &Rule, page: &mut Page<'_>) -> io::Result<()> {
    let severity = style::severity(rule.severity);
    let head = Text::styled(style::BOLD, format!("{} {}", rule.code, rule.name))
        .then("  ")
        .and(severity.bold(), rule.severity.name())
        .and(style::FAINT, format!(", judged {}", judged(rule.scope)));
    page.paragraph(&head)?;
    page.paragraph(&Text::plain(rule.summary))?;
    page.blank()?;
    item("why", rule.why, page)?;
    item("fix", rule.fix, page)?;
    item("needs", &needs(rule), page)?;
    item("source", rule.source, page)?;
    settings(rule, page)?;
    example("FIRES", "the first of its examples", rule.firing, page)?;
    example("STAYS SILENT", "alike, and in order", rule.near_misses, page)
}

fn item(label: &str, text: &str, page: &mut Page<'_>) -> io::Result<()> {
    page.hanging(Text::styled(style::FAINT, label), HANG, &Text::plain(text))
}

const fn judged(scope: Scope) -> &'static str {
    match scope {
        Scope::Attempt => "attempt by attempt",
        Scope::Call => "call by call",
        Scope::Run => "run by run",
        Scope::Fleet => "over all runs",
    }
}

fn needs(rule: &Rule) -> String {
    let fields: Vec<&str> = rule.needs.iter().map(|field| field.name()).collect();
    match fields.as_slice() {
        [] => format!("nothing beyond the {} itself", scope_name(rule.scope)),
        fields => format!("{}; it stays silent without", fields.join(", ")),
    }
}

fn settings(rule: &Rule, page: &mut Page<'_>) -> io::Result<()> {
    if rule.settings.is_empty() {
        return Ok(());
    }
    page.heading("THRESHOLDS", &format!("[rules.{}] and their defaults", rule.code))?;
    let names = rule.settings.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    let values = rule.settings.iter().map(|setting| value(setting).len()).max().unwrap_or(0);
    for setting in rule.settings {
        let label = Text::plain(setting.name)
            .fitted(names + 2, Fit::Words)
            .join(Text::styled(style::BOLD, value(setting)).fitted(values, Fit::Number))
            .then("  ");
        let hang = label.width();
        if hang > page.inner() / 2 {
            page.line(label)?;
            page.hanging(Text::new(), 2, &Text::plain(setting.meaning))?;
        } else {
            page.hanging(label, hang, &Text::plain(setting.meaning))?;
        }
    }
    Ok(())
}

fn value(setting: &Setting) -> String {
    format!("{} {}", setting.default, setting.unit).trim_end().to_owned()
}

/// The first of `logs`, shortened.
fn example(title: &str, note: &str, logs: &[&str], page: &mut Page<'_>) -> io::Result<()> {
    let Some(log) = logs.first() else { return Ok(()) };
    page.heading(title, note)?;
    let short = examples::shorten(log);
    if !short.common.is_empty() {
        page.item(&Text::styled(style::FAINT, format!("each: {}", short.common)), 6, 3)?;
    }
    let hang = short.lines.iter().map(|line| line.at.len()).max().unwrap_or(0) + 2;
    for line in &short.lines {
        let label = Text::plain(&line.at).fitted(hang - 2, Fit::Number).then("  ");
        page.hanging(label, hang, &Text::plain(&line.rest))?;
    }
    if short.more > 0 {
        page.remark(&format!("and {}", words::counted(short.more as u64, "more record")))?;
    }
    Ok(())
}
