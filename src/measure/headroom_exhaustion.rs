//! Limits that were running out while sends went on as before.

use super::flow::{Flow, Flows};
use super::refusals::{Refusal, Refusals};
use crate::model::{Gauge, LimitKind, Time};

/// Thresholds of [`exhaustions`].
#[derive(Clone, Copy, Debug)]
pub struct ExhaustionTerms {
    /// Share of a limit under which it counts as running out.
    pub under: f64,
    /// Least ratio of the rate of sends after to the rate before.
    pub rate_kept: f64,
    /// How long after a limit was used up a 429 is still due to it, µs.
    pub follow_us: i64,
    /// Readings that must show the limit running out where the log begins that way.
    pub readings: usize,
    /// How long after a low reading an older one may still come in, µs.
    pub stale_us: i64,
    /// How long after the crossing the rate of attempts is looked at, µs.
    pub look_us: i64,
}

/// One time a limit ran low, and sends went on.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadroomExhaustion {
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
    /// The first 429 from the crossing on: when it was sent, and its row.
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
    refusals: Vec<Refusal>,
}

impl Traffic {
    /// Of a scope with this flow and these 429s.
    #[must_use]
    pub fn of(flow: &Flows, refusals: &Refusals) -> Traffic {
        let (width, flow) = flow.sorted();
        let refusals = refusals.sorted().1.into_iter().map(|(_, refusal)| refusal).collect();
        Traffic { width, flow, refusals }
    }

    /// All sends.
    #[must_use]
    pub fn sends(&self) -> u64 {
        self.flow.iter().map(|(_, flow)| flow.sends).sum()
    }

    /// The first send of the stretch that holds `at`, or of the next one that holds any.
    fn first_row(&self, at: Time) -> Option<u32> {
        let (_, flow) = self.flow.get(self.place(self.bucket(at)))?;
        flow.first.map(|spot| spot.row)
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

    fn refusals(&self, from: Time, until: Time) -> &[Refusal] {
        let place = |time: Time| self.refusals.partition_point(|refusal| refusal.first.sent < time);
        &self.refusals[place(from)..place(until.plus_us(1)).max(place(from))]
    }

    /// Whether a send that left before `at` was refused at that moment or soon after.
    fn was_refusing(&self, at: Time) -> bool {
        let place = self.refusals.partition_point(|refusal| refusal.first.sent < at);
        self.refusals[..place].iter().rev().take(MOST_UNDER_WAY).any(|refusal| refusal.answered >= at)
    }

    /// Sends a second over all.
    fn usual(&self) -> Option<f64> {
        let bucket = |(at, _): &(Time, Flow)| self.bucket(*at);
        Some(self.rate(bucket(self.flow.first()?), bucket(self.flow.last()?) + 1).0)
    }

    /// Sends a second before and after `crossed`, where they went on until `until` as they had before. A single
    /// send after the crossing was on its way, and a few more are chance.
    fn went_on(&self, crossed: Time, until: Time, case: Case, terms: &ExhaustionTerms) -> Option<(f64, f64)> {
        let (first, at) = (self.bucket(self.flow.first()?.0), self.bucket(crossed));
        let span = self.bucket(until) - at;
        let (before, after) = if case.low_from_the_start {
            // Nothing to compare with but itself: its first half and its second.
            let half = at + span / 2;
            (self.rate(at, half), self.rate(half, at + span + 1))
        } else if span == 0 && case.hit && self.width > COARSE_US {
            (self.rate(at - 1, at), self.rate(at, at + 1))
        } else {
            let back = span.min(at - first);
            (self.rate(at - back, at), self.rate(at + 1, at + span + 1))
        };
        // A client that a 429 held back just before had no rate of its own then: its usual one counts.
        let rate = before.0.max(self.usual()?);
        let most = terms.rate_kept * rate * after.1 as f64 / after.0.max(f64::MIN_POSITIVE);
        let too_many = after.1 as f64 >= most + most.sqrt();
        (after.1 >= 2 && too_many).then_some((rate, after.0))
    }
}

/// 429s looked at before a moment: each stands for those of 66 ms or more, and a 429 takes no longer than
/// a second or two.
const MOST_UNDER_WAY: usize = 256;

/// Stretches over a second may hold a whole drain and its recovery.
const COARSE_US: i64 = 1_000_000;

/// What is known of a drain before its rates are.
#[derive(Clone, Copy)]
struct Case {
    low_from_the_start: bool,
    hit: bool,
}

/// Every time a limit ran low and sends went on, in time order. `readings` come in stretches of `width` µs.
#[must_use]
pub fn exhaustions(
    kind: LimitKind,
    (width, readings): &(i64, Vec<(Time, Gauge)>),
    traffic: &Traffic,
    terms: &ExhaustionTerms,
) -> Vec<HeadroomExhaustion> {
    let low = |gauge: &Gauge| gauge.min_ratio() < terms.under;
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(begin) = (start..readings.len()).find(|&at| low(&readings[at].1)) {
        let end = episode_end(readings, begin, terms.stale_us, low);
        if begin > 0 || end >= terms.readings {
            let episode = Episode {
                readings: &readings[begin..end],
                recovered: readings.get(end).map(|(_, gauge)| gauge.first.0),
                from_the_start: begin == 0,
                coarse: *width > COARSE_US,
            };
            found.extend(episode.judge(kind, traffic, terms));
        }
        start = end;
    }
    found
}

/// Where the limit had recovered that ran low at `begin`. Answers that were long under way tell of the time before:
/// one of them between two that show little left is no recovery.
fn episode_end(readings: &[(Time, Gauge)], begin: usize, stale_us: i64, low: impl Fn(&Gauge) -> bool) -> usize {
    let mut last = begin;
    for (at, (_, gauge)) in readings.iter().enumerate().skip(begin + 1) {
        if low(gauge) {
            last = at;
        } else if gauge.first.0.us_since(readings[last].1.last.0) > stale_us {
            break;
        }
    }
    last + 1
}

/// Readings in a row that show a limit running out.
struct Episode<'r> {
    readings: &'r [(Time, Gauge)],
    /// The first reading after them.
    recovered: Option<Time>,
    from_the_start: bool,
    coarse: bool,
}

impl Episode<'_> {
    fn judge(&self, kind: LimitKind, traffic: &Traffic, terms: &ExhaustionTerms) -> Option<HeadroomExhaustion> {
        let (begin, last) = (&self.readings.first()?.1, &self.readings.last()?.1);
        let crossed = crossing(begin, terms.under);
        let until = last.last.0.max(last.min.2);
        let minima = self.readings.iter().map(|(_, gauge)| gauge.min);
        let least = minima.min_by_key(|min| (min.0, min.2))?;
        let used_up = (least.0 == 0).then_some(least.2);
        // A 429 is this drain's while the limit had not been seen to recover, and soon after it was used up.
        let open = until.plus_us(terms.follow_us).min(self.recovered.unwrap_or(Time(i64::MAX)));
        let end = used_up.map_or(open, |zero| open.max(zero.plus_us(terms.follow_us)));
        let refusals = traffic.refusals(crossed, end);
        // A 429 that was under way then is how the client learnt of it: there was no time to slow down.
        if traffic.was_refusing(crossed) {
            return None;
        }
        let hit = used_up.is_some_and(|zero| refusals.iter().any(|refusal| refusal.answered >= zero));
        if !hit && !self.shows_the_course(terms) {
            return None;
        }
        let first = refusals.first().map(|refusal| (refusal.first.sent, refusal.first.row));
        // From a 429 on a client no longer chooses its rate.
        let chosen = first.map_or(until, |(at, _)| at).min(crossed.plus_us(terms.look_us));
        let case = Case { low_from_the_start: self.from_the_start, hit };
        // Where the headers show no more of it by then, what they do show counts: a 429 makes it no better.
        let rates = traffic
            .went_on(crossed, chosen.max(crossed), case, terms)
            .or_else(|| traffic.went_on(crossed, until.min(chosen).max(crossed), case, terms))?;
        Some(HeadroomExhaustion {
            kind,
            limit: begin.min.1,
            crossed,
            least: least.0,
            used_up,
            refused: first,
            refusals: refusals.iter().map(|refusal| refusal.sends).sum(),
            hit,
            rates,
            until,
            row: traffic.first_row(crossed),
        })
    }

    /// Whether the limit was low all the time, as far as the width of the stretches can tell: a stretch of a
    /// minute that ends full may have been low for a moment.
    fn shows_the_course(&self, terms: &ExhaustionTerms) -> bool {
        let low = |remaining: i64, limit: i64| (remaining as f64) < terms.under * limit as f64;
        let all_low = |gauge: &Gauge| low(gauge.first.1, gauge.min.1) && low(gauge.last.1, gauge.min.1);
        let inner = self.readings.get(1..self.readings.len() - 1).unwrap_or_default();
        !self.coarse || (!inner.is_empty() && inner.iter().all(|(_, gauge)| all_low(gauge)))
    }
}

/// When the limit was first seen under the share; in long logs, the moment of the least reading at the latest.
fn crossing(gauge: &Gauge, under: f64) -> Time {
    let first_share = gauge.first.1 as f64 / gauge.min.1 as f64;
    if first_share < under { gauge.first.0 } else { gauge.min.2 }
}
