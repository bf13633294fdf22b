//! Maximum concurrency and maximum rate per minute: exact counts, from sweeps over sorted times.
//!
//! Times are processed once all earlier ones have been added, and then discarded. The counts do not depend on how the
//! log is split, and memory depends on the number of attempts in flight, not on the length of the log.

use super::in_order::InOrder;
use super::time_queue::TimeQueue;
use crate::calls::Call;
use crate::model::{Attempt, Mergeable, Scope, Time, TimeSeries};
use std::collections::BTreeMap;

/// Period over which rates are counted, in µs: limits are given per minute.
pub const MINUTE_US: i64 = 60_000_000;

/// A maximum, and when it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The maximum.
    pub count: u64,
    /// Time at which this many were in flight together, or the start of the first minute that contains them.
    pub at: Time,
}

impl Peak {
    fn note(peak: &mut Option<Peak>, count: u64, at: Time) {
        if peak.is_none_or(|known| known.count < count) {
            *peak = Some(Peak { count, at });
        }
    }

    fn higher(a: Option<Peak>, b: Option<Peak>) -> Option<Peak> {
        [a, b].into_iter().flatten().max_by_key(|peak| (peak.count, std::cmp::Reverse(peak.at)))
    }
}

/// Concurrency of intervals that include their start but not their end.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    begins: TimeQueue,
    ends: TimeQueue,
    level: i64,
    peak: Option<Peak>,
}

impl Sweep {
    /// Adds the interval from `from` to `until`, if it is not empty.
    pub(super) fn add_interval(&mut self, from: Time, until: Time) {
        if until > from {
            self.begins.0.push(from.0);
            self.ends.0.push(until.0);
        }
    }

    pub(super) fn merge(&mut self, other: Sweep) {
        self.begins.merge(other.begins);
        self.ends.merge(other.ends);
        self.level += other.level;
        self.peak = Peak::higher(self.peak, other.peak);
    }

    /// Sweeps the times before `until`.
    pub(super) fn settle(&mut self, until: Time) {
        let begins = self.begins.take(until.0);
        self.sweep(begins.into_iter(), until, |_, _| ());
    }

    /// Sweeps the times before `until`, given the sorted starts up to then. Calls `each` with the level after each
    /// start and end.
    fn sweep(&mut self, begins: impl Iterator<Item = i64>, until: Time, mut each: impl FnMut(Time, u64)) {
        let mut ends = self.ends.take(until.0).into_iter().peekable();
        let mut level = self.level;
        let mut move_level = |at: i64, change: i64| {
            level += change;
            let count = level.max(0).unsigned_abs();
            each(Time(at), count);
            count
        };
        for begin in begins {
            // At equal times, ends come before starts.
            while let Some(end) = ends.next_if(|end| *end <= begin) {
                move_level(end, -1);
            }
            Peak::note(&mut self.peak, move_level(begin, 1), Time(begin));
        }
        ends.for_each(|end| {
            move_level(end, -1);
        });
        self.level = level;
    }

    /// Returns the maximum concurrency.
    pub(super) fn peak(&self) -> Option<Peak> {
        self.peak
    }
}

/// Events counted over every minute.
#[derive(Clone, Debug, Default)]
pub(super) struct Rate {
    waiting: TimeQueue,
    /// Events within the minute before the last one counted, in order.
    recent: Vec<i64>,
    peak: Option<Peak>,
}

impl Rate {
    pub(super) fn add(&mut self, at: Time) {
        self.waiting.0.push(at.0);
    }

    pub(super) fn merge(&mut self, other: Rate) {
        self.waiting.merge(other.waiting);
        self.recent.extend(other.recent);
        self.peak = Peak::higher(self.peak, other.peak);
    }

    /// Counts the events before `until`, and records in `most_by`, for each event, how many the minute that ends with
    /// it contains.
    pub(super) fn settle(&mut self, until: Time, most_by: &mut TimeSeries<Maximum>) {
        let due = self.waiting.take(until.0);
        self.count(due.into_iter(), most_by);
    }

    /// Counts further events, which are in order.
    fn count(&mut self, events: impl Iterator<Item = i64> + Clone, most_by: &mut TimeSeries<Maximum>) {
        most_by.set_width_for(events.clone().map(Time));
        let mut most_by = InOrder::of(most_by);
        let (counted, mut first) = (self.recent.len(), 0);
        self.recent.extend(events);
        for (index, at) in self.recent.iter().enumerate().skip(counted) {
            while at.saturating_sub(self.recent[first]) >= MINUTE_US {
                first += 1;
            }
            let count = (index + 1 - first) as u64;
            Peak::note(&mut self.peak, count, Time(self.recent[first]));
            most_by.update(Time(*at), |peak| peak.0 = peak.0.max(count));
        }
        self.recent.drain(..first);
        self.recent.shrink_to(2 * self.recent.len());
    }

    pub(super) fn peak(&self) -> Option<Peak> {
        self.peak
    }
}

/// Highest level in a time bucket, and the level at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    peak: u64,
    last: Option<(Time, u64)>,
}

impl Level {
    fn note(&mut self, at: Time, level: u64) {
        self.peak = self.peak.max(level);
        if self.last.is_none_or(|(known, _)| known <= at) {
            self.last = Some((at, level));
        }
    }
}

impl Mergeable for Level {
    fn merge(&mut self, other: &Level) {
        self.peak = self.peak.max(other.peak);
        // Of several events at the same time, the last one determines the level at the end of the bucket.
        let at = |level: &Level| level.last.map(|(at, _)| at);
        if at(other) >= at(self) {
            self.last = other.last;
        }
    }
}

/// Maximum in a time bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Maximum(pub(super) u64);

impl Mergeable for Maximum {
    fn merge(&mut self, other: &Maximum) {
        self.0 = self.0.max(other.0);
    }
}

/// Attempts of one scope: how many were in flight, and how many were sent within a minute.
#[derive(Clone, Debug, Default)]
pub struct Peaks {
    /// Send time of each attempt in µs, times 2, plus 1 if the attempt has a known duration above 0: one number for
    /// both sorts faster than a pair.
    sent: TimeQueue,
    in_flight_sweep: Sweep,
    levels: TimeSeries<Level>,
    rate: Rate,
    sent_by: TimeSeries<Maximum>,
    refused: Rate,
    refused_by: TimeSeries<Maximum>,
}

/// Values of [`Peaks`] in one time bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeakPoint {
    /// Maximum number of attempts in flight at once.
    pub in_flight: u64,
    /// Maximum number of attempts sent within a minute that ended in the bucket.
    pub sent: u64,
    /// Maximum number of attempts refused within such a minute, by a rate limit or for lack of capacity.
    pub refused: u64,
}

impl Peaks {
    /// Adds the attempts of `call` on `scope` that were sent at `since` or later.
    pub(super) fn follow(&mut self, call: &Call<'_>, scope: Scope, since: Time) {
        for (position, attempt) in call.attempts().enumerate() {
            if attempt.sent >= since && call.origin(position).scope() == scope {
                self.add(attempt);
                if attempt.refused() {
                    self.refused.add(attempt.sent);
                }
            }
        }
    }

    /// Adds an attempt, without the count of refusals.
    #[inline]
    pub(super) fn add(&mut self, attempt: &Attempt) {
        let ended = attempt.ended();
        let has_duration = ended > attempt.sent;
        self.sent.0.push(attempt.sent.0.saturating_mul(2) | i64::from(has_duration));
        if has_duration {
            self.in_flight_sweep.ends.0.push(ended.0);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sent.0.len() + self.in_flight_sweep.ends.0.len()
    }

    pub(super) fn merge(&mut self, other: Peaks) {
        self.sent.merge(other.sent);
        self.in_flight_sweep.merge(other.in_flight_sweep);
        self.levels.merge(other.levels);
        self.rate.merge(other.rate);
        self.sent_by.merge(other.sent_by);
        self.refused.merge(other.refused);
        self.refused_by.merge(other.refused_by);
    }

    pub(super) fn settle(&mut self, until: Time) {
        let sent = self.sent.take(until.0.saturating_mul(2));
        let begins = sent.iter().filter(|sent| *sent & 1 == 1).map(|sent| sent >> 1);
        self.levels.set_width_for(begins.clone().map(Time));
        let mut levels = InOrder::of(&mut self.levels);
        self.in_flight_sweep.sweep(begins, until, |at, level| levels.update(at, |known| known.note(at, level)));
        drop(levels);
        self.rate.count(sent.iter().map(|sent| sent >> 1), &mut self.sent_by);
        self.refused.settle(until, &mut self.refused_by);
    }

    /// Returns the maximum number of attempts in flight at once, among those with a known duration.
    #[must_use]
    pub fn in_flight(&self) -> Option<Peak> {
        self.in_flight_sweep.peak()
    }

    /// Returns the maximum number of attempts sent within a minute.
    #[must_use]
    pub fn per_minute(&self) -> Option<Peak> {
        self.rate.peak()
    }

    /// Returns the smallest bucket width at which all values are known, in µs.
    #[must_use]
    pub fn width_us(&self) -> i64 {
        self.levels.width_us().max(self.sent_by.width_us()).max(self.refused_by.width_us())
    }

    /// Returns the bucket width in µs, at least `least_us`, and every bucket in which an attempt began or ended.
    /// Between two of them there may be one more, which represents all that are omitted.
    #[must_use]
    pub fn points(&self, least_us: i64) -> (i64, Vec<(Time, PeakPoint)>) {
        let (width, sent) = self.sent_by.no_finer_than(self.width_us().max(least_us));
        let refused = self.refused_by.no_finer_than(width).1;
        let levels = self.levels.no_finer_than(width).1;
        let mut points: BTreeMap<Time, PeakPoint> = BTreeMap::new();
        for (at, peak) in sent {
            points.entry(at).or_default().sent = peak.0;
        }
        for (at, peak) in refused {
            points.entry(at).or_default().refused = peak.0;
        }
        let mut changes = levels.into_iter().peekable();
        for at in points.keys().copied().chain(changes.clone().map(|(at, _)| at)).collect::<Vec<Time>>() {
            points.entry(at).or_default();
        }
        let (mut level, mut with_gaps) = (0, Vec::with_capacity(points.len()));
        for (at, mut point) in points {
            // In a gap no attempt begins or ends, so one bucket represents all of it.
            if let Some(gap) = with_gaps.last().map(|(before, _): &(Time, PeakPoint)| before.plus_us(width))
                && gap < at
            {
                with_gaps.push((gap, PeakPoint { in_flight: level, ..PeakPoint::default() }));
            }
            point.in_flight = level;
            if let Some((_, change)) = changes.next_if(|(other, _)| *other == at) {
                point.in_flight = level.max(change.peak);
                level = change.last.map_or(level, |(_, level)| level);
            }
            with_gaps.push((at, point));
        }
        (width, with_gaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64, limit: i64) -> i64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*seed >> 33) as i64) % limit
    }

    /// Creates intervals that begin within some minutes, many of them at the same times.
    fn intervals(seed: u64, count: usize) -> Vec<(Time, Time)> {
        let mut seed = seed;
        let add_interval = |seed: &mut u64| {
            let from = 1_773_133_200_000_000 + random(seed, 3_000) * 100_000;
            (Time(from), Time(from + random(seed, 80) * 250_000))
        };
        (0..count).map(|_| add_interval(&mut seed)).collect()
    }

    /// Computes the peak without a sweep, by comparing each start with every interval.
    fn by_brute_force(intervals: &[(Time, Time)]) -> Option<Peak> {
        let at_once = |at: Time| intervals.iter().filter(|(from, until)| *from <= at && at < *until).count() as u64;
        let peaks = intervals
            .iter()
            .filter(|(from, until)| until > from)
            .map(|(from, _)| Peak { count: at_once(*from), at: *from });
        peaks.max_by_key(|peak| (peak.count, std::cmp::Reverse(peak.at)))
    }

    fn minute_by_brute_force(intervals: &[(Time, Time)]) -> Option<Peak> {
        let within = |start: Time| {
            intervals.iter().filter(|(from, _)| *from >= start && from.us_since(start) < MINUTE_US).count() as u64
        };
        let peaks = intervals.iter().map(|(from, _)| Peak { count: within(*from), at: *from });
        peaks.max_by_key(|peak| (peak.count, std::cmp::Reverse(peak.at)))
    }

    #[test]
    fn peaks_equal_those_of_brute_force_for_any_split() {
        for seed in 0..20 {
            let intervals = intervals(seed, 400);
            for cuts in [vec![], vec![100], vec![37, 150, 151, 280]] {
                let (mut sweep, mut rate) = (Sweep::default(), Rate::default());
                let bounds = cuts.iter().map(|cut| Time(1_773_133_200_000_000 + cut * 1_000_000));
                let mut since = Time(i64::MIN);
                for until in bounds.chain([Time(i64::MAX)]) {
                    for (from, to) in intervals.iter().filter(|(from, _)| *from >= since && *from < until) {
                        sweep.add_interval(*from, *to);
                        rate.add(*from);
                    }
                    sweep.settle(until);
                    rate.settle(until, &mut TimeSeries::default());
                    since = until;
                }
                assert_eq!(sweep.peak(), by_brute_force(&intervals), "seed {seed}, cuts {cuts:?}");
                assert_eq!(rate.peak(), minute_by_brute_force(&intervals), "seed {seed}, cuts {cuts:?}");
            }
        }
    }

    #[test]
    fn an_interval_that_ends_as_another_begins_does_not_overlap_it() {
        let mut sweep = Sweep::default();
        [(0, 10), (10, 20), (20, 30)].iter().for_each(|(from, until)| sweep.add_interval(Time(*from), Time(*until)));
        sweep.settle(Time(i64::MAX));
        assert_eq!(sweep.peak(), Some(Peak { count: 1, at: Time(0) }));
    }

    #[test]
    fn a_minute_excludes_its_end() {
        let mut rate = Rate::default();
        [0, 30_000_000, 60_000_000].iter().for_each(|at| rate.add(Time(*at)));
        rate.settle(Time(i64::MAX), &mut TimeSeries::default());
        assert_eq!(rate.peak(), Some(Peak { count: 2, at: Time(0) }));
    }
}
