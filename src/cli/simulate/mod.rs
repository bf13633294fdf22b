//! `retrylens simulate`: simulates retry policies against an endpoint of limited capacity.

mod emit;
mod from_log;
mod script;
mod terms;

use super::args::{PageForm, SimulateArgs};
use super::error::CliError;
use super::pages::{PageRequest, Pages};
use super::{charts, config, inputs};
use crate::model::Zone;
use crate::render::{charts as drawn, html, json, markdown, text};
use crate::simulate::{Capacity, Setup, Simulation, Variation, cases, study};
use std::io::Write;

pub(super) fn run(args: &SimulateArgs) -> Result<u8, CliError> {
    let pages = Pages::parse(&args.page, Zone::UTC, &[])?;
    let config = config::load(&args.config)?;
    let terms = terms::terms(args, &config);
    if !args.from_log.is_empty() {
        return from_log::run(args, &config, &pages);
    }
    if let Some(script) = &args.script {
        inputs::require_log(&args.reading, "a script has no calls of a log")?;
        return script::run(args, script, &terms, &pages);
    }
    if !terms::reads_log(args) {
        inputs::require_log(&args.reading, "add --from-log LOG or --arrivals log=FILE")?;
    }
    let names = terms::names(&args.policy, &["none", "fixed", "exponential", "full-jitter"]);
    let variation = Variation {
        attempts: if args.attempts.is_empty() { vec![terms::ATTEMPTS] } else { args.attempts.clone() },
        capacities: args.capacity.clone(),
        seed: args.seed,
        seeds: u64::from(args.seeds),
    };
    let cases = cases(&names, &terms, &variation).map_err(|error| CliError::Usage(format!("--policy: {error}")))?;
    let endpoint = terms::endpoint(args)?;
    let setup = |capacity| Setup {
        capacity: endpoint.of(capacity),
        second: endpoint.of(args.second_capacity.unwrap_or(capacity)),
        ..endpoint.setup.clone()
    };
    if let Some(path) = &args.emit {
        emit::write(path, args, &cases, setup)?;
    }
    let simulation = Simulation::new(terms::model(args, &terms, &endpoint), study(&cases, &variation, setup));
    pages.write(|request: &PageRequest<'_>, out: &mut dyn Write| match request.form {
        PageForm::Text => text::simulation(&simulation, &request.text, out),
        PageForm::Json => json::pretty(&simulation, out),
        PageForm::Markdown => markdown::simulation(&simulation, out),
        PageForm::Html => html::simulation(&simulation, out),
    })?;
    if let Some(folder) = &args.charts {
        charts::write(folder, &drawn::simulation(&simulation))?;
    }
    Ok(0)
}

/// Returns the number of attempts given, if any. Fails if several are, which `option` cannot compare.
fn one_number_of_attempts(args: &SimulateArgs, option: &str) -> Result<Option<u32>, CliError> {
    match args.attempts.as_slice() {
        [] | [_] => Ok(args.attempts.first().copied()),
        _ => Err(CliError::Usage(format!(
            "--attempts: {option} takes one number; policies may have their own, as in full-jitter+attempts=8"
        ))),
    }
}

impl terms::EndpointTerms {
    fn of(&self, capacity: u64) -> Capacity {
        if self.at_once { Capacity::AtOnce(capacity) } else { Capacity::per_step(capacity) }
    }
}
