//! Converts arguments to the policies and the endpoint of a simulation.

use super::super::args::{InputArgs, SimulateArgs};
use super::super::error::CliError;
use super::super::inputs;
use crate::config::{Config, did_you_mean};
use crate::ingest;
use crate::model::{Jitter, Schedule};
use crate::policy::Strategy;
use crate::simulate::{Arrivals, Capacity, Model, PolicyTerms, Service, Setup, arrivals_of};

/// Default number of attempts of a task.
pub(super) const ATTEMPTS: u32 = 5;

/// Returns the policies named, or else `default`.
pub(super) fn names(named: &[String], default: &[&str]) -> Vec<String> {
    if named.is_empty() { default.iter().map(|name| (*name).to_owned()).collect() } else { named.to_vec() }
}

/// Builds the settings common to all policies, and the policy that the configuration declares.
pub(super) fn terms(args: &SimulateArgs, config: &Config) -> PolicyTerms {
    let schedule = Schedule {
        base_s: args.base.unwrap_or(1.0),
        factor: args.factor.unwrap_or(2.0),
        cap_s: args.cap.unwrap_or(f64::INFINITY),
        jitter: Jitter::Full,
    };
    let is_limited_by_budget_only = args.budget.is_some() && args.attempts.is_empty();
    let attempts = args.attempts.first().copied().unwrap_or(ATTEMPTS);
    let base = Strategy {
        max_attempts: (!is_limited_by_budget_only).then_some(attempts),
        gate: args.gate,
        obeys_hints: args.gate,
        fallback_after: args.fallback_after,
        budget_s: args.budget,
        ..Strategy::plain(schedule, attempts)
    };
    let declared = config.policies.iter().next().map(|policy| Strategy::declared(policy, &base));
    PolicyTerms { base, declared }
}

/// An endpoint, except for its capacity.
pub(super) struct EndpointTerms {
    pub(super) setup: Setup,
    /// Whether capacity is the number of attempts served at once, rather than in a tick.
    pub(super) at_once: bool,
    arrivals: String,
    service: String,
}

/// Builds the endpoint from the arguments.
pub(super) fn endpoint(args: &SimulateArgs) -> Result<EndpointTerms, CliError> {
    let steps_per_s = 1.0 / args.tick;
    let (arrivals, arrivals_in_words) = arrivals(args, steps_per_s)?;
    let service = service(args, steps_per_s)?;
    let setup = Setup {
        arrivals,
        // Set for each case.
        capacity: Capacity::per_step(0),
        second: Capacity::per_step(0),
        service: service.clone().unwrap_or(Service::Fixed(1)),
        refusal: 0,
        hint_s: args.retry_after,
        horizon: args.horizon,
        steps_per_s,
        min_wait: 1,
    };
    let in_words = args.service.clone().unwrap_or_else(|| "one tick".to_owned());
    Ok(EndpointTerms { setup, at_once: service.is_some(), arrivals: arrivals_in_words, service: in_words })
}

/// Whether arrivals are read from a log.
pub(super) fn reads_log(args: &SimulateArgs) -> bool {
    args.arrivals.starts_with("log=")
}

fn arrivals(args: &SimulateArgs, steps_per_s: f64) -> Result<(Arrivals, String), CliError> {
    let text = args.arrivals.as_str();
    let (word, figure) = text.split_once('=').unwrap_or((text, ""));
    match word {
        "burst" if figure.is_empty() => Ok((Arrivals::Burst(args.tasks), "all at once".to_owned())),
        "poisson" => {
            let rate =
                positive(figure).ok_or_else(|| invalid_value(text, "arrivals", "a rate a second, as in poisson=4"))?;
            let words = format!("{figure} a second, independent of each other");
            Ok((Arrivals::Poisson(args.tasks, steps_per_s / rate), words))
        }
        "burst" => Err(invalid_value(text, "arrivals", "burst alone: --tasks says how many")),
        "log" if figure.is_empty() => {
            Err(invalid_value(text, "arrivals", "the path of a log, as in log=attempts.jsonl"))
        }
        "log" => log(figure, args, steps_per_s),
        _ => {
            let known = "there are burst, poisson=RATE and log=FILE";
            let like = did_you_mean(word, ["burst", "poisson", "log"], known);
            Err(CliError::Usage(format!("--arrivals {text}: no such arrivals{like}")))
        }
    }
}

/// Arrivals at the times of the first attempts of a log's calls.
fn log(path: &str, args: &SimulateArgs, steps_per_s: f64) -> Result<(Arrivals, String), CliError> {
    let input = InputArgs { inputs: vec![path.to_owned()], reading: args.reading.clone() };
    let filter = inputs::filter(&input)?;
    let ingested = inputs::open(&input, args.page.verbose, |_| ())?.read(ingest::read)?;
    let times = arrivals_of(&ingested.table, &filter, args.reading.complete);
    let Some(first) = times.first().copied() else {
        let filter_options = args.reading.filter_options().join(", ");
        return Err(CliError::NoAttempts(format!("no call of {path} is left by {filter_options}")));
    };
    let steps = times.iter().map(|us| ((us - first) as f64 / 1e6 * steps_per_s) as u64).collect();
    Ok((Arrivals::At(steps), format!("as the calls of {path}")))
}

fn service(args: &SimulateArgs, steps_per_s: f64) -> Result<Option<Service>, CliError> {
    let Some(text) = args.service.as_deref() else { return Ok(None) };
    let (word, figure) = text.split_once('=').unwrap_or((text, ""));
    let mean = positive(figure).map(|mean| mean * steps_per_s);
    match (word, mean) {
        ("fixed", Some(steps)) => Ok(Some(Service::Fixed((steps.round() as u64).max(1)))),
        ("exponential", Some(mean)) => Ok(Some(Service::Exponential(mean))),
        ("fixed" | "exponential", None) => Err(invalid_value(text, "service", "seconds, as in fixed=0.8")),
        _ => {
            let like = did_you_mean(word, ["fixed", "exponential"], "there are fixed=SECONDS and exponential=MEAN");
            Err(CliError::Usage(format!("--service {text}: no such service{like}")))
        }
    }
}

fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0)
}

fn invalid_value(text: &str, option: &str, wanted: &str) -> CliError {
    CliError::Usage(format!("--{option} {text}: give {wanted}"))
}

/// Describes the model in the output.
pub(super) fn model(args: &SimulateArgs, terms: &PolicyTerms, endpoint: &EndpointTerms) -> Model {
    let Schedule { base_s, factor, cap_s, .. } = terms.base.schedule;
    let tasks = match &endpoint.setup.arrivals {
        Arrivals::Burst(tasks) | Arrivals::Poisson(tasks, _) => u64::from(*tasks),
        Arrivals::At(times) => times.len() as u64,
    };
    Model {
        tasks,
        arrivals: endpoint.arrivals.clone(),
        service: endpoint.service.clone(),
        tick_s: args.tick,
        horizon: args.horizon,
        base_s,
        factor,
        cap_s: cap_s.is_finite().then_some(cap_s),
        retry_after_s: args.retry_after,
        seed: args.seed,
        seeds: u64::from(args.seeds),
    }
}
