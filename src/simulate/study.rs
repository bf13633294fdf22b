//! Policies side by side, over capacities, numbers of attempts and seeds.

use super::engine::{Outcome, Setup, run};
use super::series::Counts;
use super::words::{Named, Terms};
use crate::model::rounded;
use rayon::prelude::*;
use serde::Serialize;

/// Version of the JSON form of a [`Simulation`].
pub const SCHEMA_VERSION: u32 = 1;

/// What was simulated, and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The program and version that made it.
    pub generator: String,
    /// What was simulated.
    pub model: Model,
    /// A row for each policy, number of attempts and capacity.
    pub policies: Vec<PolicyRow>,
}

impl Simulation {
    /// Made by this program.
    #[must_use]
    pub fn new(model: Model, policies: Vec<PolicyRow>) -> Simulation {
        let generator = format!("retrylens {}", env!("CARGO_PKG_VERSION"));
        Simulation { schema_version: SCHEMA_VERSION, generator, model, policies }
    }
}

/// What was simulated, in figures.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// Tasks.
    pub tasks: u64,
    /// How they arrive, in words.
    pub arrivals: String,
    /// How long it takes to serve one, in words.
    pub service: String,
    /// Seconds of a tick.
    pub tick_s: f64,
    /// Ticks after which nothing is sent.
    pub horizon: u64,
    /// The first wait, in seconds.
    pub base_s: f64,
    /// What each wait is multiplied by.
    pub factor: f64,
    /// The longest wait, in seconds.
    pub cap_s: Option<f64>,
    /// The wait a refusal asks for, in seconds: it is then a 429, and a 529 without.
    pub retry_after_s: Option<f64>,
    /// The seed of the rows, and the first of all.
    pub seed: u64,
    /// Seeds simulated.
    pub seeds: u64,
}

/// What became of the tasks under one policy.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRow {
    /// Its name.
    pub policy: String,
    /// Tasks that were served.
    pub served: u64,
    /// Tasks that gave up.
    pub dropped: u64,
    /// Attempts of all tasks.
    pub attempts: u64,
    /// The tick of the last success, where every task was served.
    pub drained_at: Option<u64>,
    /// Attempts a task may make; `None` for as many as its budget allows.
    pub max_attempts: Option<u64>,
    /// What the endpoint serves: a tick, or at once where serving takes longer.
    pub capacity: u64,
    /// Tasks that are neither served nor given up at the end.
    pub waiting: u64,
    /// Attempts that were refused.
    pub refused: u64,
    /// Attempts that went to the second endpoint.
    pub at_second: u64,
    /// Attempts for each task.
    pub amplification: f64,
    /// Most attempts of one tick.
    pub peak: u64,
    /// The tick of the last attempt.
    pub last_attempt_at: u64,
    /// Over all seeds, where there is more than one.
    pub spread: Option<Spread>,
    /// Attempts and waiting tasks over time.
    pub course: Course,
}

/// The figures of all seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Tasks that were served.
    pub served: Quantiles,
    /// Tasks that gave up.
    pub dropped: Quantiles,
    /// Attempts of all tasks.
    pub attempts: Quantiles,
    /// The tick of the last success, of the seeds in which every task was served.
    pub drained_at: Option<Quantiles>,
    /// Seeds in which every task was served.
    pub drained: u64,
}

/// The middle of some figures, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// The fifth percentile.
    pub p05: u64,
    /// The median.
    pub p50: u64,
    /// The 95th percentile.
    pub p95: u64,
}

/// Counts over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Course {
    /// Ticks of each point.
    pub ticks: u64,
    /// The points, from the first tick on.
    pub points: Vec<Counts>,
}

/// What is varied.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Attempts a task may make; policies that say themselves ignore them.
    pub attempts: Vec<u32>,
    /// What the endpoint serves.
    pub capacities: Vec<u64>,
    /// The first seed.
    pub seed: u64,
    /// Seeds, from the first on.
    pub seeds: u64,
}

/// One row to be: a policy and a capacity.
#[derive(Clone, Debug)]
pub struct Case {
    /// The policy.
    pub policy: Named,
    /// What the endpoint serves.
    pub capacity: u64,
}

/// Every policy with every number of attempts at every capacity, in this order; what is the same twice stands once.
///
/// # Errors
/// A sentence about a policy whose name means nothing.
pub fn cases(names: &[String], terms: &Terms, variation: &Variation) -> Result<Vec<Case>, String> {
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

/// Simulates every case. `setup` makes the endpoint of a capacity.
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
    /// Of a thousand seeds the figures are enough.
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
    /// Of at least one figure.
    fn of(mut figures: Vec<u64>) -> Quantiles {
        figures.sort_unstable();
        let at = |share: f64| figures.get((share * (figures.len() - 1) as f64).round() as usize).copied().unwrap_or(0);
        Quantiles { p05: at(0.05), p50: at(0.5), p95: at(0.95) }
    }
}
