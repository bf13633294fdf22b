//! The catalogue as one Markdown document: every rule with its reasons, thresholds and an example.

use super::rule_facts::{Threshold, judged, needs, thresholds};
use crate::rules::{Example, Rule};
use std::io::{self, Write};

/// Titles of the groups of rules, by the first digit of their codes.
const FAMILIES: [(char, &str); 8] = [
    ('1', "Retried, and should not have been"),
    ('2', "Given up, and should not have been"),
    ('3', "Waited wrongly"),
    ('4', "Layers and amplification"),
    ('5', "The fleet and its limits"),
    ('6', "Side effects and cost"),
    ('7', "What a gateway did to the error"),
    ('8', "The log itself"),
];

/// Maximum number of lines shown of an example.
const MAX_EXAMPLE_LINES: usize = 6;
/// Maximum number of characters shown of a line.
const MAX_LINE_CHARS: usize = 400;

const HEAD: &str = "\
# Rules

Made by `retrylens rules --format markdown --long`; do not edit.

Thresholds are set under `[rules.CODE]` of `retrylens.toml`, beside `enabled` and `severity`. A rule that lacks the
fields it needs stays silent, and the report says so. Examples are logs in which the rule fires.
";

/// Writes the full description of each of `rules` as Markdown.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn to_markdown(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    let mut family = None;
    for rule in rules {
        let rule_family = family_of(rule);
        if family != Some(rule_family) {
            family = Some(rule_family);
            write!(out, "\n## {rule_family}\n")?;
        }
        write_rule(rule, out)?;
    }
    Ok(())
}

/// Returns the title of the group a rule belongs to.
pub(super) fn family_of(rule: &Rule) -> &'static str {
    let group_digit = rule.code.chars().nth(2);
    FAMILIES.iter().find(|(digit, _)| Some(*digit) == group_digit).map_or("Other", |(_, family)| family)
}

fn write_rule(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let (severity, scope) = (rule.severity.name(), judged(rule.scope));
    write!(out, "\n### {} {}\n\n**{severity}**, judged {scope}. {}\n\n", rule.code, rule.name, text(rule.summary))?;
    for (label, words) in [("Why", rule.why), ("Fix", rule.fix), ("Source", rule.source)] {
        writeln!(out, "- {label}: {}", text(words))?;
    }
    writeln!(out, "- Needs: {}", needs(rule, |field| format!("`{field}`")))?;
    for (nth, exception) in rule.exceptions().enumerate() {
        writeln!(out, "{}  - {}", if nth == 0 { "- Exceptions and tolerances:\n" } else { "" }, text(exception))?;
    }
    settings(rule, out)?;
    example(rule, out)
}

fn settings(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    if rule.settings.is_empty() {
        return Ok(());
    }
    out.write_all(b"\n| threshold | default | meaning |\n| --- | --- | --- |\n")?;
    for Threshold { name, default, meaning } in thresholds(rule) {
        writeln!(out, "| `{name}` | {} | {} |", cell(&default), cell(meaning))?;
    }
    Ok(())
}

fn example(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let Some(Example { config, log }) = rule.firing.first().map(|text| Example::of(text)) else { return Ok(()) };
    if !config.is_empty() {
        write!(out, "\n```toml\n{config}\n```\n")?;
    }
    let count = log.lines().count();
    out.write_all(b"\n```json\n")?;
    for line in log.lines().take(MAX_EXAMPLE_LINES) {
        let cut = line.chars().count() > MAX_LINE_CHARS;
        let shown: String = line.chars().take(MAX_LINE_CHARS).collect();
        writeln!(out, "{shown}{}", if cut { "..." } else { "" })?;
    }
    out.write_all(b"```\n")?;
    match count.saturating_sub(MAX_EXAMPLE_LINES) {
        0 => Ok(()),
        1 => out.write_all(b"\nand 1 more line.\n"),
        more => writeln!(out, "\nand {more} more lines."),
    }
}

/// Escapes the characters that could begin HTML or emphasis by accident.
pub(super) fn text(words: &str) -> String {
    words.replace('<', "\\<").replace('*', "\\*")
}

fn cell(words: &str) -> String {
    text(words).replace('|', "\\|")
}
