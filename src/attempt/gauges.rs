//! Headroom readings, folded while a log is read: never one row each.

use super::origin::remap_scope;
use super::series::{Mergeable, Series};
use super::{LimitKind, OriginId, Reading, Scope, Symbol, Time};
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

/// The readings of every limit of every scope.
#[derive(Debug, Default)]
pub struct Gauges {
    tracks: Vec<((Scope, LimitKind), Track)>,
    index: HashMap<(Scope, LimitKind), u32, RandomState>,
    /// Tracks of an origin by limit kind, so that a reading costs no hashing; `u32::MAX` where not known yet.
    known: Vec<[u32; LimitKind::ALL.len()]>,
}

impl Gauges {
    /// Takes in one reading of `origin`, which draws on `scope`. A negative count or an empty limit is a
    /// sentinel and only noted.
    pub fn add(&mut self, origin: OriginId, scope: Scope, at: Time, reading: Reading) {
        let place = origin.0 as usize;
        if place >= self.known.len() {
            self.known.resize(place + 1, [u32::MAX; LimitKind::ALL.len()]);
        }
        let mut track = self.known[place][reading.kind as usize];
        if track == u32::MAX {
            track = self.track(scope, reading.kind);
            self.known[place][reading.kind as usize] = track;
        }
        let track = &mut self.tracks[track as usize].1;
        if reading.limit <= 0 || reading.remaining < 0 {
            track.bad = true;
        } else {
            track.series.add(at, Gauge::of(at, reading));
        }
    }

    fn track(&mut self, scope: Scope, kind: LimitKind) -> u32 {
        *self.index.entry((scope, kind)).or_insert_with(|| {
            self.tracks.push(((scope, kind), Track::default()));
            self.tracks.len() as u32 - 1
        })
    }

    /// Every limit with its readings, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, LimitKind, &Track)> {
        self.tracks.iter().map(|((scope, kind), track)| (*scope, *kind, track))
    }

    pub(super) fn absorb(&mut self, other: Gauges, names: &[Symbol]) {
        for ((scope, kind), track) in other.tracks {
            let mine = self.track(remap_scope(&scope, names), kind);
            let mine = &mut self.tracks[mine as usize].1;
            mine.bad |= track.bad;
            mine.series.merge(track.series);
        }
    }
}
