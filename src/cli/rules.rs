//! `retrylens rules`: the catalogue.

use super::args::{RulesArgs, RulesFormat};
use super::error::CliError;
use super::output;
use crate::render::{catalogue, rules_page, text};
use crate::rules::{CATALOGUE, Rule};
use std::io::Write;

pub(super) fn run(args: &RulesArgs) -> Result<u8, CliError> {
    let rules: Vec<&Rule> = CATALOGUE.iter().collect();
    if args.long && args.format != RulesFormat::Markdown {
        return Err(CliError::Usage("--long: only --format markdown has a long form; see also `explain`".to_owned()));
    }
    let mut out = output::stdout(args.color);
    let written = match args.format {
        RulesFormat::Text => text::rules(&rules, &output::page(), &mut out),
        RulesFormat::Json => catalogue::to_json(&rules, &mut out),
        RulesFormat::Markdown if args.long => rules_page::to_markdown(&rules, &mut out),
        RulesFormat::Markdown => catalogue::to_markdown(&rules, &mut out),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}
