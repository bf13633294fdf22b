//! The most at any moment and the most within a minute: exact counts, from sweeps over times in order.
//!
//! What was sent before some moment is swept as soon as nothing of it is still to come, and then forgotten: so the
//! counts are the same however the log is cut, and memory follows what is under way, not the length of the log.

use super::tally::is_rate_limit;
use crate::calls::Call;
use crate::model::{Attempt, Mergeable, Scope, Series, Time};
use std::collections::{BTreeMap, VecDeque};

/// Rates are counted over so long, µs: limits are given for a minute.
pub const MINUTE_US: i64 = 60_000_000;

/// How many there were at most, and when it came to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// How many.
    pub count: u64,
    /// The first moment they were under way together, or the start of the first minute that holds them.
    pub at: Time,
}

impl Peak {
    fn note(most: &mut Option<Peak>, count: u64, at: Time) {
        if most.is_none_or(|known| known.count < count) {
            *most = Some(Peak { count, at });
        }
    }

    fn higher(a: Option<Peak>, b: Option<Peak>) -> Option<Peak> {
        [a, b].into_iter().flatten().max_by_key(|peak| (peak.count, std::cmp::Reverse(peak.at)))
    }
}

/// What is under way, from its beginning until just before its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// Beginnings and ends that are not swept yet: the time doubled, and one more for a beginning, so that of two at
    /// the same time the end comes first.
    events: Vec<i64>,
    level: i64,
    most: Option<Peak>,
}

impl Sweep {
    /// Something was under way from `from` to `until`.
    pub(super) fn stay(&mut self, from: Time, until: Time) {
        if until > from {
            self.events.extend([from.0.saturating_mul(2) | 1, until.0.saturating_mul(2)]);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn merge(&mut self, other: Sweep) {
        self.events.extend(other.events);
        self.level += other.level;
        self.most = Peak::higher(self.most, other.most);
    }

    /// Sweeps what lies before `until`, and tells the level after each beginning and end.
    pub(super) fn settle(&mut self, until: Time, mut each: impl FnMut(Time, u64)) {
        self.events.sort_unstable();
        let due = self.events.partition_point(|event| *event < until.0.saturating_mul(2));
        for event in self.events.drain(..due) {
            self.level += if event & 1 == 1 { 1 } else { -1 };
            let (level, at) = (self.level.max(0).unsigned_abs(), Time(event >> 1));
            Peak::note(&mut self.most, level, at);
            each(at, level);
        }
    }

    /// The most that were under way at once.
    pub(super) fn most(&self) -> Option<Peak> {
        self.most
    }
}

/// Events counted over every minute.
#[derive(Clone, Debug, Default)]
pub(super) struct Rate {
    /// Those that are not counted yet.
    waiting: Vec<Time>,
    /// Those of the minute up to the last one counted.
    recent: VecDeque<Time>,
    most: Option<Peak>,
}

impl Rate {
    pub(super) fn add(&mut self, at: Time) {
        self.waiting.push(at);
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn merge(&mut self, other: Rate) {
        self.waiting.extend(other.waiting);
        self.recent.extend(other.recent);
        self.most = Peak::higher(self.most, other.most);
    }

    /// Counts what lies before `until`, and tells for each event how many the minute holds that ends with it.
    pub(super) fn settle(&mut self, until: Time, mut each: impl FnMut(Time, u64)) {
        self.waiting.sort_unstable();
        let due = self.waiting.partition_point(|at| *at < until);
        for at in self.waiting.drain(..due) {
            self.recent.push_back(at);
            while self.recent.front().is_some_and(|first| at.us_since(*first) >= MINUTE_US) {
                self.recent.pop_front();
            }
            let count = self.recent.len() as u64;
            Peak::note(&mut self.most, count, self.recent.front().copied().unwrap_or(at));
            each(at, count);
        }
    }

    pub(super) fn most(&self) -> Option<Peak> {
        self.most
    }
}

/// The highest level in a stretch of time, and the level it ended with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    most: u64,
    last: Option<(Time, u64)>,
}

impl Level {
    fn note(&mut self, at: Time, level: u64) {
        self.merge(&Level { most: level, last: Some((at, level)) });
    }
}

impl Mergeable for Level {
    fn merge(&mut self, other: &Level) {
        self.most = self.most.max(other.most);
        // Of several events at one time the one told last counts.
        let at = |level: &Level| level.last.map(|(at, _)| at);
        if at(other) >= at(self) {
            self.last = other.last;
        }
    }
}

/// The most in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Most(pub(super) u64);

impl Mergeable for Most {
    fn merge(&mut self, other: &Most) {
        self.0 = self.0.max(other.0);
    }
}

/// The attempts of one scope: how many were in flight, and how many were sent within a minute.
#[derive(Clone, Debug, Default)]
pub struct Peaks {
    flying: Sweep,
    levels: Series<Level>,
    sent: Rate,
    sent_by: Series<Most>,
    refused: Rate,
    refused_by: Series<Most>,
}

/// What [`Peaks`] held in one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeakPoint {
    /// The most in flight at once.
    pub in_flight: u64,
    /// The most attempts sent within a minute that ended in it.
    pub sent: u64,
    /// The most of them that a rate limit refused, likewise.
    pub refused: u64,
}

impl Peaks {
    /// Takes in the attempts of `call` on `scope` that were sent at `since` or later.
    pub(super) fn follow(&mut self, call: &Call<'_>, scope: Scope, since: Time) {
        for (position, attempt) in call.attempts().enumerate() {
            if attempt.sent >= since && call.origin(position).scope() == scope {
                self.add(attempt);
                if is_rate_limit(attempt) {
                    self.refused.add(attempt.sent);
                }
            }
        }
    }

    /// Takes in an attempt that no rate limit refused.
    #[inline]
    pub(super) fn add(&mut self, attempt: &Attempt) {
        self.sent.add(attempt.sent);
        if attempt.duration.as_us().is_some() {
            self.flying.stay(attempt.sent, attempt.ended());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.flying.len() + self.sent.len()
    }

    pub(super) fn merge(&mut self, other: Peaks) {
        self.flying.merge(other.flying);
        self.levels.merge(other.levels);
        self.sent.merge(other.sent);
        self.sent_by.merge(other.sent_by);
        self.refused.merge(other.refused);
        self.refused_by.merge(other.refused_by);
    }

    pub(super) fn settle(&mut self, until: Time) {
        let Peaks { flying, levels, sent, sent_by, refused, refused_by } = self;
        flying.settle(until, |at, level| levels.update(at, |known| known.note(at, level)));
        sent.settle(until, |at, count| sent_by.update(at, |known| known.0 = known.0.max(count)));
        refused.settle(until, |at, count| refused_by.update(at, |known| known.0 = known.0.max(count)));
    }

    /// The most attempts in flight at one moment, of those whose duration is known.
    #[must_use]
    pub fn in_flight(&self) -> Option<Peak> {
        self.flying.most()
    }

    /// The most attempts sent within a minute.
    #[must_use]
    pub fn per_minute(&self) -> Option<Peak> {
        self.sent.most()
    }

    /// Width of a stretch in µs, at least `least_us`, and every stretch in which an attempt began or ended. Between
    /// two of them there may be one that speaks for all that are left out.
    #[must_use]
    pub fn points(&self, least_us: i64) -> (i64, Vec<(Time, PeakPoint)>) {
        let width = self.levels.width_us().max(self.sent_by.width_us()).max(self.refused_by.width_us()).max(least_us);
        let (width, sent) = self.sent_by.clone().no_finer_than(width).sorted();
        let refused = self.refused_by.clone().no_finer_than(width).sorted().1;
        let levels = self.levels.clone().no_finer_than(width).sorted().1;
        let mut points: BTreeMap<Time, PeakPoint> = BTreeMap::new();
        for (at, most) in sent {
            points.entry(at).or_default().sent = most.0;
        }
        for (at, most) in refused {
            points.entry(at).or_default().refused = most.0;
        }
        let mut changes = levels.into_iter().peekable();
        for at in points.keys().copied().chain(changes.clone().map(|(at, _)| at)).collect::<Vec<Time>>() {
            points.entry(at).or_default();
        }
        let (mut level, mut filled) = (0, Vec::with_capacity(points.len()));
        for (at, mut point) in points {
            // In a gap nothing begins or ends: one stretch of it speaks for all.
            if let Some(gap) = filled.last().map(|(before, _): &(Time, PeakPoint)| before.plus_us(width))
                && gap < at
            {
                filled.push((gap, PeakPoint { in_flight: level, ..PeakPoint::default() }));
            }
            point.in_flight = level;
            if let Some((_, change)) = changes.next_if(|(other, _)| *other == at) {
                point.in_flight = level.max(change.most);
                level = change.last.map_or(level, |(_, level)| level);
            }
            filled.push((at, point));
        }
        (width, filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: &mut u64, below: i64) -> i64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*seed >> 33) as i64) % below
    }

    /// Stays that begin within some minutes, many of them at the same times.
    fn stays(seed: u64, count: usize) -> Vec<(Time, Time)> {
        let mut seed = seed;
        let stay = |seed: &mut u64| {
            let from = 1_773_133_200_000_000 + noise(seed, 3_000) * 100_000;
            (Time(from), Time(from + noise(seed, 80) * 250_000))
        };
        (0..count).map(|_| stay(&mut seed)).collect()
    }

    /// Without any sweep: each beginning is held against every stay.
    fn by_brute_force(stays: &[(Time, Time)]) -> Option<Peak> {
        let at_once = |at: Time| stays.iter().filter(|(from, until)| *from <= at && at < *until).count() as u64;
        let peaks = stays
            .iter()
            .filter(|(from, until)| until > from)
            .map(|(from, _)| Peak { count: at_once(*from), at: *from });
        peaks.max_by_key(|peak| (peak.count, std::cmp::Reverse(peak.at)))
    }

    fn minute_by_brute_force(stays: &[(Time, Time)]) -> Option<Peak> {
        let within = |start: Time| {
            stays.iter().filter(|(from, _)| *from >= start && from.us_since(start) < MINUTE_US).count() as u64
        };
        let peaks = stays.iter().map(|(from, _)| Peak { count: within(*from), at: *from });
        peaks.max_by_key(|peak| (peak.count, std::cmp::Reverse(peak.at)))
    }

    #[test]
    fn peaks_are_those_of_brute_force_however_time_is_cut() {
        for seed in 0..20 {
            let stays = stays(seed, 400);
            for cuts in [vec![], vec![100], vec![37, 150, 151, 280]] {
                let (mut sweep, mut rate) = (Sweep::default(), Rate::default());
                let bounds = cuts.iter().map(|cut| Time(1_773_133_200_000_000 + cut * 1_000_000));
                let mut since = Time(i64::MIN);
                for until in bounds.chain([Time(i64::MAX)]) {
                    for (from, to) in stays.iter().filter(|(from, _)| *from >= since && *from < until) {
                        sweep.stay(*from, *to);
                        rate.add(*from);
                    }
                    sweep.settle(until, |_, _| ());
                    rate.settle(until, |_, _| ());
                    since = until;
                }
                assert_eq!(sweep.most(), by_brute_force(&stays), "seed {seed}, cuts {cuts:?}");
                assert_eq!(rate.most(), minute_by_brute_force(&stays), "seed {seed}, cuts {cuts:?}");
            }
        }
    }

    #[test]
    fn what_ends_as_another_begins_is_not_under_way_with_it() {
        let mut sweep = Sweep::default();
        [(0, 10), (10, 20), (20, 30)].iter().for_each(|(from, until)| sweep.stay(Time(*from), Time(*until)));
        sweep.settle(Time(i64::MAX), |_, _| ());
        assert_eq!(sweep.most(), Some(Peak { count: 1, at: Time(0) }));
    }

    #[test]
    fn a_minute_does_not_hold_both_its_ends() {
        let mut rate = Rate::default();
        [0, 30_000_000, 60_000_000].iter().for_each(|at| rate.add(Time(*at)));
        rate.settle(Time(i64::MAX), |_, _| ());
        assert_eq!(rate.most(), Some(Peak { count: 2, at: Time(0) }));
    }
}
