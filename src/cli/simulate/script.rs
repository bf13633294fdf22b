//! `retrylens simulate --script`: simulates one client against a scripted server.

use super::super::args::{PageForm, SimulateArgs};
use super::super::error::CliError;
use super::super::pages::{PageRequest, Pages};
use super::terms::names;
use crate::policy::Strategy;
use crate::render::{html, json, markdown, text};
use crate::simulate::{PolicyTerms, Script, play};
use std::io::Write;

/// Plays the script to the first policy given; by default the declared one, or else full jitter.
pub(super) fn run(args: &SimulateArgs, script: &str, terms: &PolicyTerms, pages: &Pages<'_>) -> Result<u8, CliError> {
    super::one_number_of_attempts(args, "--script")?;
    let script = Script::parse(script).map_err(|reason| CliError::Usage(format!("--script: {reason}")))?;
    let default = if terms.declared.is_some() { "declared" } else { "full-jitter" };
    let policies =
        terms.read(&names(&args.policy, &[default])).map_err(|error| CliError::Usage(format!("--policy: {error}")))?;
    let Some(policy) = policies.first() else { return Ok(0) };
    // A script shows a single client, which is taken to obey the server's hints.
    let strategy = Strategy { obeys_hints: true, ..policy.strategy.clone() };
    let call = play(&script, &strategy, &policy.name, args.seed);
    pages.write(|request: &PageRequest<'_>, out: &mut dyn Write| match request.form {
        PageForm::Text => text::scripted(&call, &request.text, out),
        PageForm::Json => json::pretty(&call, out),
        PageForm::Markdown => markdown::scripted(&call, out),
        PageForm::Html => html::scripted(&call, out),
    })?;
    Ok(0)
}
