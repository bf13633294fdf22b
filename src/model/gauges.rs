//! Headroom readings, folded while a log is read: never one row each.

use super::origin::remap_scope;
use super::series::{Mergeable, Series};
use super::{Interner, LimitKind, Origin, OriginId, Reading, Scope, Symbol, Time};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// What was read of one limit in one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Earliest reading: when, and what remained.
    pub first: (Time, i64),
    /// Latest reading.
    pub last: (Time, i64),
    /// Least share that remained: what, of which limit, when.
    pub min: (i64, i64, Time),
}

impl Gauge {
    /// One reading.
    #[must_use]
    pub fn of(at: Time, reading: Reading) -> Gauge {
        Gauge {
            first: (at, reading.remaining),
            last: (at, reading.remaining),
            min: (reading.remaining, reading.limit, at),
        }
    }

    /// Takes in one more reading.
    #[inline]
    fn take(&mut self, at: Time, reading: Reading) {
        let least = self.min;
        if least.1 != reading.limit {
            return self.merge(&Gauge::of(at, reading));
        }
        // Readings come nearly in order.
        if (at, reading.remaining) > self.last {
            self.last = (at, reading.remaining);
        } else if (at, reading.remaining) < self.first {
            self.first = (at, reading.remaining);
        }
        // Shares of the same limit compare as what remained.
        if (reading.remaining, at) < (least.0, least.2) {
            self.min = (reading.remaining, reading.limit, at);
        }
    }

    /// The least share that remained.
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

/// The readings of one limit.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Over time.
    pub series: Series<Gauge>,
    /// A sentinel such as -1 was read: no data.
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

/// A scope in words: its symbols mean nothing outside their table.
fn spelled(scope: &Scope, names: &Interner) -> String {
    let Scope { provider, model, org, api_key, workspace } = *scope;
    [provider, model, org, api_key, workspace].map(|symbol| names.text(symbol)).join("\0")
}

/// The readings of every limit of every scope.
#[derive(Debug, Default)]
pub struct Gauges {
    tracks: Vec<((Scope, LimitKind), Track)>,
    index: HashMap<(Scope, LimitKind), u32, RandomState>,
    /// Tracks of an origin by limit kind, so that a reading costs no hashing; `u32::MAX` where not known yet.
    known: Vec<[u32; LimitKind::ALL.len()]>,
    widths: Widths,
}

/// The buckets of earlier stretches of an analysis together, without what they hold. A later one begins with their
/// width, so that it does not grow through all widths again, and comes to the same in the end: the whole has no finer
/// buckets than a part of it.
#[derive(Debug, Default)]
pub(crate) struct Widths(HashMap<(String, LimitKind), Series<()>, RandomState>);

/// Limits whose buckets are kept, of some 24 KiB each; a log of more begins anew with the others.
const MOST_WIDTHS: usize = 64;

impl Gauges {
    /// Takes in a reading of `origin`. A negative count or an empty limit is a sentinel and only noted.
    #[inline]
    pub fn add(&mut self, names: &Interner, (origin, id): (Origin, OriginId), at: Time, reading: Reading) {
        let known = self.known.get(id.0 as usize).map_or(u32::MAX, |tracks| tracks[reading.kind as usize]);
        match self.tracks.get_mut(known as usize) {
            Some((_, track)) => track.add(at, reading),
            None => self.begin(names, (origin, id), at, reading),
        }
    }

    /// Takes in the first reading of an origin and a kind of limit.
    #[cold]
    fn begin(&mut self, names: &Interner, (origin, id): (Origin, OriginId), at: Time, reading: Reading) {
        let track = self.track(origin.scope(), reading.kind, Some(names));
        let place = id.0 as usize;
        if place >= self.known.len() {
            self.known.resize(place + 1, [u32::MAX; LimitKind::ALL.len()]);
        }
        self.known[place][reading.kind as usize] = track;
        self.tracks[track as usize].1.add(at, reading);
    }

    /// The track of a limit; one that is new has buckets as wide as they became before, if `names` tell of whom.
    fn track(&mut self, scope: Scope, kind: LimitKind, names: Option<&Interner>) -> u32 {
        *self.index.entry((scope, kind)).or_insert_with(|| {
            let known = names.and_then(|names| self.widths.0.get(&(spelled(&scope, names), kind)));
            let series = known.map(Series::as_wide).unwrap_or_default();
            self.tracks.push(((scope, kind), Track { series, bad: false }));
            self.tracks.len() as u32 - 1
        })
    }

    /// Begins with the widths of earlier stretches.
    pub(crate) fn start(&mut self, widths: Widths) {
        self.widths = widths;
    }

    /// The widths that a later stretch of the same analysis may begin with.
    pub(crate) fn widths(&mut self, names: &Interner) -> Widths {
        let mut widths = std::mem::take(&mut self.widths);
        for ((scope, kind), track) in &self.tracks {
            let key = (spelled(scope, names), *kind);
            if widths.0.len() < MOST_WIDTHS || widths.0.contains_key(&key) {
                widths.0.entry(key).or_default().merge(track.series.outline());
            }
        }
        widths
    }

    /// Every limit with its readings, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, LimitKind, &Track)> {
        self.tracks.iter().map(|((scope, kind), track)| (*scope, *kind, track))
    }

    /// The readings of one limit.
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

    /// Takes in readings of one limit.
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

    /// Readings in `stretches` of as many seconds, one each 100 ms.
    fn read(stretches: i64, seconds: i64, carry: bool) -> (Gauges, Vec<i64>) {
        let (mut whole, mut widths, mut first_widths) = (Gauges::default(), Widths::default(), Vec::new());
        let (names, origin) = (Interner::default(), (Origin::default(), OriginId(0)));
        for stretch in 0..stretches {
            let mut gauges = Gauges::default();
            gauges.start(if carry { std::mem::take(&mut widths) } else { Widths::default() });
            for n in 0..seconds * 10 {
                let at = Time((stretch * seconds * 10 + n) * 100_000);
                let reading = Reading { kind: LimitKind::Requests, limit: 9, remaining: n % 9 };
                gauges.add(&names, origin, at, reading);
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
