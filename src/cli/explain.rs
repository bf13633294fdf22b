//! `retrylens explain`.

use super::args::{ExplainArgs, Format};
use super::error::CliError;
use super::output;
use crate::config::most_similar;
use crate::render::{catalogue, text};
use crate::rules::{CATALOGUE, Rule};
use std::io::Write;

pub(super) fn run(args: &ExplainArgs) -> Result<u8, CliError> {
    let rules = args.rules.iter().map(|word| find(word.trim())).collect::<Result<Vec<&Rule>, CliError>>()?;
    let mut out = output::stdout(args.color);
    let written = match args.format {
        Format::Text => text::explain(&rules, &output::text_options(), &mut out),
        Format::Json => catalogue::to_json(&rules, &mut out),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}

/// Returns the rule with this code or name, in any case.
fn find(word: &str) -> Result<&'static Rule, CliError> {
    find_rule(word).ok_or_else(|| no_rule(word))
}

fn find_rule(word: &str) -> Option<&'static Rule> {
    let is_it = |rule: &&Rule| rule.code.eq_ignore_ascii_case(word) || rule.name.eq_ignore_ascii_case(word);
    CATALOGUE.iter().find(is_it)
}

/// Error for an unknown rule, with suggestions.
pub(super) fn no_rule(word: &str) -> CliError {
    let like = most_similar(word, CATALOGUE.iter().flat_map(|rule| [rule.code, rule.name]));
    let mut meant: Vec<String> =
        like.into_iter().filter_map(find_rule).map(|rule| format!("{} {}", rule.code, rule.name)).collect();
    meant.dedup();
    let like = if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(" or ")) };
    CliError::Usage(format!("no rule `{word}`{like} (`retrylens rules` lists all)"))
}
