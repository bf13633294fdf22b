//! Limits that were running out while sends went on as before.

use super::flow::Flow;
use super::gate::Gate;
use crate::attempt::{AttemptTable, Gauge, LimitKind, Series, Time};

/// Thresholds of [`drains`].
#[derive(Clone, Copy, Debug)]
pub struct DrainTerms {
    /// Share of a limit under which it counts as running out.
    pub under: f64,
    /// Least ratio of the rate of sends after to the rate before.
    pub rate_kept: f64,
    /// How long after a limit was used up a 429 is still due to it, µs.
    pub follow_us: i64,
    /// Readings that must show the limit running out where the log begins that way.
    pub readings: usize,
}

/// One time a limit ran low, and sends went on.
#[derive(Clone, Debug, PartialEq)]
pub struct Drain {
    /// Which limit.
    pub kind: LimitKind,
    /// How much it allows.
    pub limit: i64,
    /// When it was first seen running out.
    pub crossed: Time,
    /// The least that was left.
    pub least: i64,
    /// When nothing was left.
    pub used_up: Option<Time>,
    /// The first 429 from then on, or from the crossing on: when it was sent, and its row.
    pub refused: Option<(Time, u32)>,
    /// 429s until the limit had recovered.
    pub refusals: u64,
    /// Nothing was left, and 429s followed.
    pub hit: bool,
    /// Sends a second before and after the crossing.
    pub rates: (f64, f64),
    /// The last moment it was known to be running out.
    pub until: Time,
    /// The first send from the crossing on.
    pub row: Option<u32>,
}

/// What one scope was sent, and its 429s, ready to be asked about many times.
#[derive(Debug)]
pub struct Traffic {
    width: i64,
    flow: Vec<(Time, Flow)>,
    refusals: Vec<(Time, u64, u32)>,
}

impl Traffic {
    /// Of a scope with this flow and these 429s.
    #[must_use]
    pub fn of(table: &AttemptTable, flow: &Series<Flow>, gate: &Gate) -> Traffic {
        let (width, flow) = flow.clone().sorted();
        Traffic { width, flow, refusals: gate.refusals(table) }
    }

    /// All sends.
    #[must_use]
    pub fn sends(&self) -> u64 {
        self.flow.iter().map(|(_, flow)| flow.sends).sum()
    }

    fn bucket(&self, at: Time) -> i64 {
        at.0.div_euclid(self.width)
    }

    fn place(&self, bucket: i64) -> usize {
        self.flow.partition_point(|(at, _)| self.bucket(*at) < bucket)
    }

    /// Sends a second in the buckets `from..to`, and how many those are.
    fn rate(&self, from: i64, to: i64) -> (f64, u64) {
        let span = &self.flow[self.place(from)..self.place(to.max(from))];
        let sends: u64 = span.iter().map(|(_, flow)| flow.sends).sum();
        (sends as f64 / ((to - from).max(1) * self.width) as f64 * 1e6, sends)
    }

    fn refusals(&self, from: Time, until: Time) -> &[(Time, u64, u32)] {
        let place = |time: Time| self.refusals.partition_point(|(at, ..)| *at < time);
        &self.refusals[place(from)..place(until.plus_us(1)).max(place(from))]
    }

    /// The rates before and after `crossed`, where sends went on until `until` as they had before. A single
    /// send after the crossing was on its way.
    fn went_on(&self, crossed: Time, until: Time, ran_dry_before: bool, terms: &DrainTerms) -> Option<(f64, f64)> {
        let (first, at) = (self.bucket(self.flow.first()?.0), self.bucket(crossed));
        let span = self.bucket(until) - at;
        let coarse = self.width > 1_000_000;
        let (before, after) = if ran_dry_before {
            // Nothing to compare with but itself: its first half and its second.
            let half = at + span / 2;
            (self.rate(at, half), self.rate(half, at + span + 1))
        } else if span == 0 && coarse {
            (self.rate(at - 1, at), self.rate(at, at + 1))
        } else {
            let back = span.min(at - first);
            (self.rate(at - back, at), self.rate(at + 1, at + span + 1))
        };
        (after.1 >= 2 && after.0 >= terms.rate_kept * before.0).then_some((before.0, after.0))
    }
}

/// Every time a limit ran low and sends went on, in time order.
#[must_use]
pub fn drains(kind: LimitKind, readings: &[(Time, Gauge)], traffic: &Traffic, terms: &DrainTerms) -> Vec<Drain> {
    let low = |gauge: &Gauge| gauge.min_ratio() < terms.under;
    let mut found = Vec::new();
    let mut start = 0;
    for episode in readings.chunk_by(|(_, a), (_, b)| low(a) == low(b)) {
        let end = start + episode.len();
        if low(&episode[0].1) && (start > 0 || episode.len() >= terms.readings) {
            let recovered = readings.get(end).map(|(_, gauge)| gauge.first.0);
            found.extend(judge(kind, episode, recovered, start == 0, traffic, terms));
        }
        start = end;
    }
    found
}

fn judge(
    kind: LimitKind,
    episode: &[(Time, Gauge)],
    recovered: Option<Time>,
    ran_dry_before: bool,
    traffic: &Traffic,
    terms: &DrainTerms,
) -> Option<Drain> {
    let (begin, last) = (&episode.first()?.1, &episode.last()?.1);
    let crossed = crossing(begin, terms.under);
    let until = last.last.0.max(last.min.2);
    let used_up = episode.iter().map(|(_, gauge)| gauge.min).find(|min| min.0 == 0).map(|min| min.2);
    // A 429 is this drain's while the limit had not been seen to recover, and soon after it was used up.
    let open = until.plus_us(terms.follow_us).min(recovered.unwrap_or(Time(i64::MAX)));
    let after_zero = used_up.map_or(open, |zero| open.max(zero.plus_us(terms.follow_us)));
    let refused = traffic.refusals(used_up.unwrap_or(crossed), after_zero);
    let first = refused.first().map(|(at, _, row)| (*at, *row));
    // From a 429 on a client no longer chooses its rate.
    let chosen = first.map_or(until, |(at, _)| at).min(crossed.plus_us(LONGEST_LOOK_US));
    let rates = traffic.went_on(crossed, chosen.max(crossed), ran_dry_before, terms)?;
    let least = episode.iter().map(|(_, gauge)| gauge.min).min_by_key(|min| (min.0, min.2))?;
    Some(Drain {
        kind,
        limit: begin.min.1,
        crossed,
        least: least.0,
        used_up,
        refused: first,
        refusals: refused.iter().map(|(_, count, _)| count).sum(),
        hit: used_up.is_some() && first.is_some(),
        rates,
        until,
        row: traffic.flow.get(traffic.place(traffic.bucket(crossed))).and_then(|(_, flow)| flow.first).map(|spot| spot.row),
    })
}

/// How long after the crossing the rate of sends is looked at.
const LONGEST_LOOK_US: i64 = 60_000_000;

/// When the limit was first seen under the share; in long logs, the moment of the least reading at the latest.
fn crossing(gauge: &Gauge, under: f64) -> Time {
    let first_share = gauge.first.1 as f64 / gauge.min.1 as f64;
    if first_share < under { gauge.first.0 } else { gauge.min.2 }
}
