//! Load on each rate-limit scope: arrivals, time in system, concurrency, sends offered and allowed.

use super::{LimitKind, Share};
use crate::measure::{Amplified, Covered, Fleet, PeakPoint, ScopeTally, most_amplified};
use crate::model::{Scope, Time, rounded};
use crate::policy::concurrency;
use crate::untrusted::masked;
use serde::Serialize;
use std::collections::BTreeMap;

/// Load on one scope.
#[derive(Clone, Debug, Serialize)]
pub struct LoadRow {
    /// Provider, model and account, as shown to users.
    pub scope: String,
    /// Calls that started on it.
    pub calls: u64,
    /// Calls started per second, over the time of the log.
    pub arrivals_per_s: Option<f64>,
    /// Mean time from the first send of a call to its last answer, in seconds.
    pub time_in_system_s: Option<f64>,
    /// Concurrent calls by Little's law: arrivals per second times time in system.
    pub concurrency: Option<f64>,
    /// Measured concurrent attempts, as mean over the time of the log.
    pub in_flight_mean: Option<f64>,
    /// Most attempts in flight at one moment, an exact count.
    pub in_flight_peak: Option<u64>,
    /// When that peak was first reached.
    pub in_flight_peak_at: Option<Time>,
    /// Attempts whose duration is known, of all; the measured concurrency is based on these.
    pub timed: Share,
    /// Most attempts sent within any 60 s, an exact count.
    pub offered_per_min: Option<u64>,
    /// When the first attempt of that minute was sent.
    pub offered_at: Option<Time>,
    /// Requests allowed by the limit, as in the latest headers; the interval is the provider's, mostly a minute.
    pub requests_limit: Option<i64>,
    /// Sends that were refused, by a rate limit or for lack of capacity (an overload, a 503), of all sends.
    pub refused: Share,
    /// The five minutes in which calls started that made the most sends each; at least 20 calls are required.
    pub amplified: Option<AmplifiedSpan>,
    /// The ten minutes with the most retries per first attempt; at least 20 calls are required.
    pub retry_budget: Option<AmplifiedSpan>,
    /// Sends and concurrency over time; only for the busiest scopes.
    pub course: Option<LoadSeries>,
}

/// Load on a scope over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadSeries {
    /// Width of a time bucket in seconds.
    pub resolution_s: f64,
    /// Time buckets in order; those in which nothing was sent and nothing changed are omitted.
    pub points: Vec<LoadPoint>,
}

/// Load in one time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadPoint {
    /// Start of the bucket.
    pub at: Time,
    /// Attempts sent in the bucket.
    pub sends: u64,
    /// Number of these attempts that were refused, by a rate limit or for lack of capacity.
    pub refused: u64,
    /// Most attempts sent within 60 s that ended in the bucket.
    pub sends_per_min: u64,
    /// Most attempts refused within 60 s that ended in the bucket.
    pub refused_per_min: u64,
    /// Most attempts in flight at once; 0 if the log has no durations.
    pub in_flight: u64,
}

/// The sends of the calls that started within a period of a few minutes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AmplifiedSpan {
    /// When the first of the calls started, or shortly before.
    pub from: Time,
    /// End of the period, by which the last of the calls had started.
    pub until: Time,
    /// Calls that started in that time.
    pub calls: u64,
    /// All sends of those calls, at any time.
    pub sends: u64,
    /// Sends per call.
    pub sends_per_call: f64,
    /// Retries per first attempt.
    pub retry_ratio: f64,
}

/// Minimum width of a time bucket, in µs.
const MIN_BUCKET_US: i64 = 1_000_000;
const FIVE_MINUTES_US: i64 = 300_000_000;
const TEN_MINUTES_US: i64 = 600_000_000;
/// Maximum number of time buckets of a series, as many as a chart can show.
const MAX_BUCKETS: i64 = 120;
/// Maximum number of scopes whose load over time is in the report: those with most calls.
const MAX_SERIES: usize = 6;
/// Calls below which a ratio is not meaningful.
const MIN_CALLS: u64 = 20;

/// Returns every scope, those with most calls first.
pub(super) fn load(fleet: &Fleet<'_>) -> Vec<LoadRow> {
    let Some(window) = fleet.covered() else { return Vec::new() };
    let scopes = fleet.sorted_scopes().into_iter();
    let mut rows: Vec<(LoadRow, &ScopeTally)> =
        scopes.map(|(scope, tally)| (row(fleet, scope, tally, window), tally)).collect();
    rows.sort_by_key(|(row, _)| std::cmp::Reverse(row.calls));
    rows.iter_mut().take(MAX_SERIES).for_each(|(row, tally)| row.course = course(tally, window));
    rows.into_iter().map(|(row, _)| row).collect()
}

/// Returns sends and attempts in flight in the same time buckets.
fn course(tally: &ScopeTally, window: Covered) -> Option<LoadSeries> {
    let min_width_us = (window.last.us_since(window.first) / MAX_BUCKETS).max(MIN_BUCKET_US);
    // The coarser of the two series determines the width.
    let (width_us, flow) = tally.flow.no_finer_than(tally.short_window.peaks().width_us().max(min_width_us));
    let (_, peaks) = tally.short_window.peaks().points(width_us);
    let mut points: BTreeMap<Time, LoadPoint> = peaks.iter().map(|(at, peak)| (*at, point(*at, peak))).collect();
    for (at, flow) in flow {
        let point = points.entry(at).or_insert_with(|| point(at, &PeakPoint::default()));
        (point.sends, point.refused) = (flow.sends, flow.refused());
    }
    let points: Vec<LoadPoint> = points.into_values().filter(|point| window.overlaps(point.at, width_us)).collect();
    (points.len() > 1).then(|| LoadSeries { resolution_s: rounded(width_us as f64 / 1e6), points })
}

fn point(at: Time, peak: &PeakPoint) -> LoadPoint {
    LoadPoint {
        at,
        sends: 0,
        refused: 0,
        sends_per_min: peak.sent,
        refused_per_min: peak.refused,
        in_flight: peak.in_flight,
    }
}

fn row(fleet: &Fleet<'_>, scope: Scope, tally: &ScopeTally, window: Covered) -> LoadRow {
    let load = &tally.load;
    let (arrivals, time_in_system) = (load.arrivals_per_s(window.first, window.last), load.time_in_system_s());
    let peaks = tally.short_window.peaks();
    let (in_flight_peak, busiest_minute) = (peaks.in_flight(), peaks.per_minute());
    let (sends, refused) = tally.sends();
    let log_s = window.last.s_since(window.first);
    LoadRow {
        scope: masked(&fleet.scope_label(&scope)),
        calls: load.calls,
        arrivals_per_s: arrivals.map(rounded),
        time_in_system_s: time_in_system.map(rounded),
        concurrency: arrivals
            .zip(time_in_system)
            .map(|(arrivals, time_in_system)| rounded(concurrency(arrivals, time_in_system))),
        in_flight_mean: (load.timed > 0 && log_s >= 1.0).then(|| rounded(load.busy_us as f64 / 1e6 / log_s)),
        in_flight_peak: in_flight_peak.map(|peak| peak.count),
        in_flight_peak_at: in_flight_peak.map(|peak| peak.at),
        timed: Share { count: load.timed, of: sends },
        offered_per_min: busiest_minute.map(|minute| minute.count),
        offered_at: busiest_minute.map(|minute| minute.at),
        requests_limit: requests_limit(fleet, scope),
        refused: Share { count: refused, of: sends },
        amplified: most_amplified(&tally.flow, FIVE_MINUTES_US, MIN_CALLS).map(span),
        retry_budget: most_amplified(&tally.flow, TEN_MINUTES_US, MIN_CALLS).map(span),
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
    let readings = fleet.table.headroom.get(scope, LimitKind::Requests)?;
    let (_, summary) = readings.series.iter().max_by_key(|(at, _)| *at)?;
    Some(summary.lowest.limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Options, judge};

    #[test]
    fn rate_limits_and_lack_of_capacity_count_as_refused() {
        let statuses = [200, 429, 529, 503, 500, 400, 502];
        let line = |(second, status): (usize, &u32)| {
            format!(
                r#"{{"ts":"2026-03-10T09:00:{:02}Z","call_id":"c{second}","model":"m","status":{status}}}"#,
                second * 5
            )
        };
        let log: Vec<String> = statuses.iter().enumerate().map(line).collect();
        let table = crate::ingest::read_str(&log.join("\n"));
        let rows = load(&judge(&table, &Options { complete: true, ..Options::default() }).fleet);
        assert_eq!(rows[0].refused, Share { count: 3, of: 7 });
        let course = rows[0].course.as_ref().unwrap();
        assert_eq!(course.points.iter().map(|point| point.refused).sum::<u64>(), 3);
        assert_eq!(course.points.iter().map(|point| point.refused_per_min).max(), Some(3));
    }

    #[test]
    fn a_503_is_refused_once_whatever_its_type() {
        let log = |error: &str| {
            format!(r#"{{"ts":"2026-03-10T09:00:00Z","call_id":"c","model":"m","status":503,"error_type":"{error}"}}"#)
        };
        let refused = |error: &str| {
            let table = crate::ingest::read_str(&log(error));
            load(&judge(&table, &Options { complete: true, ..Options::default() }).fleet)[0].refused.count
        };
        for error in ["", "api_error", "overloaded_error", "Service Unavailable", "rate_limit_error", "timeout_error"] {
            assert_eq!(refused(error), 1, "{error}");
        }
        assert_eq!(refused("authentication_error"), 0);
    }
}
