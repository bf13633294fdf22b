//! Observations from an incident in a log: arrivals, the capacity of the endpoint, and the behaviour of the clients.

use super::endpoint::Capacity;
use super::figures::Figures;
use crate::calls::{Call, GiveUpLimits, Horizon, group, group_between};
use crate::classify::{Bucket, Class};
use crate::ingest::Filter;
use crate::measure::Service;
use crate::model::{Attempt, AttemptTable, Flags, Time, Usage};
use crate::policy::{ObservedBehaviour, ObservedStep};
use rayon::prelude::*;

/// Identifies an incident.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incident {
    /// The provider and model.
    pub service: Service,
    /// Class of the failures.
    pub class: Class,
    /// When the first failing attempt was sent.
    pub first: Time,
    /// When the last failing attempt was sent.
    pub last: Time,
    /// Number of failing attempts of its kind.
    pub failed: u64,
    /// Number of attempts sent from its first to its last failing one.
    pub sends: u64,
    /// Whether that is exact, or a few too many.
    pub sends_exact: bool,
}

/// What the log shows of an incident. Times are in microseconds since the first attempt of its calls.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    pub(super) from: Time,
    pub(super) arrivals: Vec<u64>,
    pub(super) figures: Figures,
    /// Calls that are lost to the endpoint, but were answered by another.
    pub(super) answered_elsewhere: u64,
    /// Possible capacities of the endpoint, each with its name.
    pub(super) capacities: Vec<(&'static str, Capacity)>,
    pub(super) service_us: Vec<u64>,
    pub(super) refusal_us: u64,
    pub(super) hint_s: Option<f64>,
    pub(super) seen: ObservedBehaviour,
    pub(super) max_attempts: u32,
    /// The 95th percentile of the first waits without a hint of the server, in seconds.
    pub(super) first_wait_s: Option<f64>,
    /// Mean cost of an attempt that was served and of one that failed, in US dollars.
    pub(super) usd: Option<(f64, f64)>,
}

/// Maximum time before and after an incident for calls to be included, in microseconds.
const MARGIN_US: i64 = 120_000_000;
/// Attempts sent within this time before the first failure belong to the same burst, in microseconds.
const LEAD_US: i64 = 1_000_000;
/// Mean number of attempts per interval, for two estimates of the capacity: short intervals follow changes closely, long
/// ones are more precise.
const ATTEMPTS_PER_INTERVAL: [u64; 2] = [8, 2];
/// Minimum and maximum number of intervals.
const INTERVALS: (u64, u64) = (4, 2_000);
/// Minimum length of an interval, in microseconds.
const MIN_WIDTH_US: u64 = 10_000;
const SECOND_US: u64 = 1_000_000;
/// Maximum number of durations to draw from.
const MAX_DURATIONS: usize = 1_000;
/// Maximum number of failures of a call for which waits are kept separately.
const MAX_STEPS: usize = 16;

/// An attempt at the endpoint.
#[derive(Clone, Copy)]
struct EndpointAttempt {
    at: u64,
    took_us: Option<u64>,
    ok: bool,
}

/// A call of the incident: its attempts at the endpoint, and their rows in the table.
struct IncidentCall {
    /// Whether another endpoint answered it.
    answered_elsewhere: bool,
    attempts: Vec<Attempt>,
    rows: Vec<u32>,
}

/// Returns when each call of a log that `filter` wants sent its first attempt, in microseconds since the Unix epoch, in
/// ascending order.
#[must_use]
pub fn arrivals_of(table: &AttemptTable, filter: &Filter, complete: bool) -> Vec<i64> {
    let groups = group(table);
    let horizon = Horizon { data_end: Time::LATEST, complete, give_up_limits: GiveUpLimits::default() };
    let mut times = Vec::new();
    for piece in groups.pieces() {
        groups.calls(
            piece,
            &horizon,
            |_| true,
            |call| times.extend(filter.wants_call(call).then(|| call.first().sent.0)),
        );
    }
    times.sort_unstable();
    times
}

/// Observes an incident; `None` if none of its calls can be followed.
pub(super) fn observe(table: &AttemptTable, incident: &Incident, complete: bool) -> Option<Observed> {
    let calls = incident_calls(table, incident, complete);
    let from = calls.first()?.attempts.first()?.sent;
    let since = |time: Time| time.us_since(from).max(0).unsigned_abs();
    let attempts: Vec<EndpointAttempt> =
        calls.iter().flat_map(|call| &call.attempts).map(|one| endpoint_attempt(one, since(one.sent))).collect();
    let served = calls.iter().filter(|call| call.is_served()).count() as u64;
    let last = attempts.iter().map(|attempt| attempt.at).max()?;
    let failed = attempts.iter().filter(|attempt| !attempt.ok).count() as u64;
    let (hint_s, usd) = (hint_s(table, &calls, failed), usd(table, &calls));
    Some(Observed {
        from,
        arrivals: calls.iter().filter_map(|call| Some(since(call.attempts.first()?.sent))).collect(),
        figures: Figures {
            attempts: attempts.len() as f64,
            failed: failed as f64,
            served: served as f64,
            lost: calls.len() as f64 - served as f64,
            over_after_s: last as f64 / 1e6,
        },
        answered_elsewhere: calls.iter().filter(|call| call.answered_elsewhere).count() as u64,
        capacities: capacities(&attempts, last),
        service_us: sample_evenly(
            attempts.iter().filter(|attempt| attempt.ok).filter_map(|attempt| attempt.took_us).collect(),
        ),
        refusal_us: median(
            attempts.iter().filter(|attempt| !attempt.ok).filter_map(|attempt| attempt.took_us).collect(),
        ),
        hint_s,
        seen: seen(&calls),
        max_attempts: calls.iter().map(|call| call.attempts.len() as u32).max()?,
        first_wait_s: first_wait_s(table, &calls),
        usd,
    })
}

/// Returns every call with an attempt at the service during the incident, in the order of their first attempts. Calls
/// with a terminal failure are left out, since they say nothing about capacity.
fn incident_calls(table: &AttemptTable, incident: &Incident, complete: bool) -> Vec<IncidentCall> {
    let (first, last) = (incident.first.plus_us(-MARGIN_US), incident.last.plus_us(MARGIN_US));
    let groups = group_between(table, first, last);
    let data_end = table.rows.par_iter().with_min_len(1 << 14).map(Attempt::ended).max().unwrap_or(incident.last);
    let horizon = Horizon { data_end, complete, give_up_limits: GiveUpLimits::default() };
    let mut calls: Vec<IncidentCall> = Vec::new();
    for piece in groups.pieces() {
        groups.calls(piece, &horizon, |_| true, |call| calls.extend(incident_call(call, incident)));
    }
    calls.sort_by_key(|call| call.attempts.first().map(|one| (one.sent, one.key, one.file, one.line)));
    calls
}

fn incident_call(call: &Call<'_>, incident: &Incident) -> Option<IncidentCall> {
    let time = incident.first.plus_us(-LEAD_US)..=incident.last;
    if !call.attempts().any(|one| time.contains(&one.sent)) {
        return None;
    }
    let is_here = |position: &usize| Service::of(&call.origin(*position).scope()) == incident.service;
    let positions: Vec<usize> = (0..call.len()).filter(is_here).collect();
    let attempts: Vec<Attempt> = positions.iter().map(|position| *call.at(*position)).collect();
    let in_time = attempts.iter().any(|one| time.contains(&one.sent));
    let has_terminal_failure = attempts.iter().any(Attempt::terminal);
    let rows = positions.iter().map(|position| call.rows()[*position]).collect();
    let answered_elsewhere = attempts.iter().all(Attempt::failed) && call.attempts().any(|one| !one.failed());
    (in_time && !has_terminal_failure).then_some(IncidentCall { answered_elsewhere, attempts, rows })
}

impl IncidentCall {
    fn is_served(&self) -> bool {
        self.attempts.iter().any(|one| !one.failed())
    }
}

fn endpoint_attempt(attempt: &Attempt, at: u64) -> EndpointAttempt {
    let took_us = attempt.duration.as_us().map(|us| us.max(0).unsigned_abs());
    EndpointAttempt { at, took_us, ok: !attempt.failed() }
}

/// Returns the possible capacities of the endpoint, given its answers.
fn capacities(attempts: &[EndpointAttempt], last: u64) -> Vec<(&'static str, Capacity)> {
    // If the log has whole seconds, an interval shorter than a second may lie between two seconds and contain no attempt.
    // Intervals are therefore whole seconds, too.
    let clock = if attempts.iter().all(|attempt| attempt.at % SECOND_US == 0) { SECOND_US } else { 1 };
    let each = ATTEMPTS_PER_INTERVAL.map(|per_interval| {
        let intervals = (attempts.len() as u64 / per_interval).clamp(INTERVALS.0, INTERVALS.1);
        ("a rate that changes", capacity(attempts, (last / intervals + 1).max(MIN_WIDTH_US).next_multiple_of(clock)))
    });
    each.into_iter().chain(at_once(attempts).map(|max| ("so many at once", Capacity::AtOnce(max)))).collect()
}

/// Returns the median number of attempts being served at the times of rejections.
fn at_once(attempts: &[EndpointAttempt]) -> Option<u64> {
    let served = || attempts.iter().filter(|attempt| attempt.ok);
    let mut begun: Vec<u64> = served().map(|attempt| attempt.at).collect();
    let ends: Option<Vec<u64>> = served().map(|attempt| Some(attempt.at + attempt.took_us?)).collect();
    let mut ends = ends?;
    begun.sort_unstable();
    ends.sort_unstable();
    let in_flight = |at: u64| begun.partition_point(|begin| *begin <= at) - ends.partition_point(|end| *end <= at);
    let counts: Vec<u64> =
        attempts.iter().filter(|attempt| !attempt.ok).map(|attempt| in_flight(attempt.at) as u64).collect();
    (!counts.is_empty()).then(|| median(counts)).filter(|max| *max > 0)
}

/// Estimates what the endpoint could serve in each interval. If it rejected an attempt, it served all it could. If it
/// rejected none, it could have served as many as in any interval. If it received none, between two intervals with
/// rejections, it could have served the mean of all such intervals.
fn capacity(attempts: &[EndpointAttempt], width: u64) -> Capacity {
    let count = attempts.iter().map(|attempt| attempt.at / width).max().unwrap_or(0) as usize + 1;
    let mut intervals = vec![(0_u64, 0_u64); count];
    for attempt in attempts {
        let (served, refused) = &mut intervals[(attempt.at / width) as usize];
        *(if attempt.ok { served } else { refused }) += 1;
    }
    let max = intervals.iter().map(|(served, _)| *served).max().unwrap_or(0);
    let full: Vec<u64> = intervals.iter().filter(|(_, refused)| *refused > 0).map(|(served, _)| *served).collect();
    let mean = (full.iter().sum::<u64>() as f64 / full.len().max(1) as f64).round() as u64;
    let is_full = |one: Option<&(u64, u64)>| one.is_some_and(|(_, refused)| *refused > 0);
    let has_attempts = |one: &&(u64, u64)| one.0 + one.1 > 0;
    let of = |at: usize| match intervals[at] {
        (served, refused) if refused > 0 => served,
        (served, _) if served > 0 => max,
        _ => {
            let before = intervals[..at].iter().rev().find(has_attempts);
            let after = intervals[at..].iter().find(has_attempts);
            if is_full(before) && is_full(after) { mean } else { max }
        }
    };
    Capacity::PerInterval { width, known: (0..count).map(of).collect(), rest: max }
}

/// Returns what the clients did after each failure.
fn seen(calls: &[IncidentCall]) -> ObservedBehaviour {
    let mut steps: Vec<ObservedStep> = Vec::new();
    for call in calls {
        for (position, attempt) in call.attempts.iter().enumerate().filter(|(_, one)| one.failed()) {
            let step = position.min(MAX_STEPS - 1);
            if steps.len() <= step {
                steps.resize(step + 1, ObservedStep::default());
            }
            match call.attempts.get(position + 1) {
                Some(next) => steps[step].waits_s.push(next.sent.s_since(attempt.ended()).max(0.0)),
                None => steps[step].stopped += 1,
            }
        }
    }
    ObservedBehaviour { steps }
}

fn hint_of(table: &AttemptTable, attempt: &Attempt) -> Option<f64> {
    table.detail(attempt)?.hint_us.map(|us| us as f64 / 1e6)
}

/// Returns the median hint in seconds, if at least half of the failures have one.
fn hint_s(table: &AttemptTable, calls: &[IncidentCall], failed: u64) -> Option<f64> {
    let hints = calls.iter().flat_map(|call| &call.attempts).filter_map(|one| hint_of(table, one));
    let hints: Vec<u64> = hints.map(|s| (s * 1e6) as u64).collect();
    (!hints.is_empty() && hints.len() as u64 * 2 >= failed).then(|| median(hints) as f64 / 1e6)
}

/// The nominal first wait is the longest that jitter allows; the 95th percentile is close to it.
fn first_wait_s(table: &AttemptTable, calls: &[IncidentCall]) -> Option<f64> {
    let first_waits = calls.iter().filter_map(|call| match call.attempts.as_slice() {
        [first, second, ..] if first.failed() && hint_of(table, first).is_none() => {
            Some(second.sent.us_since(first.ended()).max(0).unsigned_abs())
        }
        _ => None,
    });
    let mut first_waits: Vec<u64> = first_waits.collect();
    first_waits.sort_unstable();
    first_waits.get(first_waits.len().saturating_sub(1) * 95 / 100).map(|us| *us as f64 / 1e6)
}

/// Returns the mean costs, if the log gives the cost of served attempts.
fn usd(table: &AttemptTable, calls: &[IncidentCall]) -> Option<(f64, f64)> {
    let mean = |ok: bool| {
        let attempts = calls.iter().flat_map(|call| call.attempts.iter().zip(&call.rows));
        let known = attempts.filter(|(one, _)| one.failed() != ok && one.flags.has(Flags::COST));
        let costs: Vec<u64> = known.map(|(_, row)| u64::from(cost(table.usage(*row as usize)))).collect();
        (!costs.is_empty()).then(|| costs.iter().sum::<u64>() as f64 / costs.len() as f64 / 1e6)
    };
    Some((mean(true)?, mean(false).unwrap_or(0.0)))
}

fn cost(usage: Usage) -> u32 {
    usage.cost_micro_usd
}

fn median(mut figures: Vec<u64>) -> u64 {
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied().unwrap_or(0)
}

/// Reduces the values to at most [`MAX_DURATIONS`] with the same distribution.
fn sample_evenly(mut figures: Vec<u64>) -> Vec<u64> {
    figures.sort_unstable();
    let each = figures.len().div_ceil(MAX_DURATIONS).max(1);
    figures.into_iter().step_by(each).collect()
}

impl Incident {
    /// Returns whether its failures can be overcome by waiting, as those of capacity or rate can.
    pub(super) fn can_be_overcome_by_waiting(&self) -> bool {
        self.class.default_bucket() != Bucket::Terminal
    }
}
