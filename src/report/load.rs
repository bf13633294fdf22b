//! The load on each rate-limit scope: arrivals, time in system, concurrency, what was offered and what allowed.

use super::build::masked;
use super::finding::rounded;
use super::{LimitKind, Share};
use crate::attempt::{Scope, Time};
use crate::measure::{Amplified, Fleet, ScopeTally, busiest_minute, most_amplified};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The load on one scope.
#[derive(Clone, Debug, Serialize)]
pub struct LoadRow {
    /// Provider, model and account, as people say it.
    pub scope: String,
    /// Calls that started on it.
    pub calls: u64,
    /// Calls that started a second, over the time of the log.
    pub arrivals_per_s: Option<f64>,
    /// Mean time from the first send of a call to its last answer, in seconds.
    pub time_in_system_s: Option<f64>,
    /// Calls under way at once by Little's law: arrivals a second times time in system.
    pub concurrency: Option<f64>,
    /// Attempts on their way at once, measured: mean over the time of the log.
    pub in_flight_mean: Option<f64>,
    /// The same at its highest, as a mean over `resolution_s`.
    pub in_flight_peak: Option<f64>,
    /// When that was.
    pub in_flight_peak_at: Option<Time>,
    /// What the peak is a mean over, in seconds.
    pub resolution_s: f64,
    /// Attempts whose duration is known: what the measured concurrency rests on.
    pub timed: Share,
    /// Most sends in a minute, given for a minute.
    pub offered_per_min: Option<f64>,
    /// When that minute began.
    pub offered_at: Option<Time>,
    /// Requests that the limit allows, as the headers gave it last; the interval is the provider's, mostly a minute.
    pub requests_limit: Option<i64>,
    /// Sends that a rate limit refused.
    pub refused: Share,
    /// The five minutes whose calls became most sends each, where at least 20 calls started in them.
    pub amplified: Option<AmplifiedSpan>,
    /// The ten minutes with most retries for each first attempt, likewise.
    pub retry_budget: Option<AmplifiedSpan>,
    /// Sends and concurrency over time; of the busiest scopes alone.
    pub course: Option<LoadCourse>,
}

/// The load on a scope, stretch by stretch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadCourse {
    /// How long a stretch is, in seconds.
    pub resolution_s: f64,
    /// Stretches in time order; those in which nothing was sent and nothing changed are left out.
    pub points: Vec<LoadPoint>,
}

/// One stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadPoint {
    /// Its start.
    pub at: Time,
    /// Attempts sent in it.
    pub sends: u64,
    /// Of them, those that a rate limit refused.
    pub refused: u64,
    /// Attempts on their way at once, on average; 0 where the log tells no durations.
    pub in_flight: f64,
}

/// Some minutes, and what the calls that started in them became.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AmplifiedSpan {
    /// Their start.
    pub from: Time,
    /// Their end.
    pub until: Time,
    /// Calls that started in them.
    pub calls: u64,
    /// All sends of those calls.
    pub sends: u64,
    /// Sends a call.
    pub sends_per_call: f64,
    /// Retries for each first attempt.
    pub retry_ratio: f64,
}

/// Least stretch concurrency is measured over, µs.
const SECOND_US: i64 = 1_000_000;
const FIVE_MINUTES_US: i64 = 300_000_000;
const TEN_MINUTES_US: i64 = 600_000_000;
/// Stretches of a course: what a chart can show.
const STRETCHES: i64 = 120;
/// Scopes whose course is told, the busiest.
const COURSES: usize = 6;
/// Calls under which a ratio says nothing.
const LEAST_CALLS: u64 = 20;

/// Every scope, that with most calls first.
pub(super) fn load(fleet: &Fleet<'_>) -> Vec<LoadRow> {
    let first = fleet.runs.values().map(|run| run.first).min();
    let last = fleet.runs.values().map(|run| run.last).max();
    let Some(window) = first.zip(last) else { return Vec::new() };
    let scopes = fleet.sorted_scopes().into_iter();
    let mut rows: Vec<(LoadRow, &ScopeTally)> =
        scopes.map(|(scope, tally)| (row(fleet, scope, tally, window), tally)).collect();
    rows.sort_by_key(|(row, _)| std::cmp::Reverse(row.calls));
    rows.iter_mut().take(COURSES).for_each(|(row, tally)| row.course = course(tally, window));
    rows.into_iter().map(|(row, _)| row).collect()
}

/// Both series on one grid: what was sent, and what was on its way.
fn course(tally: &ScopeTally, (first, last): (Time, Time)) -> Option<LoadCourse> {
    let least = (last.us_since(first) / STRETCHES).max(SECOND_US);
    let width_us = tally.flow.clone().no_finer_than(least).width_us();
    let flying = tally.load.in_flight(width_us);
    // Whichever is coarser decides.
    let (width_us, flow) = tally.flow.clone().no_finer_than(flying.width_us.max(width_us)).sorted();
    let sent: BTreeMap<Time, (u64, u64)> = flow.iter().map(|(at, flow)| (*at, (flow.sends, flow.rejected))).collect();
    let times: BTreeSet<Time> = sent.keys().copied().chain(flying.busy.iter().map(|(at, _)| *at)).collect();
    let mut busy = flying.busy.iter().peekable();
    let mut level = 0.0;
    let mut points: Vec<LoadPoint> = Vec::new();
    for at in times {
        // In a gap the level stays what it was.
        while let Some((_, us)) = busy.next_if(|(from, _)| *from <= at) {
            level = rounded(*us as f64 / flying.width_us.max(1) as f64);
        }
        let (sends, refused) = sent.get(&at).copied().unwrap_or_default();
        points.push(LoadPoint { at, sends, refused, in_flight: level });
    }
    (points.len() > 1).then(|| LoadCourse { resolution_s: rounded(width_us as f64 / 1e6), points })
}

fn row(fleet: &Fleet<'_>, scope: Scope, tally: &ScopeTally, (first, last): (Time, Time)) -> LoadRow {
    let load = &tally.load;
    let (arrivals, stay) = (load.arrivals_per_s(first, last), load.time_in_system_s());
    let flying = load.in_flight(SECOND_US);
    let peak = flying.peak();
    let (sends, refused) = tally.sends();
    let busiest = busiest_minute(&tally.flow);
    let log_s = last.s_since(first);
    LoadRow {
        scope: masked(&fleet.scope_label(&scope)),
        calls: load.calls,
        arrivals_per_s: arrivals.map(rounded),
        time_in_system_s: stay.map(rounded),
        concurrency: arrivals.zip(stay).map(|(arrivals, stay)| rounded(arrivals * stay)),
        in_flight_mean: (load.timed > 0 && log_s >= 1.0).then(|| rounded(load.busy_us as f64 / 1e6 / log_s)),
        in_flight_peak: peak.map(|(_, level)| rounded(level)),
        in_flight_peak_at: peak.map(|(at, _)| at),
        resolution_s: rounded(flying.width_us as f64 / 1e6),
        timed: Share { count: load.timed, of: sends },
        offered_per_min: busiest.map(|minute| rounded(minute.offered_per_min())),
        offered_at: busiest.map(|minute| minute.from),
        requests_limit: requests_limit(fleet, scope),
        refused: Share { count: refused, of: sends },
        amplified: most_amplified(&tally.flow, FIVE_MINUTES_US, LEAST_CALLS).map(span),
        retry_budget: most_amplified(&tally.flow, TEN_MINUTES_US, LEAST_CALLS).map(span),
        course: None,
    }
}

fn span(worst: Amplified) -> AmplifiedSpan {
    AmplifiedSpan {
        from: worst.from,
        until: worst.until,
        calls: worst.calls,
        sends: worst.sends,
        sends_per_call: rounded(worst.ratio()),
        retry_ratio: rounded(worst.retry_ratio()),
    }
}

fn requests_limit(fleet: &Fleet<'_>, scope: Scope) -> Option<i64> {
    let mut tracks = fleet.table.gauges.iter();
    let (_, _, track) = tracks.find(|(other, kind, _)| *other == scope && *kind == LimitKind::Requests)?;
    let (_, gauge) = track.series.clone().sorted().1.pop()?;
    Some(gauge.min.1)
}
