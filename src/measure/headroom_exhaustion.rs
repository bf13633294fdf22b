//! Rate limits of which little remained while sends continued at the same rate.

use super::flow::{Flow, Flows};
use super::refusals::{RefusalCount, Refusals};
use crate::model::{LimitKind, ReadingSummary, Time};

/// Thresholds for [`exhaustions`].
#[derive(Clone, Copy, Debug)]
pub struct ExhaustionTerms {
    /// Share of a limit below which it counts as running low.
    pub under: f64,
    /// Minimum ratio of the rate of sends after the crossing to the rate before.
    pub rate_kept: f64,
    /// How long after a limit was exhausted a 429 is still attributed to it, in µs.
    pub follow_us: i64,
    /// Minimum number of low readings if the log begins with them.
    pub readings: usize,
    /// How long after a low reading an outdated one may still arrive, in µs.
    pub stale_us: i64,
    /// How long after the crossing the rate of sends is measured, in µs.
    pub look_us: i64,
}

/// One case in which little of a limit remained and sends continued.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadroomExhaustion {
    /// Kind of limit.
    pub kind: LimitKind,
    /// Amount the limit allows.
    pub limit: i64,
    /// Crossing: when the remaining amount was first below the threshold.
    pub crossed: Time,
    /// Smallest remaining amount.
    pub least: i64,
    /// When nothing remained.
    pub used_up: Option<Time>,
    /// Send time and row of the first 429 after the crossing.
    pub refused: Option<(Time, u32)>,
    /// Number of 429s until the limit had recovered.
    pub refusals: u64,
    /// Whether nothing remained and 429s followed.
    pub hit: bool,
    /// Sends per second before and after the crossing.
    pub rates: (f64, f64),
    /// Last time at which it was known to be low.
    pub until: Time,
    /// Row of the first send after the crossing.
    pub row: Option<u32>,
}

/// Sends and 429s of one scope, prepared for repeated queries.
#[derive(Debug)]
pub struct Traffic {
    width: i64,
    flow: Vec<(Time, Flow)>,
    refusals: Vec<RefusalCount>,
}

impl Traffic {
    /// Creates the traffic of a scope from its flow and its 429s.
    #[must_use]
    pub fn of(flow: &Flows, refusals: &Refusals) -> Traffic {
        let (width, flow) = flow.sorted();
        let refusals = refusals.sorted().1.into_iter().map(|(_, refusal)| refusal).collect();
        Traffic { width, flow, refusals }
    }

    /// Returns the number of sends.
    #[must_use]
    pub fn sends(&self) -> u64 {
        self.flow.iter().map(|(_, flow)| flow.sends).sum()
    }

    /// Returns the row of the first send in the bucket that contains `at`, or in the next one with sends.
    fn first_row(&self, at: Time) -> Option<u32> {
        let (_, flow) = self.flow.get(self.index(self.bucket(at)))?;
        flow.first.map(|row_ref| row_ref.row)
    }

    fn bucket(&self, at: Time) -> i64 {
        at.0.div_euclid(self.width)
    }

    fn index(&self, bucket: i64) -> usize {
        self.flow.partition_point(|(at, _)| self.bucket(*at) < bucket)
    }

    /// Returns the sends per second in the buckets `from..to`, and their number.
    fn rate(&self, from: i64, to: i64) -> (f64, u64) {
        let span = &self.flow[self.index(from)..self.index(to.max(from))];
        let sends: u64 = span.iter().map(|(_, flow)| flow.sends).sum();
        (sends as f64 / ((to - from).max(1) * self.width) as f64 * 1e6, sends)
    }

    fn refusals(&self, from: Time, until: Time) -> &[RefusalCount] {
        let index = |time: Time| self.refusals.partition_point(|refusal| refusal.first.sent < time);
        &self.refusals[index(from)..index(until.plus_us(1)).max(index(from))]
    }

    /// Returns whether an attempt sent before `at` was refused at that time or soon after.
    fn was_refused_in_flight(&self, at: Time) -> bool {
        let index = self.refusals.partition_point(|refusal| refusal.first.sent < at);
        self.refusals[..index].iter().rev().take(MAX_CHECKED).any(|refusal| refusal.answered >= at)
    }

    /// Returns the sends per second over the whole log.
    fn usual(&self) -> Option<f64> {
        let bucket = |(at, _): &(Time, Flow)| self.bucket(*at);
        Some(self.rate(bucket(self.flow.first()?), bucket(self.flow.last()?) + 1).0)
    }

    /// Returns the sends per second before and after `crossed`, if they continued until `until` at the former rate. A
    /// single send after the crossing was already in flight, and a few more may be coincidence.
    fn rates_if_continued(
        &self,
        crossed: Time,
        until: Time,
        case: Case,
        terms: &ExhaustionTerms,
    ) -> Option<(f64, f64)> {
        let (first, at) = (self.bucket(self.flow.first()?.0), self.bucket(crossed));
        let span = self.bucket(until) - at;
        let (before, after) = if case.low_from_the_start {
            // There is nothing before to compare with, so compare the first half with the second.
            let half = at + span / 2;
            (self.rate(at, half), self.rate(half, at + span + 1))
        } else if span == 0 && case.hit && self.width > MAX_FINE_BUCKET_US {
            (self.rate(at - 1, at), self.rate(at, at + 1))
        } else {
            let back = span.min(at - first);
            (self.rate(at - back, at), self.rate(at + 1, at + span + 1))
        };
        // A client that waited because of an earlier 429 sent less before the crossing than it would have, so the rate
        // is at least the usual one.
        let rate = before.0.max(self.usual()?);
        let most = terms.rate_kept * rate * after.1 as f64 / after.0.max(f64::MIN_POSITIVE);
        let too_many = after.1 as f64 >= most + most.sqrt();
        (after.1 >= 2 && too_many).then_some((rate, after.0))
    }
}

/// Maximum number of entries of 429s that are checked before a given time. Each represents those of 66 ms or more, and
/// a 429 is answered within a second or two.
const MAX_CHECKED: usize = 256;

/// Buckets wider than this may contain the complete exhaustion of a limit and its recovery, in µs.
const MAX_FINE_BUCKET_US: i64 = 1_000_000;

/// What is known of an exhaustion before its rates are computed.
#[derive(Clone, Copy)]
struct Case {
    low_from_the_start: bool,
    hit: bool,
}

/// Returns all cases in which little of a limit remained and sends continued, in time order. `readings` are buckets of
/// `width` µs.
#[must_use]
pub fn exhaustions(
    kind: LimitKind,
    (width, readings): &(i64, Vec<(Time, ReadingSummary)>),
    traffic: &Traffic,
    terms: &ExhaustionTerms,
) -> Vec<HeadroomExhaustion> {
    let low = |summary: &ReadingSummary| summary.min_ratio() < terms.under;
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(begin) = (start..readings.len()).find(|&at| low(&readings[at].1)) {
        let end = episode_end(readings, begin, terms.stale_us, low);
        if begin > 0 || end >= terms.readings {
            let episode = Episode {
                readings: &readings[begin..end],
                recovered: readings.get(end).map(|(_, summary)| summary.first.0),
                from_the_start: begin == 0,
                coarse: *width > MAX_FINE_BUCKET_US,
            };
            found.extend(episode.judge(kind, traffic, terms));
        }
        start = end;
    }
    found
}

/// Returns the index after the last low reading of the episode that starts at `begin`. A response that was in flight
/// for long reports an earlier state, so a single such reading between two low ones is not a recovery.
fn episode_end(
    readings: &[(Time, ReadingSummary)],
    begin: usize,
    stale_us: i64,
    low: impl Fn(&ReadingSummary) -> bool,
) -> usize {
    let mut last = begin;
    for (at, (_, summary)) in readings.iter().enumerate().skip(begin + 1) {
        if low(summary) {
            last = at;
        } else if summary.first.0.us_since(readings[last].1.last.0) > stale_us {
            break;
        }
    }
    last + 1
}

/// Consecutive readings that show a limit running low.
struct Episode<'r> {
    readings: &'r [(Time, ReadingSummary)],
    /// Time of the first reading after them.
    recovered: Option<Time>,
    from_the_start: bool,
    coarse: bool,
}

impl Episode<'_> {
    fn judge(&self, kind: LimitKind, traffic: &Traffic, terms: &ExhaustionTerms) -> Option<HeadroomExhaustion> {
        let (begin, last) = (&self.readings.first()?.1, &self.readings.last()?.1);
        let crossed = crossing(begin, terms.under);
        let until = last.last.0.max(last.lowest.at);
        let minima = self.readings.iter().map(|(_, summary)| summary.lowest);
        let least = minima.min_by_key(|reading| (reading.remaining, reading.at))?;
        let used_up = (least.remaining == 0).then_some(least.at);
        // A 429 is attributed to this exhaustion until the limit is seen to recover, and for some time after nothing
        // remained.
        let latest = until.plus_us(terms.follow_us).min(self.recovered.unwrap_or(Time(i64::MAX)));
        let end = used_up.map_or(latest, |used_up_at| latest.max(used_up_at.plus_us(terms.follow_us)));
        let refusals = traffic.refusals(crossed, end);
        // If a refused attempt was in flight at the crossing, the client had no time to slow down before its 429.
        if traffic.was_refused_in_flight(crossed) {
            return None;
        }
        let hit = used_up.is_some_and(|used_up_at| refusals.iter().any(|refusal| refusal.answered >= used_up_at));
        if !hit && !self.was_low_throughout(terms) {
            return None;
        }
        let first = refusals.first().map(|refusal| (refusal.first.sent, refusal.first.row));
        // After a 429 the server determines the rate, so the rate is measured up to the first one.
        let measured_until = first.map_or(until, |(at, _)| at).min(crossed.plus_us(terms.look_us));
        let case = Case { low_from_the_start: self.from_the_start, hit };
        // If the readings end before the 429, the rate up to the last reading is judged instead.
        let rates = traffic
            .rates_if_continued(crossed, measured_until.max(crossed), case, terms)
            .or_else(|| traffic.rates_if_continued(crossed, until.min(measured_until).max(crossed), case, terms))?;
        Some(HeadroomExhaustion {
            kind,
            limit: begin.lowest.limit,
            crossed,
            least: least.remaining,
            used_up,
            refused: first,
            refusals: refusals.iter().map(|refusal| refusal.sends).sum(),
            hit,
            rates,
            until,
            row: traffic.first_row(crossed),
        })
    }

    /// Returns whether the limit was low throughout, as far as the width of the buckets can show: a bucket of a minute
    /// that ends full may have been low only briefly.
    fn was_low_throughout(&self, terms: &ExhaustionTerms) -> bool {
        let low = |remaining: i64, limit: i64| (remaining as f64) < terms.under * limit as f64;
        let all_low = |summary: &ReadingSummary| {
            low(summary.first.1, summary.lowest.limit) && low(summary.last.1, summary.lowest.limit)
        };
        let inner = self.readings.get(1..self.readings.len() - 1).unwrap_or_default();
        !self.coarse || (!inner.is_empty() && inner.iter().all(|(_, summary)| all_low(summary)))
    }
}

/// Returns when the limit was first seen below the share; with wide buckets, at the latest when it was lowest.
fn crossing(summary: &ReadingSummary, under: f64) -> Time {
    let first_share = summary.first.1 as f64 / summary.lowest.limit as f64;
    if first_share < under { summary.first.0 } else { summary.lowest.at }
}
