//! `retrylens rules`: lists the catalogue.

use super::args::{RulesArgs, RulesFormat};
use super::error::CliError;
use super::explain::no_rule;
use super::output;
use crate::render::{catalogue, rules_page, text};
use crate::rules::{CATALOGUE, Rule};
use std::io::Write;

pub(super) fn run(args: &RulesArgs) -> Result<u8, CliError> {
    let rules = select(&args.rules)?;
    if args.long && args.format != RulesFormat::Markdown {
        return Err(CliError::Usage("--long: only --format markdown has a long form; see also `explain`".to_owned()));
    }
    let mut out = output::stdout(args.color);
    let written = match args.format {
        RulesFormat::Text => text::rules(&rules, &output::text_options(), &mut out),
        RulesFormat::Json => catalogue::to_json(&rules, &mut out),
        RulesFormat::Markdown if args.long => rules_page::to_markdown(&rules, &mut out),
        RulesFormat::Markdown => catalogue::to_markdown(&rules, &mut out),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}

/// Returns the rules with these codes, names or code prefixes, in catalogue order; all rules if `words` is empty.
fn select(words: &[String]) -> Result<Vec<&'static Rule>, CliError> {
    let is_named = |rule: &Rule, word: &str| {
        let is_code = rule.code.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        (is_code && !word.is_empty()) || rule.name.eq_ignore_ascii_case(word)
    };
    let words: Vec<&str> = words.iter().flat_map(|word| word.split(',')).map(str::trim).collect();
    if let Some(unknown) = words.iter().find(|word| !CATALOGUE.iter().any(|rule| is_named(rule, word))) {
        return Err(no_rule(unknown));
    }
    let wanted = |rule: &&Rule| words.is_empty() || words.iter().any(|word| is_named(rule, word));
    Ok(CATALOGUE.iter().filter(wanted).collect())
}
