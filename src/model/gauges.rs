//! Headroom readings, aggregated while a log is read rather than kept one by one.

use super::origin::remap_scope;
use super::series::{Mergeable, Series};
use super::{Interner, LimitKind, Origin, OriginId, Reading, Scope, Symbol, Time};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Readings of one limit within one time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Time and remaining amount of the earliest reading.
    pub first: (Time, i64),
    /// Time and remaining amount of the latest reading.
    pub last: (Time, i64),
    /// Reading with the smallest share remaining: remaining amount, limit, time.
    pub min: (i64, i64, Time),
}

impl Gauge {
    /// Creates a gauge of one reading.
    #[must_use]
    pub fn of(at: Time, reading: Reading) -> Gauge {
        Gauge {
            first: (at, reading.remaining),
            last: (at, reading.remaining),
            min: (reading.remaining, reading.limit, at),
        }
    }

    /// Adds one reading.
    #[inline]
    fn take(&mut self, at: Time, reading: Reading) {
        let least = self.min;
        if least.1 != reading.limit {
            return self.merge(&Gauge::of(at, reading));
        }
        // Readings arrive nearly in order.
        if (at, reading.remaining) > self.last {
            self.last = (at, reading.remaining);
        } else if (at, reading.remaining) < self.first {
            self.first = (at, reading.remaining);
        }
        // With the same limit, shares compare as the remaining amounts do.
        if (reading.remaining, at) < (least.0, least.2) {
            self.min = (reading.remaining, reading.limit, at);
        }
    }

    /// Returns the smallest share of the limit that remained.
    #[must_use]
    pub fn min_ratio(&self) -> f64 {
        self.min.0 as f64 / self.min.1 as f64
    }
}

impl Mergeable for Gauge {
    fn merge(&mut self, other: &Gauge) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        // Compare shares without dividing, so that merging is exact.
        let share = |a: (i64, i64, Time), b: (i64, i64, Time)| i128::from(a.0) * i128::from(b.1);
        let (mine, theirs) = (share(self.min, other.min), share(other.min, self.min));
        if (theirs, other.min.2, other.min) < (mine, self.min.2, self.min) {
            self.min = other.min;
        }
    }
}

/// All readings of one limit.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Readings over time.
    pub series: Series<Gauge>,
    /// Whether a sentinel such as -1 was read, which is no data.
    pub bad: bool,
}

impl Track {
    #[inline]
    fn add(&mut self, at: Time, reading: Reading) {
        if reading.limit <= 0 || reading.remaining < 0 {
            self.bad = true;
        } else if let Some(gauge) = self.series.known(at) {
            gauge.take(at, reading);
        } else {
            self.series.add_first(at, Gauge::of(at, reading));
        }
    }
}

/// Spells out a scope, since its symbols are valid only in their own table.
fn spelled(scope: &Scope, names: &Interner) -> String {
    let Scope { provider, model, org, api_key, workspace } = *scope;
    [provider, model, org, api_key, workspace].map(|symbol| names.text(symbol)).join("\0")
}

/// Readings of every limit of every scope.
#[derive(Debug, Default)]
pub struct Gauges {
    tracks: Vec<((Scope, LimitKind), Track)>,
    index: HashMap<(Scope, LimitKind), u32, RandomState>,
    /// Indices of an origin's tracks by limit kind, to save hashing for each reading; `u32::MAX` if not known yet.
    known: Vec<[u32; LimitKind::ALL.len()]>,
    widths: Widths,
}

/// Merged bucket keys, without contents, of the earlier parts of an analysis. A later part starts at their width
/// instead of widening step by step again. The result is the same, since the whole never has finer buckets than a part.
#[derive(Debug, Default)]
pub(crate) struct Widths(HashMap<(String, LimitKind), Series<()>, RandomState>);

/// Maximum number of limits whose bucket keys are kept, at some 24 KiB each; further limits start at the finest width.
const MAX_WIDTHS: usize = 64;

impl Gauges {
    /// Forgets the readings before `oldest`, as far as their buckets hold no later ones.
    pub(crate) fn forget(&mut self, oldest: Time) {
        for ((scope, kind), track) in std::mem::take(self).tracks {
            let (width_us, mut buckets) = track.series.sorted();
            buckets.retain(|(_, gauge)| gauge.last.0 >= oldest);
            if track.bad || !buckets.is_empty() {
                let series = Series::of_buckets(width_us, buckets).unwrap_or_default();
                self.merge(scope, kind, Track { series, bad: track.bad });
            }
        }
    }

    /// Adds a reading of `origin`. A negative remaining amount or a limit of 0 is a sentinel, which is only noted.
    #[inline]
    pub fn add(&mut self, names: &Interner, origin: &(Origin, OriginId), at: Time, reading: Reading) {
        let known = self.known.get(origin.1.0 as usize).map_or(u32::MAX, |tracks| tracks[reading.kind as usize]);
        match self.tracks.get_mut(known as usize) {
            Some((_, track)) => track.add(at, reading),
            None => self.add_first(names, origin, at, reading),
        }
    }

    /// Adds the first reading of an origin and a kind of limit.
    #[cold]
    fn add_first(&mut self, names: &Interner, (origin, id): &(Origin, OriginId), at: Time, reading: Reading) {
        let track = self.track(origin.scope(), reading.kind, Some(names));
        let place = id.0 as usize;
        if place >= self.known.len() {
            self.known.resize(place + 1, [u32::MAX; LimitKind::ALL.len()]);
        }
        self.known[place][reading.kind as usize] = track;
        self.tracks[track as usize].1.add(at, reading);
    }

    /// Returns the index of the track of a limit. A new one starts with the width known from earlier parts, if `names`
    /// is given.
    fn track(&mut self, scope: Scope, kind: LimitKind, names: Option<&Interner>) -> u32 {
        *self.index.entry((scope, kind)).or_insert_with(|| {
            let known = names.and_then(|names| self.widths.0.get(&(spelled(&scope, names), kind)));
            let series = known.map(Series::as_wide).unwrap_or_default();
            self.tracks.push(((scope, kind), Track { series, bad: false }));
            self.tracks.len() as u32 - 1
        })
    }

    /// Sets the widths of the earlier parts of an analysis.
    pub(crate) fn start(&mut self, widths: Widths) {
        self.widths = widths;
    }

    /// Returns the widths that the next part of the same analysis can start with.
    pub(crate) fn widths(&mut self, names: &Interner) -> Widths {
        let mut widths = std::mem::take(&mut self.widths);
        for ((scope, kind), track) in &self.tracks {
            let key = (spelled(scope, names), *kind);
            if widths.0.len() < MAX_WIDTHS || widths.0.contains_key(&key) {
                widths.0.entry(key).or_default().merge(track.series.outline());
            }
        }
        widths
    }

    /// Iterates over every limit and its readings, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, LimitKind, &Track)> {
        self.tracks.iter().map(|((scope, kind), track)| (*scope, *kind, track))
    }

    /// Returns the readings of one limit.
    #[must_use]
    pub fn get(&self, scope: Scope, kind: LimitKind) -> Option<&Track> {
        let place = *self.index.get(&(scope, kind))?;
        self.tracks.get(place as usize).map(|(_, track)| track)
    }

    pub(super) fn absorb(&mut self, other: Gauges, names: &[Symbol]) {
        for ((scope, kind), track) in other.tracks {
            self.merge(remap_scope(&scope, names), kind, track);
        }
    }

    /// Adds the readings of one limit.
    pub(crate) fn merge(&mut self, scope: Scope, kind: LimitKind, track: Track) {
        let mine = self.track(scope, kind, None);
        let mine = &mut self.tracks[mine as usize].1;
        mine.bad |= track.bad;
        mine.series.merge(track.series);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `stretches` parts of `seconds` seconds each, with a reading every 100 ms.
    fn read(stretches: i64, seconds: i64, carry: bool) -> (Gauges, Vec<i64>) {
        let (mut whole, mut widths, mut first_widths) = (Gauges::default(), Widths::default(), Vec::new());
        let (names, origin) = (Interner::default(), (Origin::default(), OriginId(0)));
        for stretch in 0..stretches {
            let mut gauges = Gauges::default();
            gauges.start(if carry { std::mem::take(&mut widths) } else { Widths::default() });
            for n in 0..seconds * 10 {
                let at = Time((stretch * seconds * 10 + n) * 100_000);
                let reading = Reading { kind: LimitKind::Requests, limit: 9, remaining: n % 9 };
                gauges.add(&names, &origin, at, reading);
                if n == 0 {
                    first_widths.extend(gauges.iter().map(|(.., track)| track.series.width_us()));
                }
            }
            widths = gauges.widths(&names);
            whole.absorb(gauges, &[]);
        }
        (whole, first_widths)
    }

    #[test]
    fn a_stretch_begins_as_wide_as_those_before_it_together() {
        let ((carried, widths), (anew, _)) = (read(40, 60, true), read(40, 60, false));
        assert!(widths.is_sorted() && widths.first() < widths.last(), "{widths:?}");
        let all = |gauges: &Gauges| gauges.iter().map(|(.., track)| track.series.sorted()).collect::<Vec<_>>();
        assert_eq!(all(&carried), all(&anew));
        assert_eq!(widths.last().copied(), all(&anew).first().map(|(width, _)| *width));
    }

    #[test]
    fn one_reading_more_is_what_merging_it_is() {
        let readings = [(5, 10, 3), (7, 10, 2), (7, 20, 9), (5, 10, 3), (5, 20, 2), (9, 10, 2), (1, 5, 1), (0, 10, 2)];
        let reading = |(_, limit, remaining)| Reading { kind: LimitKind::Tokens, limit, remaining };
        for first in readings {
            for second in readings {
                let mut taken = Gauge::of(Time(first.0), reading(first));
                let mut merged = taken;
                taken.take(Time(second.0), reading(second));
                merged.merge(&Gauge::of(Time(second.0), reading(second)));
                assert_eq!(taken, merged, "{first:?} {second:?}");
            }
        }
    }
}
