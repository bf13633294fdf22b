//! Replay of an incident of a log under other policies.

use super::endpoint::Capacity;
use super::engine::{Arrivals, Outcome, Service as Serving, Setup, run};
use super::figures::{Figures, TOLERANCE, TOLERANCE_COUNT, TOLERANCE_TIME, whole};
use super::observe::{Incident, Observed, observe};
use super::series::Counts;
use super::words::{NamedPolicy, PolicyTerms};
use crate::model::units::{counted, percent, thousands};
use crate::model::{AttemptTable, Jitter, Schedule, Time, rounded};
use crate::policy::Strategy;
use crate::untrusted::masked;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Maximum number of seeds of a replay; fewer if there are many calls.
const SEEDS: u64 = 25;
/// Approximate maximum number of attempts of all seeds of a replay that the user requested.
const MAX_SIMULATED: u64 = 2_000_000;
/// Approximate maximum number of attempts of all seeds of a replay that is part of an analysis.
const MAX_SIMULATED_IN_ANALYSIS: u64 = 4_000;
/// Number of attempts above which an analysis replays an incident with one seed: the results of many random draws differ
/// between seeds by a few per cent only.
const MAX_ATTEMPTS_WITH_SEEDS: f64 = 500.0;
/// Maximum number of attempts of an incident that is replayed as part of an analysis.
const MAX_ATTEMPTS_IN_ANALYSIS: f64 = 10_000.0;
/// Time after the last attempt of the log at which the simulation ends, in microseconds.
const SIMULATED_AFTER_LOG_US: u64 = 3_600_000_000;
/// Maximum wait if none is declared, in seconds.
const DEFAULT_CAP_S: f64 = 60.0;
/// Minimum first wait from which a schedule is inferred, in seconds.
const MIN_FIRST_WAIT_S: f64 = 0.05;

/// An incident, its replay in the model, and its replay under other policies.
#[derive(Clone, Debug, Serialize)]
pub struct Counterfactual {
    /// Failure class.
    pub class: &'static str,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// When the first attempt of its calls was sent.
    pub from: Time,
    /// Number of calls under way during the incident; not all of them failed.
    pub calls: u64,
    /// How the capacity of the endpoint is modelled: `a rate that changes` or `so many at once`.
    pub capacity: &'static str,
    /// Number of concurrent attempts it serves, if it is modelled that way.
    pub at_once: Option<u64>,
    /// Number of capacity models within the tolerance.
    pub readings: u64,
    /// Length of each point of `course`, in seconds.
    pub resolution_s: f64,
    /// Wait requested by rejections, in seconds; `None` if most did not request one.
    pub retry_after_s: Option<f64>,
    /// Figures in the log.
    pub observed: Figures,
    /// Mean figures of the model over all seeds, with the waits in the log.
    pub replayed: Figures,
    /// Maximum relative difference of counts, maximum absolute difference of counts, and maximum relative difference of
    /// times.
    pub tolerance: [f64; 3],
    /// Whether the model is within the tolerance; if not, there are no results for other policies.
    pub holds: bool,
    /// Number of seeds simulated under each policy.
    pub seeds: u64,
    /// The first of these simulations over time, in points of `resolution_s`.
    pub course: Vec<Counts>,
    /// Results of other policies; empty if the model does not hold.
    pub policies: Vec<ReplayedPolicy>,
    /// The result in two or three sentences.
    pub summary: Vec<String>,
}

/// A replay as a standalone document.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayDocument<'a> {
    /// Version of its schema.
    pub schema_version: u32,
    /// The program and version that made it.
    pub generator: String,
    /// The incident.
    #[serde(flatten)]
    pub counterfactual: &'a Counterfactual,
}

impl<'a> ReplayDocument<'a> {
    /// Creates the document.
    #[must_use]
    pub fn of(counterfactual: &'a Counterfactual) -> ReplayDocument<'a> {
        let generator = format!("retrylens {}", env!("CARGO_PKG_VERSION"));
        ReplayDocument { schema_version: super::SCHEMA_VERSION, generator, counterfactual }
    }
}

/// An incident under one policy.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayedPolicy {
    /// Name of the policy.
    pub policy: String,
    /// Maximum number of attempts of a call; `None` for as many as its budget allows.
    pub max_attempts: Option<u64>,
    /// Mean figures over the seeds.
    pub figures: Figures,
    /// Minimum and maximum of attempts over the capacity models within the tolerance.
    pub attempts_range: [f64; 2],
    /// Minimum and maximum of calls lost over these models.
    pub lost_range: [f64; 2],
    /// Cost of its attempts in US dollars, if the log gives costs.
    pub usd: Option<f64>,
    /// Length of each point of `course`, in seconds.
    pub resolution_s: f64,
    /// Attempts and waiting calls over time, of the first seed.
    pub course: Vec<Counts>,
}

/// Parameters of a replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// Names of policies; empty for the default ones.
    pub policies: Vec<String>,
    /// Maximum number of attempts of a call, if not that of the log.
    pub attempts: Option<u32>,
    /// First wait in seconds, if not that of the log.
    pub base_s: Option<f64>,
    /// Maximum wait, in seconds.
    pub cap_s: Option<f64>,
    /// Policy declared in the configuration.
    pub declared: Option<crate::model::Policy>,
    /// Whether nothing follows the log, so that calls whose last attempt failed are lost.
    pub complete: bool,
    /// Whether it is part of an analysis: with fewer seeds, and only for incidents small enough not to take seconds.
    pub is_in_analysis: bool,
}

impl Counterfactual {
    /// Returns how many calls were under way, in words. Not all of them failed.
    pub(crate) fn calls_under_way(&self) -> String {
        format!("{} {} under way", counted(self.calls, "call"), if self.calls == 1 { "was" } else { "were" })
    }
}

/// Replays `incident`; `None` if none of its calls can be followed, if waiting cannot help, or if it is too large to be
/// replayed as part of an analysis.
///
/// # Errors
/// Returns a message about an invalid name of a policy.
pub fn replay(
    table: &AttemptTable,
    incident: &Incident,
    options: &ReplayOptions,
) -> Result<Option<Counterfactual>, String> {
    let Some(observed) = observe(table, incident, options.complete).filter(|_| incident.can_be_overcome_by_waiting())
    else {
        return Ok(None);
    };
    if options.is_in_analysis && observed.figures.attempts > MAX_ATTEMPTS_IN_ANALYSIS {
        return Ok(None);
    }
    let terms = terms(&observed, options);
    let policies = terms.read(&names(&observed, options))?;
    let max_attempts_simulated = if options.is_in_analysis { MAX_SIMULATED_IN_ANALYSIS } else { MAX_SIMULATED };
    let seeds = (max_attempts_simulated / (observed.figures.attempts as u64).max(1)).clamp(1, SEEDS);
    let mut models = capacity_models(&observed, seeds);
    let Some(nearest) = models.first().cloned() else { return Ok(None) };
    models.retain(|model| model.replayed.is_near(&observed.figures));
    let seeds = if options.is_in_analysis && observed.figures.attempts > MAX_ATTEMPTS_WITH_SEEDS { 1 } else { seeds };
    let policies = if models.is_empty() { Vec::new() } else { policies };
    let policies: Vec<ReplayedPolicy> =
        policies.into_par_iter().map(|one| simulate_policy(&models, &observed, one, seeds)).collect();
    let (provider, model) = incident.service.names(table);
    let mut counterfactual = Counterfactual {
        class: incident.class.name(),
        provider: provider.map(masked),
        model: model.map(masked),
        from: observed.from,
        calls: observed.arrivals.len() as u64,
        capacity: nearest.name,
        at_once: match nearest.setup.capacity {
            Capacity::AtOnce(max) => Some(max),
            Capacity::PerInterval { .. } => None,
        },
        readings: models.len() as u64,
        resolution_s: rounded(nearest.first.width as f64 / 1e6),
        retry_after_s: observed.hint_s.map(rounded),
        observed: observed.figures.rounded(),
        replayed: nearest.replayed.rounded(),
        tolerance: [TOLERANCE, TOLERANCE_COUNT, TOLERANCE_TIME],
        holds: !models.is_empty(),
        seeds,
        course: nearest.first.course,
        policies,
        summary: Vec::new(),
    };
    counterfactual.summary = summary(&counterfactual, incident, observed.answered_elsewhere);
    Ok(Some(counterfactual))
}

fn terms(observed: &Observed, options: &ReplayOptions) -> PolicyTerms {
    let first_s = observed.first_wait_s.filter(|s| *s >= MIN_FIRST_WAIT_S).unwrap_or(1.0);
    let schedule = Schedule {
        base_s: options.base_s.unwrap_or(first_s),
        factor: 2.0,
        cap_s: options.cap_s.unwrap_or(DEFAULT_CAP_S),
        jitter: Jitter::Full,
    };
    let attempts = options.attempts.unwrap_or(observed.max_attempts);
    let base = Strategy { obeys_hints: observed.hint_s.is_some(), ..Strategy::plain(schedule, attempts) };
    let declared = options.declared.as_ref().map(|policy| Strategy::declared(policy, &base));
    PolicyTerms { base, declared }
}

/// Returns the requested policies; by default the usual ones, one with twice the attempts, and a gate if there are
/// hints.
fn names(observed: &Observed, options: &ReplayOptions) -> Vec<String> {
    if !options.policies.is_empty() {
        return options.policies.clone();
    }
    let twice = observed.max_attempts.saturating_mul(2);
    let more = format!("full-jitter+attempts={twice}");
    let mut names: Vec<String> = ["none", "fixed", "exponential", "full-jitter"].map(str::to_owned).into();
    names.push(more);
    names.extend(observed.hint_s.map(|_| "gate".to_owned()));
    names.extend(options.declared.as_ref().map(|_| "declared".to_owned()));
    names
}

/// A model of the endpoint's capacity, and its result with the waits of the log.
#[derive(Clone)]
struct CapacityModel {
    name: &'static str,
    setup: Setup,
    replayed: Figures,
    first: Outcome,
}

/// Returns all models: first those within the tolerance, and among these the one closest to the log.
fn capacity_models(observed: &Observed, seeds: u64) -> Vec<CapacityModel> {
    let strategy = observed_strategy(observed);
    let models = observed.capacities.iter().map(|(name, capacity)| {
        let setup = setup(observed, capacity);
        let (replayed, first) = means(&setup, &strategy, seeds);
        CapacityModel { name, setup, replayed, first }
    });
    let mut models: Vec<CapacityModel> = models.collect();
    let rank = |model: &CapacityModel| model.replayed.rank(&observed.figures);
    models.sort_by(|a, b| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1)));
    models
}

fn setup(observed: &Observed, capacity: &Capacity) -> Setup {
    let last = (observed.figures.over_after_s * 1e6) as u64;
    Setup {
        arrivals: Arrivals::At(observed.arrivals.clone()),
        capacity: capacity.clone(),
        second: capacity.clone(),
        service: Serving::Drawn(observed.service_us.clone()),
        refusal: observed.refusal_us,
        hint_s: observed.hint_s,
        horizon: last.saturating_add(SIMULATED_AFTER_LOG_US),
        steps_per_s: 1e6,
        min_wait: 0,
    }
}

/// Returns clients that wait and stop as those of the log did.
fn observed_strategy(observed: &Observed) -> Strategy {
    let no_waits = Schedule { base_s: 0.0, factor: 1.0, cap_s: 0.0, jitter: Jitter::None };
    let observed = Some(Arc::new(observed.seen.clone()));
    Strategy { observed, max_attempts: None, ..Strategy::plain(no_waits, 1) }
}

/// Simulates a policy under every given model; its figures are those under the first, which is closest to the log.
fn simulate_policy(models: &[CapacityModel], observed: &Observed, policy: NamedPolicy, seeds: u64) -> ReplayedPolicy {
    let mut all = models.iter().map(|model| means(&model.setup, &policy.strategy, seeds));
    let (figures, first) = all.next().unwrap_or_default();
    let (mut attempts, mut lost) = ([figures.attempts; 2], [figures.lost; 2]);
    for (other, _) in all {
        attempts = [attempts[0].min(other.attempts), attempts[1].max(other.attempts)];
        lost = [lost[0].min(other.lost), lost[1].max(other.lost)];
    }
    ReplayedPolicy {
        policy: policy.name,
        max_attempts: policy.strategy.all_attempts(),
        figures: figures.rounded(),
        attempts_range: attempts.map(rounded),
        lost_range: lost.map(rounded),
        usd: observed.usd.map(|(served, failed)| rounded(figures.served * served + figures.failed * failed)),
        resolution_s: rounded(first.width as f64 / 1e6),
        course: first.course,
    }
}

/// Returns the mean figures, and the outcome of the first seed.
fn means(setup: &Setup, strategy: &Strategy, seeds: u64) -> (Figures, Outcome) {
    let first = run(setup, strategy, 0, |_| ());
    let further: Vec<Figures> =
        (1..seeds).into_par_iter().map(|seed| Figures::of(&run(setup, strategy, seed, |_| ()))).collect();
    let all = || std::iter::once(Figures::of(&first)).chain(further.iter().copied());
    let mean = |figure: fn(Figures) -> f64| all().map(figure).sum::<f64>() / seeds as f64;
    let figures = Figures {
        attempts: mean(|one| one.attempts),
        failed: mean(|one| one.failed),
        served: mean(|one| one.served),
        lost: mean(|one| one.lost),
        over_after_s: mean(|one| one.over_after_s),
    };
    (figures, first)
}

/// Explains why the incident itself has other counts, if it has.
fn why_counts_differ(observed: &Figures, incident: &Incident) -> Option<String> {
    let same = whole(observed.failed) == incident.failed && whole(observed.attempts) == incident.sends;
    let about = if incident.sends_exact { "" } else { "about " };
    (!same).then(|| {
        format!(
            "That counts every attempt of these calls, before and after the incident too, and leaves out calls that met a \
             failure no retry heals; the incident alone has {} in {about}{}.",
            counted(incident.failed, "failure"),
            counted(incident.sends, "attempt")
        )
    })
}

fn summary(counterfactual: &Counterfactual, incident: &Incident, answered_elsewhere: u64) -> Vec<String> {
    let mut lines =
        vec![format!("What happened: {}: {}.", counterfactual.calls_under_way(), counterfactual.observed.in_words())];
    lines.extend(why_counts_differ(&counterfactual.observed, incident));
    if answered_elsewhere > 0 {
        lines.push(format!(
            "Lost means lost to this model and provider: another answered {} of the calls that failed here.",
            thousands(answered_elsewhere)
        ));
    }
    if !counterfactual.holds {
        lines.push(format!(
            "The model, with the waits of the log, gives {}: that differs by more than {}, so nothing is claimed of other \
             policies.",
            counterfactual.replayed.in_words(),
            percent(TOLERANCE)
        ));
        return lines;
    }
    let best = counterfactual.policies.iter().min_by(|a, b| {
        // Compares the worst results over all capacity models.
        let key = |one: &ReplayedPolicy| (whole(one.lost_range[1]), whole(one.attempts_range[1]));
        key(a).cmp(&key(b)).then(a.figures.over_after_s.total_cmp(&b.figures.over_after_s))
    });
    if let Some(best) = best {
        let max = best.max_attempts.map_or_else(String::new, |max| format!(" ({} a call)", counted(max, "attempt")));
        let [least, worst] = best.lost_range.map(whole);
        let range = if least == worst {
            String::new()
        } else {
            format!(" ({} to {} lost, by how its capacity is read)", thousands(least), thousands(worst))
        };
        lines.push(format!("Under {}{max}, the model gives {}{range}.", best.policy, best.figures.in_words()));
    }
    lines.push(format!(
        "With the waits of the log the model gives {}: within {} of what happened.",
        counterfactual.replayed.in_words(),
        percent(TOLERANCE)
    ));
    lines
}
