//! `retrylens explain`: one rule and all there is to know of it.

use super::args::{ExplainArgs, Format};
use super::error::CliError;
use super::output;
use crate::config::did_you_mean;
use crate::render::{catalogue, text};
use crate::rules::{CATALOGUE, Rule};
use std::io::Write;

pub(super) fn run(args: &ExplainArgs) -> Result<u8, CliError> {
    let rules = args.rules.iter().map(|word| find(word.trim())).collect::<Result<Vec<&Rule>, CliError>>()?;
    let mut out = output::stdout(args.color);
    match args.format {
        Format::Text => text::explain(&rules, &output::page(), &mut out),
        Format::Json => catalogue::to_json(&rules, &mut out),
    }
    .and_then(|()| out.flush())
    .map_err(CliError::Stdout)?;
    Ok(0)
}

/// The rule with this code or name, whatever its case.
fn find(word: &str) -> Result<&'static Rule, CliError> {
    let is_it = |rule: &&Rule| rule.code.eq_ignore_ascii_case(word) || rule.name.eq_ignore_ascii_case(word);
    CATALOGUE.iter().find(is_it).ok_or_else(|| no_rule(word))
}

/// Says that there is none, and which was probably meant.
pub(super) fn no_rule(word: &str) -> CliError {
    let known = CATALOGUE.iter().flat_map(|rule| [rule.code, rule.name]);
    CliError::Usage(format!("no rule `{word}`{}", did_you_mean(word, known, "`retrylens rules` lists all")))
}
