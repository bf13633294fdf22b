//! Readings of rate-limit headroom, stored as columns.

use super::names::symbol;
use crate::model::{
    AttemptTable, LimitKind, LimitReadings, LowestReading, ReadingSummary, Scope, Symbol, Time, TimeSeries,
};
use serde::{Deserialize, Serialize};

/// The readings of every limit.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Readings(Vec<Limit>);

#[derive(Debug, Serialize, Deserialize)]
struct Limit {
    scope: [u32; 5],
    kind: u8,
    bad: bool,
    width_us: i64,
    /// One entry per bucket, from here on: its start in µs since the start of the previous bucket, then its first, last
    /// and least reading, with times in µs since the start of the bucket.
    start: Vec<i64>,
    first: Vec<(i64, i64)>,
    last: Vec<(i64, i64)>,
    least: Vec<(i64, i64, i64)>,
}

impl Readings {
    pub(super) fn of(table: &AttemptTable) -> Readings {
        Readings(table.headroom.iter().map(|(scope, kind, readings)| Limit::of(scope, kind, readings)).collect())
    }

    /// Adds the readings to a table; `None` if they are not valid.
    pub(super) fn put_into(self, table: &mut AttemptTable, symbols: &[Symbol]) -> Option<()> {
        for limit in self.0 {
            let kind = LimitKind::ALL.into_iter().find(|kind| *kind as u8 == limit.kind)?;
            let mut names = [Symbol::NONE; 5];
            for (name, number) in names.iter_mut().zip(limit.scope) {
                *name = symbol(symbols, number)?;
            }
            let [provider, model, org, api_key, workspace] = names;
            let bad = limit.bad;
            let readings = LimitReadings { series: limit.series()?, sentinel_seen: bad };
            table.headroom.merge(Scope { provider, model, org, api_key, workspace }, kind, readings);
        }
        Some(())
    }
}

impl Limit {
    fn of(scope: Scope, kind: LimitKind, readings: &LimitReadings) -> Limit {
        let Scope { provider, model, org, api_key, workspace } = scope;
        let scope = [provider, model, org, api_key, workspace].map(|symbol| symbol.list_index() as u32);
        let (width_us, buckets) = readings.series.by_time();
        let mut limit = Limit {
            scope,
            kind: kind as u8,
            bad: readings.sentinel_seen,
            width_us,
            start: Vec::with_capacity(buckets.len()),
            first: Vec::with_capacity(buckets.len()),
            last: Vec::with_capacity(buckets.len()),
            least: Vec::with_capacity(buckets.len()),
        };
        let mut before = 0;
        for (Time(start), summary) in buckets {
            let after = |Time(at): Time| at.wrapping_sub(start);
            limit.start.push(start.wrapping_sub(before));
            limit.first.push((after(summary.first.0), summary.first.1));
            limit.last.push((after(summary.last.0), summary.last.1));
            limit.least.push((summary.lowest.remaining, summary.lowest.limit, after(summary.lowest.at)));
            before = start;
        }
        limit
    }

    fn series(self) -> Option<TimeSeries<ReadingSummary>> {
        let mut start = 0_i64;
        let mut buckets = Vec::with_capacity(self.start.len());
        for (nth, step) in self.start.iter().enumerate() {
            start = start.wrapping_add(*step);
            let at = |after: i64| Time(start.wrapping_add(after));
            let (first, last, least) = (self.first.get(nth)?, self.last.get(nth)?, self.least.get(nth)?);
            let summary = ReadingSummary {
                first: (at(first.0), first.1),
                last: (at(last.0), last.1),
                lowest: LowestReading { remaining: least.0, limit: least.1, at: at(least.2) },
            };
            buckets.push((Time(start), summary));
        }
        TimeSeries::from_buckets(self.width_us, buckets)
    }
}
