//! Comparison of policies over capacities, numbers of attempts and seeds.

use super::engine::{Outcome, Setup, run};
use super::series::Counts;
use super::words::{NamedPolicy, PolicyTerms};
use crate::model::rounded;
use rayon::prelude::*;
use serde::Serialize;

/// Version of the JSON format of a [`Simulation`].
pub const SCHEMA_VERSION: u32 = 1;

/// A simulation: its inputs and results.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name and version of the program.
    pub generator: String,
    /// The inputs.
    pub model: Model,
    /// A row for each policy, number of attempts and capacity.
    pub policies: Vec<PolicyRow>,
}

impl Simulation {
    /// Creates the result of a simulation by this version of the program.
    #[must_use]
    pub fn new(model: Model, policies: Vec<PolicyRow>) -> Simulation {
        let generator = format!("retrylens {}", env!("CARGO_PKG_VERSION"));
        Simulation { schema_version: SCHEMA_VERSION, generator, model, policies }
    }
}

/// The inputs of a simulation.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// Number of tasks.
    pub tasks: u64,
    /// How tasks arrive, in words.
    pub arrivals: String,
    /// Time to serve an attempt, in words.
    pub service: String,
    /// Length of a tick, in seconds.
    pub tick_s: f64,
    /// Tick from which on nothing is sent.
    pub horizon: u64,
    /// First wait, in seconds.
    pub base_s: f64,
    /// Factor by which each wait is multiplied.
    pub factor: f64,
    /// Maximum wait, in seconds.
    pub cap_s: Option<f64>,
    /// Wait requested by a rejection, in seconds. With it, a rejection is a 429, and without it a 529.
    pub retry_after_s: Option<f64>,
    /// Seed of the rows, and the first of the seeds.
    pub seed: u64,
    /// Number of seeds simulated.
    pub seeds: u64,
}

/// The result of one policy.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRow {
    /// Name of the policy.
    pub policy: String,
    /// Tasks that were served.
    pub served: u64,
    /// Tasks that gave up.
    pub dropped: u64,
    /// Attempts of all tasks.
    pub attempts: u64,
    /// Tick of the last success, if every task was served.
    pub drained_at: Option<u64>,
    /// Maximum number of attempts of a task; `None` for as many as its budget allows.
    pub max_attempts: Option<u64>,
    /// Capacity of the endpoint: attempts per tick, or concurrent attempts if serving takes longer.
    pub capacity: u64,
    /// Tasks that were neither served nor gave up at the end.
    pub waiting: u64,
    /// Attempts that were rejected.
    pub refused: u64,
    /// Attempts sent to the second endpoint.
    pub at_second: u64,
    /// Attempts per task.
    pub amplification: f64,
    /// Maximum number of attempts in one tick.
    pub peak: u64,
    /// Tick of the last attempt.
    pub last_attempt_at: u64,
    /// Distribution over all seeds, if there is more than one.
    pub spread: Option<Spread>,
    /// Attempts and waiting tasks over time.
    pub course: Course,
}

/// Distribution of the results over all seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Tasks that were served.
    pub served: Quantiles,
    /// Tasks that gave up.
    pub dropped: Quantiles,
    /// Attempts of all tasks.
    pub attempts: Quantiles,
    /// Tick of the last success, over the seeds in which every task was served.
    pub drained_at: Option<Quantiles>,
    /// Number of seeds in which every task was served.
    pub drained: u64,
}

/// Median and middle 90% of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// 5th percentile.
    pub p05: u64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
}

/// Counts over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Course {
    /// Length of each point, in ticks.
    pub ticks: u64,
    /// The points, from the first tick on.
    pub points: Vec<Counts>,
}

/// The parameters that are varied.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Maximum numbers of attempts of a task; policies with a number of their own ignore them.
    pub attempts: Vec<u32>,
    /// Capacities of the endpoint.
    pub capacities: Vec<u64>,
    /// The first seed.
    pub seed: u64,
    /// Number of seeds, from the first on.
    pub seeds: u64,
}

/// A policy at a capacity, for one row of the result.
#[derive(Clone, Debug)]
pub struct Case {
    /// The policy.
    pub policy: NamedPolicy,
    /// Capacity of the endpoint.
    pub capacity: u64,
}

/// Returns every combination of capacity, number of attempts and policy, in this order and without duplicates.
///
/// # Errors
/// Returns a message about an invalid name of a policy.
pub fn cases(names: &[String], terms: &PolicyTerms, variation: &Variation) -> Result<Vec<Case>, String> {
    let mut all: Vec<Case> = Vec::new();
    for capacity in &variation.capacities {
        for attempts in &variation.attempts {
            let mut terms = terms.clone();
            terms.base.max_attempts = terms.base.max_attempts.and(Some(*attempts));
            for policy in terms.read(names)? {
                if all.iter().all(|known| known.capacity != *capacity || known.policy != policy) {
                    all.push(Case { policy, capacity: *capacity });
                }
            }
        }
    }
    Ok(all)
}

/// Simulates every case. `setup` returns the inputs for a capacity.
pub fn study(cases: &[Case], variation: &Variation, setup: impl Fn(u64) -> Setup + Sync) -> Vec<PolicyRow> {
    let row = |case: &Case| {
        let setup = setup(case.capacity);
        let strategy = &case.policy.strategy;
        let first = run(&setup, strategy, variation.seed, |_| ());
        let further = (1..variation.seeds).into_par_iter();
        let further =
            further.map(|nth| run(&setup, strategy, variation.seed.wrapping_add(nth), |_| ()).without_course());
        let further: Vec<Outcome> = further.collect();
        let spread = (!further.is_empty()).then(|| Spread::of(&first, &further));
        PolicyRow { spread, ..PolicyRow::of(case, first) }
    };
    cases.par_iter().map(row).collect()
}

impl Outcome {
    /// Drops the course, which is needed of the first seed only.
    fn without_course(self) -> Outcome {
        Outcome { course: Vec::new(), ..self }
    }
}

impl PolicyRow {
    fn of(case: &Case, outcome: Outcome) -> PolicyRow {
        PolicyRow {
            policy: case.policy.name.clone(),
            served: outcome.served,
            dropped: outcome.dropped,
            attempts: outcome.attempts,
            drained_at: outcome.drained_at,
            max_attempts: case.policy.strategy.all_attempts(),
            capacity: case.capacity,
            waiting: outcome.waiting(),
            refused: outcome.refused,
            at_second: outcome.at_second,
            amplification: rounded(outcome.attempts as f64 / outcome.tasks.max(1) as f64),
            peak: outcome.peak,
            last_attempt_at: outcome.last_at,
            spread: None,
            course: Course { ticks: outcome.width, points: outcome.course },
        }
    }
}

impl Spread {
    fn of(first: &Outcome, further: &[Outcome]) -> Spread {
        let all = || std::iter::once(first).chain(further);
        let of = |figure: fn(&Outcome) -> u64| Quantiles::of(all().map(figure).collect());
        let drained: Vec<u64> = all().filter_map(|one| one.drained_at).collect();
        Spread {
            served: of(|one| one.served),
            dropped: of(|one| one.dropped),
            attempts: of(|one| one.attempts),
            drained: drained.len() as u64,
            drained_at: (!drained.is_empty()).then(|| Quantiles::of(drained)),
        }
    }
}

impl Quantiles {
    /// Computes the quantiles of at least one figure.
    fn of(mut figures: Vec<u64>) -> Quantiles {
        figures.sort_unstable();
        let at = |share: f64| figures.get((share * (figures.len() - 1) as f64).round() as usize).copied().unwrap_or(0);
        Quantiles { p05: at(0.05), p50: at(0.5), p95: at(0.95) }
    }
}
