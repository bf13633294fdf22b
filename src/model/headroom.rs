//! Readings of rate-limit headers, aggregated while a log is read rather than stored one by one.

use super::origin::remap_scope;
use super::time_series::{Mergeable, TimeSeries};
use super::{Interner, LimitKind, Origin, OriginId, Reading, Scope, Symbol, Time};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Readings of one limit within one time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingSummary {
    /// Time and remaining amount of the earliest reading.
    pub first: (Time, i64),
    /// Time and remaining amount of the latest reading.
    pub last: (Time, i64),
    /// Reading with the smallest remaining share of the limit.
    pub lowest: LowestReading,
}

/// The reading with the smallest remaining share of the limit in a time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LowestReading {
    /// Remaining amount.
    pub remaining: i64,
    /// Amount allowed per interval.
    pub limit: i64,
    /// Time of the response.
    pub at: Time,
}

impl ReadingSummary {
    /// Creates the summary of one reading.
    #[must_use]
    pub fn of(at: Time, reading: Reading) -> ReadingSummary {
        ReadingSummary {
            first: (at, reading.remaining),
            last: (at, reading.remaining),
            lowest: LowestReading { remaining: reading.remaining, limit: reading.limit, at },
        }
    }

    /// Adds one reading.
    #[inline]
    fn add(&mut self, at: Time, reading: Reading) {
        if self.lowest.limit != reading.limit {
            return self.merge(&ReadingSummary::of(at, reading));
        }
        // Readings arrive nearly in time order, so most are the latest.
        if (at, reading.remaining) > self.last {
            self.last = (at, reading.remaining);
        } else if (at, reading.remaining) < self.first {
            self.first = (at, reading.remaining);
        }
        // With the same limit, shares compare as the remaining amounts do.
        if (reading.remaining, at) < (self.lowest.remaining, self.lowest.at) {
            self.lowest = LowestReading { remaining: reading.remaining, limit: reading.limit, at };
        }
    }

    /// Returns the smallest share of the limit that remained.
    #[must_use]
    pub fn min_ratio(&self) -> f64 {
        self.lowest.remaining as f64 / self.lowest.limit as f64
    }
}

impl Mergeable for ReadingSummary {
    fn merge(&mut self, other: &ReadingSummary) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        // Compares the shares a/b and c/d as a·d and c·b, without rounding, so that the order of merging does not
        // matter.
        let share = |of: LowestReading, other: LowestReading| i128::from(of.remaining) * i128::from(other.limit);
        let (mine, theirs) = (share(self.lowest, other.lowest), share(other.lowest, self.lowest));
        if (theirs, other.lowest.at, other.lowest) < (mine, self.lowest.at, self.lowest) {
            self.lowest = other.lowest;
        }
    }
}

/// All readings of one limit.
#[derive(Clone, Debug, Default)]
pub struct LimitReadings {
    /// Readings over time.
    pub series: TimeSeries<ReadingSummary>,
    /// Whether a value such as -1, which some providers send for "unknown", was read.
    pub sentinel_seen: bool,
}

impl LimitReadings {
    /// Adds one reading.
    #[inline]
    fn add(&mut self, at: Time, reading: Reading) {
        if reading.limit <= 0 || reading.remaining < 0 {
            self.sentinel_seen = true;
        } else if let Some(summary) = self.series.bucket_at(at) {
            summary.add(at, reading);
        } else {
            self.series.add_first(at, ReadingSummary::of(at, reading));
        }
    }
}

/// Returns the names of a scope as text, since its symbols are valid only in their own table.
fn scope_text(scope: &Scope, names: &Interner) -> String {
    let Scope { provider, model, org, api_key, workspace } = *scope;
    [provider, model, org, api_key, workspace].map(|symbol| names.text(symbol)).join("\0")
}

/// Readings of every limit of every scope.
#[derive(Debug, Default)]
pub struct HeadroomReadings {
    limits: Vec<((Scope, LimitKind), LimitReadings)>,
    /// Index in `limits` by scope and kind.
    index: HashMap<(Scope, LimitKind), u32, RandomState>,
    /// Indices in `limits` by origin and kind of limit, to save hashing for each reading; `u32::MAX` if not known yet.
    by_origin: Vec<[u32; LimitKind::ALL.len()]>,
    widths: BucketWidths,
}

/// Merged bucket keys, without contents, of the earlier parts of an analysis, by limit. A later part starts at their
/// width instead of widening step by step again. This does not change the result, since the merged series never has
/// finer buckets than that of a part.
#[derive(Debug, Default)]
pub(crate) struct BucketWidths(HashMap<(String, LimitKind), TimeSeries<()>, RandomState>);

/// Maximum number of limits whose bucket keys are kept, at some 24 KiB each; further limits start at the finest width.
const MAX_WIDTHS: usize = 64;

impl HeadroomReadings {
    /// Forgets the readings before `oldest`, as far as their buckets hold no later ones.
    pub(crate) fn forget(&mut self, oldest: Time) {
        for ((scope, kind), readings) in std::mem::take(self).limits {
            let (width_us, mut buckets) = readings.series.sorted();
            buckets.retain(|(_, summary)| summary.last.0 >= oldest);
            if readings.sentinel_seen || !buckets.is_empty() {
                let series = TimeSeries::from_buckets(width_us, buckets).unwrap_or_default();
                self.merge(scope, kind, LimitReadings { series, sentinel_seen: readings.sentinel_seen });
            }
        }
    }

    /// Adds a reading of `origin`. A negative remaining amount or a limit of 0 is a sentinel for "unknown", which is
    /// only noted.
    #[inline]
    pub fn add(&mut self, names: &Interner, origin: &(Origin, OriginId), at: Time, reading: Reading) {
        let index = self.by_origin.get(origin.1.0 as usize).map_or(u32::MAX, |kinds| kinds[reading.kind as usize]);
        match self.limits.get_mut(index as usize) {
            Some((_, readings)) => readings.add(at, reading),
            None => self.add_first(names, origin, at, reading),
        }
    }

    /// Adds the first reading of an origin and a kind of limit.
    #[cold]
    fn add_first(&mut self, names: &Interner, (origin, id): &(Origin, OriginId), at: Time, reading: Reading) {
        let index = self.limit_index(origin.scope(), reading.kind, Some(names));
        let origin = id.0 as usize;
        if origin >= self.by_origin.len() {
            self.by_origin.resize(origin + 1, [u32::MAX; LimitKind::ALL.len()]);
        }
        self.by_origin[origin][reading.kind as usize] = index;
        self.limits[index as usize].1.add(at, reading);
    }

    /// Returns the index of a limit in `limits`. A new limit starts with the bucket width known from earlier parts, if
    /// `names` is given.
    fn limit_index(&mut self, scope: Scope, kind: LimitKind, names: Option<&Interner>) -> u32 {
        *self.index.entry((scope, kind)).or_insert_with(|| {
            let known = names.and_then(|names| self.widths.0.get(&(scope_text(&scope, names), kind)));
            let series = known.map(TimeSeries::with_width_of).unwrap_or_default();
            self.limits.push(((scope, kind), LimitReadings { series, sentinel_seen: false }));
            self.limits.len() as u32 - 1
        })
    }

    /// Sets the widths of the earlier parts of an analysis.
    pub(crate) fn start(&mut self, widths: BucketWidths) {
        self.widths = widths;
    }

    /// Returns the widths that the next part of the same analysis can start with.
    pub(crate) fn widths(&mut self, names: &Interner) -> BucketWidths {
        let mut widths = std::mem::take(&mut self.widths);
        for ((scope, kind), readings) in &self.limits {
            let key = (scope_text(scope, names), *kind);
            if widths.0.len() < MAX_WIDTHS || widths.0.contains_key(&key) {
                widths.0.entry(key).or_default().merge(readings.series.keys_only());
            }
        }
        widths
    }

    /// Iterates over every limit and its readings, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, LimitKind, &LimitReadings)> {
        self.limits.iter().map(|((scope, kind), readings)| (*scope, *kind, readings))
    }

    /// Returns the readings of one limit.
    #[must_use]
    pub fn get(&self, scope: Scope, kind: LimitKind) -> Option<&LimitReadings> {
        let index = *self.index.get(&(scope, kind))?;
        self.limits.get(index as usize).map(|(_, readings)| readings)
    }

    /// Adds all readings of another table, whose symbols `names` maps to those of this one.
    pub(super) fn absorb(&mut self, other: HeadroomReadings, names: &[Symbol]) {
        for ((scope, kind), readings) in other.limits {
            self.merge(remap_scope(&scope, names), kind, readings);
        }
    }

    /// Adds the readings of one limit.
    pub(crate) fn merge(&mut self, scope: Scope, kind: LimitKind, readings: LimitReadings) {
        let index = self.limit_index(scope, kind, None);
        let mine = &mut self.limits[index as usize].1;
        mine.sentinel_seen |= readings.sentinel_seen;
        mine.series.merge(readings.series);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `parts` parts of `seconds` seconds each, with a reading every 100 ms. Returns all readings, and the bucket
    /// width with which each part starts.
    fn read(parts: i64, seconds: i64, carry_widths: bool) -> (HeadroomReadings, Vec<i64>) {
        let (mut whole, mut widths, mut first_widths) =
            (HeadroomReadings::default(), BucketWidths::default(), Vec::new());
        let (names, origin) = (Interner::default(), (Origin::default(), OriginId(0)));
        for part in 0..parts {
            let mut headroom = HeadroomReadings::default();
            headroom.start(if carry_widths { std::mem::take(&mut widths) } else { BucketWidths::default() });
            for n in 0..seconds * 10 {
                let at = Time((part * seconds * 10 + n) * 100_000);
                let reading = Reading { kind: LimitKind::Requests, limit: 9, remaining: n % 9 };
                headroom.add(&names, &origin, at, reading);
                if n == 0 {
                    first_widths.extend(headroom.iter().map(|(.., readings)| readings.series.width_us()));
                }
            }
            widths = headroom.widths(&names);
            whole.absorb(headroom, &[]);
        }
        (whole, first_widths)
    }

    #[test]
    fn a_part_starts_at_the_width_of_the_merged_earlier_parts() {
        let ((carried, widths), (without, _)) = (read(40, 60, true), read(40, 60, false));
        assert!(widths.is_sorted() && widths.first() < widths.last(), "{widths:?}");
        let all = |headroom: &HeadroomReadings| {
            headroom.iter().map(|(.., readings)| readings.series.sorted()).collect::<Vec<_>>()
        };
        assert_eq!(all(&carried), all(&without));
        assert_eq!(widths.last().copied(), all(&without).first().map(|(width, _)| *width));
    }

    #[test]
    fn adding_a_reading_equals_merging_it() {
        let readings = [(5, 10, 3), (7, 10, 2), (7, 20, 9), (5, 10, 3), (5, 20, 2), (9, 10, 2), (1, 5, 1), (0, 10, 2)];
        let reading = |(_, limit, remaining)| Reading { kind: LimitKind::Tokens, limit, remaining };
        for first in readings {
            for second in readings {
                let mut added = ReadingSummary::of(Time(first.0), reading(first));
                let mut merged = added;
                added.add(Time(second.0), reading(second));
                merged.merge(&ReadingSummary::of(Time(second.0), reading(second)));
                assert_eq!(added, merged, "{first:?} {second:?}");
            }
        }
    }
}
