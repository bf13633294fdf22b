//! Simulated logs read back: the counts are those of the simulation, the waits show the policy, and what is judged of
//! them is what the policy deserves.
//!
//! `RETRYLENS_SEEDS=200 cargo test --test it simulate::emitted` takes so many seeds of every policy.

use crate::common;
use rayon::prelude::*;
use retrylens::model::{Jitter, Schedule, Severity};
use retrylens::policy::Strategy;
use retrylens::report::Report;
use retrylens::simulate::{Arrivals, Capacity, NamedPolicy, PolicyTerms, Service, Setup, emit, run};

/// A policy, the waits it makes, and the rule that speaks of it, above info.
struct Expected {
    policy: &'static str,
    /// The first wait.
    base_s: f64,
    /// The wait that refusals ask for.
    hint_s: Option<f64>,
    /// Schedule and jitter as the report names them.
    waits: Option<(&'static str, Option<&'static str>)>,
    /// Number of calls, one a second.
    tasks: u32,
    /// The defect; `None` where nothing may be said.
    rule: Option<&'static str>,
    /// Rules that rightly speak beside it.
    also: &'static [&'static str],
}

/// An hour of calls: the waits of twelve outages show how they grow. Those of eight left it open for one seed of 200.
const HOUR: u32 = 3_600;

const fn compliant(policy: &'static str, schedule: &'static str, jitter: Option<&'static str>) -> Expected {
    Expected { policy, base_s: 1.0, hint_s: None, waits: Some((schedule, jitter)), tasks: HOUR, rule: None, also: &[] }
}

const fn defect(policy: &'static str, rule: &'static str, also: &'static [&'static str]) -> Expected {
    Expected { policy, base_s: 1.0, hint_s: None, waits: None, tasks: HOUR, rule: Some(rule), also }
}

fn policies() -> Vec<Expected> {
    let full = Some("full");
    vec![
        compliant("full-jitter", "exponential", full),
        compliant("equal-jitter", "exponential", Some("equal")),
        compliant("decorrelated", "decorrelated", None),
        Expected { base_s: 0.5, ..compliant("sdk", "sdk_ladder", Some("narrow")) },
        compliant("budget=120", "exponential", full),
        // Two waits of a call are too few to show how they grow.
        compliant("equal-jitter+fallback=3", "cannot_tell", Some("equal")),
        compliant("retry-budget=0.5", "exponential", full),
        // What the breaker holds waits for longer than the schedule says: no schedule is named. In a longer log, what it
        // does not hold may show the schedule.
        Expected { tasks: HOUR * 2 / 3, ..compliant("breaker=20", "cannot_tell", full) },
        Expected { hint_s: Some(2.0), ..compliant("gate", "server_requested", None) },
        Expected { waits: None, ..defect("none", "RL201", &[]) },
        Expected { waits: Some(("immediate", None)), ..defect("immediate", "RL304", &["RL314", "RL403", "RL405"]) },
        Expected { waits: Some(("fixed", Some("none"))), ..defect("fixed", "RL303", &["RL302", "RL403", "RL405"]) },
        Expected { waits: Some(("exponential", Some("none"))), ..defect("exponential", "RL302", &[]) },
        defect("layers=3x4", "RL401", &[]),
        Expected { hint_s: Some(4.0), ..defect("full-jitter", "RL301", &["RL501"]) },
    ]
}

/// A call a second, and an outage of eight seconds every five minutes.
fn setup(expected: &Expected) -> Setup {
    const STEPS_PER_S: f64 = 1000.0;
    let second = |at: u64| if at % 300 < 292 { 1_000 } else { 0 };
    Setup {
        arrivals: Arrivals::Poisson(expected.tasks, STEPS_PER_S),
        capacity: Capacity::PerInterval {
            width: STEPS_PER_S as u64,
            known: (0..u64::from(expected.tasks)).map(second).collect(),
            rest: 1_000,
        },
        second: Capacity::PerInterval { width: STEPS_PER_S as u64, known: Vec::new(), rest: 1_000 },
        service: Service::Exponential(800.0),
        refusal: 40,
        hint_s: expected.hint_s,
        horizon: 1 << 40,
        steps_per_s: STEPS_PER_S,
        min_wait: 1,
    }
}

fn named(expected: &Expected) -> NamedPolicy {
    let waits = Schedule { base_s: expected.base_s, factor: 2.0, cap_s: 30.0, jitter: Jitter::Full };
    let terms = PolicyTerms { base: Strategy::plain(waits, 12), declared: None };
    terms.read(&[expected.policy.to_owned()]).unwrap().remove(0)
}

/// What is wrong with the verdict of one log.
fn wrong(expected: &Expected, seed: u64) -> Vec<String> {
    let (setup, policy) = (setup(expected), named(expected));
    let outcome = run(&setup, &policy.strategy, seed, |_| ());
    let mut log = Vec::new();
    emit(&setup, &policy, seed, &mut log).unwrap();
    let report = common::judged(&log);
    let counts = [report.totals.sends, report.totals.calls_ok, report.totals.calls_failed];
    let mut wrong = Vec::new();
    if counts != [outcome.attempts, outcome.served, outcome.dropped] {
        wrong.push(format!("counts {counts:?} of {outcome:?}"));
    }
    let read = expected.waits.and_then(|waits| misread(&report, waits));
    wrong.extend(read.map(|read| format!("taken for {read:?}")));
    wrong.extend(other_layers(&report, &policy.strategy));
    let said: Vec<&str> =
        report.problems.iter().filter(|one| one.severity > Severity::Info).map(|one| one.rule).collect();
    wrong.extend(expected.rule.filter(|rule| !said.contains(rule)).map(|rule| format!("{rule} is silent")));
    let besides = said.iter().filter(|rule| expected.rule != Some(**rule) && !expected.also.contains(*rule));
    wrong.extend(besides.map(|rule| format!("{rule} speaks")));
    wrong.iter().map(|words| format!("{} with seed {seed}: {words}", expected.policy)).collect()
}

/// Schedule and jitter that the loop with most waits was taken for, where they are others.
fn misread(report: &Report, waits: (&str, Option<&str>)) -> Option<(&'static str, Option<&'static str>)> {
    let read = report.backoff.iter().max_by_key(|one| one.waits + one.server_requested)?;
    let right = read.schedule == waits.0 && waits.1.is_none_or(|jitter| read.jitter == Some(jitter));
    (!right).then_some((read.schedule, read.jitter))
}

/// Loops that are not those of the policy: the inner one's attempts, and at most the rounds of the outer one.
fn other_layers(report: &Report, strategy: &Strategy) -> Option<String> {
    let (inner, outer) = (strategy.max_attempts.unwrap_or(0), strategy.outer);
    let layered = report.layers.iter().all(|row| row.sends_per_round == inner && row.rounds <= outer);
    let right = if outer > 1 { layered && !report.layers.is_empty() } else { report.layers.is_empty() };
    (!right).then(|| format!("layers {:?}", report.layers))
}

#[test]
fn simulated_logs_are_judged_as_their_policies_deserve() {
    let seeds = std::env::var("RETRYLENS_SEEDS").map_or(2, |seeds| seeds.parse().expect("a number"));
    let cases: Vec<(Expected, u64)> =
        (0..seeds).flat_map(|seed| policies().into_iter().map(move |policy| (policy, seed))).collect();
    let wrong: Vec<String> = cases.par_iter().flat_map_iter(|(expected, seed)| wrong(expected, *seed)).collect();
    assert!(wrong.is_empty(), "{} of {} logs:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
