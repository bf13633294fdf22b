//! `retrylens simulate --from-log`: replays an incident of a log under other policies.

use super::super::args::{InputArgs, PageForm, SimulateArgs};
use super::super::error::CliError;
use super::super::pages::{PageRequest, Pages};
use super::super::{charts, config as configuration, inputs, what_if};
use crate::config::Config;
use crate::ingest;
use crate::judge::judge;
use crate::render::{charts as drawn, html, json, markdown, text};
use crate::simulate::{Counterfactual, ReplayDocument, ReplayOptions, replay};
use std::io::Write;

pub(super) fn run(args: &SimulateArgs, config: &Config, pages: &Pages<'_>) -> Result<u8, CliError> {
    let counterfactual = counterfactual(args, config)?;
    let subject = args.from_log.join(", ");
    pages.write(|request: &PageRequest<'_>, out: &mut dyn Write| match request.form {
        PageForm::Text => text::what_if(&counterfactual, &subject, &request.text, out),
        PageForm::Json => json::pretty(&ReplayDocument::of(&counterfactual), out),
        PageForm::Markdown => markdown::what_if(&counterfactual, &subject, out),
        PageForm::Html => html::what_if(&counterfactual, &subject, out),
    })?;
    if let Some(folder) = &args.charts {
        charts::write(folder, &drawn::what_if(&counterfactual))?;
    }
    Ok(0)
}

fn counterfactual(args: &SimulateArgs, config: &Config) -> Result<Counterfactual, CliError> {
    let replay_options = ReplayOptions {
        attempts: super::one_number_of_attempts(args, "--from-log")?,
        base_s: args.base,
        cap_s: args.cap,
        is_in_analysis: false,
        ..what_if::options(config, ("--policy", &args.policy), args.reading.complete)?
    };
    let input = InputArgs { inputs: args.from_log.clone(), reading: args.reading.clone() };
    let reading = inputs::open(&input, args.page.verbose, |reading| reading.dialect = config.dialect())?;
    let ingested = reading.read(ingest::read)?;
    let options = configuration::options(config, Vec::new(), &input)?;
    let judgement = judge(&ingested.table, &options);
    inputs::require_calls(&ingested, &judgement, &options.filter)?;
    let all = what_if::incidents(&judgement.fleet);
    let found = match args.incident {
        Some(number) => all.get(number as usize - 1),
        None => all.iter().rev().max_by_key(|incident| incident.failed),
    };
    let Some(incident) = found else { return Err(no_incident(args, all.len())) };
    replay(&ingested.table, incident, &replay_options).map_err(CliError::Usage)?.ok_or_else(|| {
        CliError::NoAttempts(
            "no call of this incident can be followed, or its failures are none that waiting heals: there is nothing to \
             replay"
                .to_owned(),
        )
    })
}

fn no_incident(args: &SimulateArgs, all: usize) -> CliError {
    let place = args.from_log.join(", ");
    CliError::NoAttempts(match (args.incident, all) {
        (_, 0) => format!(
            "no incident in {place}: failures of one kind that come together, across runs or calls, are needed to replay \
             policies on"
        ),
        (Some(number), 1) => format!("no incident {number} in {place}: there is one, number 1"),
        (number, all) => {
            format!("no incident {} in {place}: there are {all}, numbered from 1", number.unwrap_or_default())
        }
    })
}
