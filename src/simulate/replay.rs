//! An incident of a log under other policies.

use super::endpoint::Capacity;
use super::engine::{Arrivals, Outcome, Service as Serving, Setup, run};
use super::figures::{Figures, TOLERANCE, TOLERANCE_COUNT, TOLERANCE_TIME, whole};
use super::observe::{Incident, Observed, observe};
use super::series::Counts;
use super::words::{Named, Terms};
use crate::model::units::{counted, percent};
use crate::model::{AttemptTable, Jitter, Schedule, Time, rounded};
use crate::policy::Strategy;
use crate::untrusted::masked;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Seeds of a replay; fewer where calls are many.
const SEEDS: u64 = 25;
/// Attempts that all seeds of a replay may make together, about; and where it is done in passing.
const EFFORT: u64 = 2_000_000;
const LITTLE_EFFORT: u64 = 4_000;
/// In passing one seed of each policy does for incidents of more attempts: sums of so many draws scatter by a few per
/// cent.
const ONE_SEED: f64 = 500.0;
/// Incidents of more attempts are not replayed in passing.
const MOST_IN_PASSING: f64 = 10_000.0;
/// Nothing is sent so long after the last attempt of the log, µs.
const AFTERWARDS_US: u64 = 3_600_000_000;
/// The longest wait, where nothing else is declared, in seconds.
const CAP_S: f64 = 60.0;
/// A first wait below this is none, and says nothing of a schedule, in seconds.
const NO_WAIT_S: f64 = 0.05;

/// An incident, what the model makes of it, and what it would have been under other policies.
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
    /// Calls with an attempt in its time.
    pub calls: u64,
    /// How the endpoint's capacity is read: `a rate that changes`, `so many at once`.
    pub capacity: &'static str,
    /// What it serves at once, where it is read so.
    pub at_once: Option<u64>,
    /// Readings of the capacity under which the model holds.
    pub readings: u64,
    /// Seconds of each point of `course`.
    pub resolution_s: f64,
    /// The wait that refusals asked for, in seconds; `None` where most did not.
    pub retry_after_s: Option<f64>,
    /// What happened.
    pub observed: Figures,
    /// What the model makes of the waits that the log shows: means over the seeds.
    pub replayed: Figures,
    /// The share that counts may differ by, the least difference allowed, and the share that times may differ by.
    pub tolerance: [f64; 3],
    /// Whether they differ by no more; where not, nothing is claimed.
    pub holds: bool,
    /// Seeds simulated under each policy.
    pub seeds: u64,
    /// The first of those over time, in points of `resolution_s`.
    pub course: Vec<Counts>,
    /// What it would have been: empty where the model does not hold.
    pub policies: Vec<ReplayedPolicy>,
    /// All that in two or three sentences.
    pub summary: Vec<String>,
}

/// An incident under one policy.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayedPolicy {
    /// Its name.
    pub policy: String,
    /// Attempts of a call; `None` for as many as its budget allows.
    pub max_attempts: Option<u64>,
    /// Means over the seeds.
    pub figures: Figures,
    /// Least and most attempts, by every reading of the capacity that holds.
    pub attempts_range: [f64; 2],
    /// Least and most calls lost, likewise.
    pub lost_range: [f64; 2],
    /// What its attempts cost, in US dollars, where the log tells.
    pub usd: Option<f64>,
    /// Seconds of each point below.
    pub resolution_s: f64,
    /// Attempts and waiting calls over time, of the first seed.
    pub course: Vec<Counts>,
}

/// What a replay is asked for.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Policies; empty for those that are told by default.
    pub policies: Vec<String>,
    /// Attempts of a call, where they are not those of the log.
    pub attempts: Option<u32>,
    /// The first wait in seconds, where it is not that of the log.
    pub base_s: Option<f64>,
    /// The longest wait in seconds.
    pub cap_s: Option<f64>,
    /// What the configuration declares.
    pub declared: Option<crate::model::Policy>,
    /// Nothing follows the log: calls whose last attempt failed are lost.
    pub complete: bool,
    /// Nobody asked: with fewer seeds, and not of incidents so large that it would take seconds.
    pub in_passing: bool,
}

/// Replays `incident`; `None` where the log names no call of it that can be followed.
///
/// # Errors
/// A sentence about a policy whose name means nothing.
pub fn replay(
    table: &AttemptTable,
    incident: &Incident,
    question: &Question,
) -> Result<Option<Counterfactual>, String> {
    let Some(observed) = observe(table, incident, question.complete).filter(|_| incident.heals()) else {
        return Ok(None);
    };
    if question.in_passing && observed.figures.attempts > MOST_IN_PASSING {
        return Ok(None);
    }
    let terms = terms(&observed, question);
    let policies = terms.read(&names(&observed, question))?;
    let effort = if question.in_passing { LITTLE_EFFORT } else { EFFORT };
    let seeds = (effort / (observed.figures.attempts as u64).max(1)).clamp(1, SEEDS);
    let mut readings = readings(&observed, seeds);
    let Some(nearest) = readings.first().cloned() else { return Ok(None) };
    readings.retain(|reading| reading.replayed.is_near(&observed.figures));
    let seeds = if question.in_passing && observed.figures.attempts > ONE_SEED { 1 } else { seeds };
    let policies = if readings.is_empty() { Vec::new() } else { policies };
    let policies: Vec<ReplayedPolicy> =
        policies.into_par_iter().map(|one| under(&readings, &observed, one, seeds)).collect();
    let (provider, model) = incident.service.names(table);
    let mut told = Counterfactual {
        class: incident.class.name(),
        provider: provider.map(masked),
        model: model.map(masked),
        from: observed.from,
        calls: observed.arrivals.len() as u64,
        capacity: nearest.name,
        at_once: match nearest.setup.capacity {
            Capacity::AtOnce(most) => Some(most),
            Capacity::PerStretch { .. } => None,
        },
        readings: readings.len() as u64,
        resolution_s: rounded(nearest.first.width as f64 / 1e6),
        retry_after_s: observed.hint_s.map(rounded),
        observed: observed.figures.rounded(),
        replayed: nearest.replayed.rounded(),
        tolerance: [TOLERANCE, TOLERANCE_COUNT, TOLERANCE_TIME],
        holds: !readings.is_empty(),
        seeds,
        course: nearest.first.course,
        policies,
        summary: Vec::new(),
    };
    told.summary = summary(&told);
    Ok(Some(told))
}

fn terms(observed: &Observed, question: &Question) -> Terms {
    let first_s = observed.first_wait_s.filter(|s| *s >= NO_WAIT_S).unwrap_or(1.0);
    let schedule = Schedule {
        base_s: question.base_s.unwrap_or(first_s),
        factor: 2.0,
        cap_s: question.cap_s.unwrap_or(CAP_S),
        jitter: Jitter::Full,
    };
    let attempts = question.attempts.unwrap_or(observed.max_attempts);
    let base = Strategy { obeys_hints: observed.hint_s.is_some(), ..Strategy::plain(schedule, attempts) };
    let declared = question.declared.as_ref().map(|policy| Strategy::declared(policy, &base));
    Terms { base, declared }
}

/// The policies asked for; by default the usual ones, twice the attempts, and a gate where hints would shut it.
fn names(observed: &Observed, question: &Question) -> Vec<String> {
    if !question.policies.is_empty() {
        return question.policies.clone();
    }
    let twice = observed.max_attempts.saturating_mul(2);
    let more = format!("full-jitter+attempts={twice}");
    let mut names: Vec<String> = ["none", "fixed", "exponential", "full-jitter"].map(str::to_owned).into();
    names.push(more);
    names.extend(observed.hint_s.map(|_| "gate".to_owned()));
    names.extend(question.declared.as_ref().map(|_| "declared".to_owned()));
    names
}

/// One way to read the endpoint's capacity, and what the waits of the log come to by it.
#[derive(Clone)]
struct Reading {
    name: &'static str,
    setup: Setup,
    replayed: Figures,
    first: Outcome,
}

/// Every way to read it, those by which the model holds first, of those the one that comes nearest to what happened.
fn readings(observed: &Observed, seeds: u64) -> Vec<Reading> {
    let strategy = as_seen(observed);
    let tried = observed.capacities.iter().map(|(name, capacity)| {
        let setup = setup(observed, capacity);
        let (replayed, first) = means(&setup, &strategy, seeds);
        Reading { name, setup, replayed, first }
    });
    let mut tried: Vec<Reading> = tried.collect();
    let rank = |reading: &Reading| reading.replayed.rank(&observed.figures);
    tried.sort_by(|a, b| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1)));
    tried
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
        horizon: last.saturating_add(AFTERWARDS_US),
        steps_per_s: 1e6,
        least_wait: 0,
    }
}

/// Clients that wait and stop as those of the log did.
fn as_seen(observed: &Observed) -> Strategy {
    let none = Schedule { base_s: 0.0, factor: 1.0, cap_s: 0.0, jitter: Jitter::None };
    let seen = Some(Arc::new(observed.seen.clone()));
    Strategy { seen, max_attempts: None, ..Strategy::plain(none, 1) }
}

/// A policy by every reading that holds: its figures are those of the nearest.
fn under(readings: &[Reading], observed: &Observed, policy: Named, seeds: u64) -> ReplayedPolicy {
    let mut all = readings.iter().map(|reading| means(&reading.setup, &policy.strategy, seeds));
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
        usd: observed.usd.map(|(served, refused)| rounded(figures.served * served + figures.refused * refused)),
        resolution_s: rounded(first.width as f64 / 1e6),
        course: first.course,
    }
}

/// Mean figures, and the outcome of the first seed.
fn means(setup: &Setup, strategy: &Strategy, seeds: u64) -> (Figures, Outcome) {
    let first = run(setup, strategy, 0, |_| ());
    let further: Vec<Figures> =
        (1..seeds).into_par_iter().map(|seed| Figures::of(&run(setup, strategy, seed, |_| ()))).collect();
    let all = || std::iter::once(Figures::of(&first)).chain(further.iter().copied());
    let mean = |figure: fn(Figures) -> f64| all().map(figure).sum::<f64>() / seeds as f64;
    let figures = Figures {
        attempts: mean(|one| one.attempts),
        refused: mean(|one| one.refused),
        served: mean(|one| one.served),
        lost: mean(|one| one.lost),
        over_after_s: mean(|one| one.over_after_s),
    };
    (figures, first)
}

fn summary(told: &Counterfactual) -> Vec<String> {
    let calls = counted(told.calls, "call");
    let mut lines = vec![format!("What happened: {calls} met {}; {}.", told.class, told.observed.in_words())];
    if !told.holds {
        lines.push(format!(
            "The model, with the waits of the log, gives {}: that differs by more than {}, so nothing is claimed of other \
             policies.",
            told.replayed.in_words(),
            percent(TOLERANCE)
        ));
        return lines;
    }
    let best = told.policies.iter().min_by(|a, b| {
        // What holds by every reading.
        let key = |one: &ReplayedPolicy| (whole(one.lost_range[1]), whole(one.attempts_range[1]));
        key(a).cmp(&key(b)).then(a.figures.over_after_s.total_cmp(&b.figures.over_after_s))
    });
    if let Some(best) = best {
        let most = best.max_attempts.map_or_else(String::new, |most| format!(" ({} a call)", counted(most, "attempt")));
        let [least, worst] = best.lost_range.map(whole);
        let range = if least == worst {
            String::new()
        } else {
            format!(" ({least} to {worst} lost, by how its capacity is read)")
        };
        lines.push(format!("Under {}{most}, the model gives {}{range}.", best.policy, best.figures.in_words()));
    }
    lines.push(format!(
        "With the waits of the log the model gives {}: within {} of what happened.",
        told.replayed.in_words(),
        percent(TOLERANCE)
    ));
    lines
}
