//! A rule in full: its meaning, the fields it needs, examples, what to do.

use super::examples;
use super::layout::{Fit, Text};
use super::page::Page;
use super::{TextOptions, style, words};
use crate::render::rule_facts::{Threshold, judged, needs, thresholds};
use crate::rules::{Example, Rule};
use std::io::{self, Write};

/// Width of the labels, in columns.
const LABEL_WIDTH: usize = 8;

/// Writes the full description of each of `rules`.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn explain(rules: &[&Rule], options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::over(None, *options, out);
    for (nth, rule) in rules.iter().enumerate() {
        if nth > 0 {
            page.blank()?;
        }
        write_rule(rule, &mut page)?;
    }
    Ok(())
}

fn write_rule(rule: &Rule, page: &mut Page<'_>) -> io::Result<()> {
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
    let silent = if rule.needs.is_empty() { "" } else { "; it stays silent without" };
    item("needs", &format!("{}{silent}", needs(rule, str::to_owned)), page)?;
    item("source", rule.source, page)?;
    for (nth, exception) in rule.exceptions().enumerate() {
        item(if nth == 0 { "but" } else { "" }, exception, page)?;
    }
    settings(rule, page)?;
    example("FIRES", "the first of its examples", rule.firing, page)?;
    example("STAYS SILENT", "alike, and in order", rule.near_misses, page)
}

fn item(label: &str, text: &str, page: &mut Page<'_>) -> io::Result<()> {
    page.hanging(Text::styled(style::FAINT, label), LABEL_WIDTH, &Text::plain(text))
}

fn settings(rule: &Rule, page: &mut Page<'_>) -> io::Result<()> {
    if rule.settings.is_empty() {
        return Ok(());
    }
    page.heading("THRESHOLDS", &format!("[rules.{}] and their defaults", rule.code))?;
    let rows: Vec<Threshold> = thresholds(rule).collect();
    let names = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let values = rows.iter().map(|row| row.default.len()).max().unwrap_or(0);
    for row in rows {
        let label = Text::plain(row.name)
            .fitted(names + 2, Fit::Words)
            .join(Text::styled(style::BOLD, row.default).fitted(values, Fit::Number))
            .then("  ");
        let hang = label.width();
        if hang > page.inner() / 2 {
            page.line(label)?;
            page.hanging(Text::new(), 2, &Text::plain(row.meaning))?;
        } else {
            page.hanging(label, hang, &Text::plain(row.meaning))?;
        }
    }
    Ok(())
}

/// Writes the first of `logs`, shortened.
fn example(title: &str, note: &str, logs: &[&str], page: &mut Page<'_>) -> io::Result<()> {
    let Some(example) = logs.first().map(|text| Example::of(text)) else { return Ok(()) };
    page.heading(title, note)?;
    for line in example.config.lines() {
        page.line(Text::plain(line))?;
    }
    let short = examples::shorten(example.log);
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
