//! Retry waves: retries of many calls that arrive together, are refused together, and are retried together.

mod wait_events;

use super::backoff;
use super::call_terms::CallTerms;
use super::time_buckets::TimeBuckets;
use crate::calls::{Call, Grouping};
use crate::model::{AttemptTable, Scope, Time};
use smallvec::SmallVec;
use wait_events::{WaitEvents, WaitTotals};

/// Binary logarithm of the bucket width in µs: 2^16 µs are some 66 ms.
const BUCKET_SHIFT: u32 = 16;
/// Width of a wave in buckets: some 262 ms.
const WAVE_BUCKETS: i64 = 4;
/// Shortest wait that counts, in µs: with a shorter wait, two retries of a call would be in the same wave.
const MIN_WAIT_US: i64 = 250_000;
/// Longest wait that counts, in µs: a retry after an hour is a new schedule and no part of a wave.
pub(super) const MAX_WAIT_US: i64 = 3_600_000_000;
/// First retries kept as examples of one train.
const EXAMPLES: usize = 8;
/// Waits count as equal if they differ by at most one part in this many.
const TOLERANCE_PARTS: i64 = 20;
/// Longest time until the refusals of a wave are answered and the next wait begins, in µs.
const MAX_ANSWER_US: i64 = 30_000_000;

/// Waits of one scope's calls, and the trains of waves found in time order.
#[derive(Clone, Debug, Default)]
pub(super) struct Waves {
    buckets: TimeBuckets<WaitEvents>,
    trains: Trains,
}

/// Thresholds for [`Train`].
#[derive(Clone, Copy, Debug)]
pub struct WaveTerms {
    /// Minimum number of calls that arrive together.
    pub calls: u64,
    /// Minimum share of them among the calls that were waiting at that time.
    pub share: f64,
    /// Minimum number of waves of a train.
    pub waves: u64,
}

/// Consecutive waves, each made up of calls that were in the previous one.
#[derive(Clone, Debug, PartialEq)]
pub struct Train {
    /// Arrival of the first wave.
    pub first: Time,
    /// Arrival of the last wave.
    pub last: Time,
    /// Number of waves.
    pub waves: u64,
    /// Shortest and longest time between consecutive waves, in seconds.
    pub periods_s: (f64, f64),
    /// Calls in the largest wave.
    pub most: u64,
    /// Retries in all waves.
    pub sends: u64,
    /// Of `sends`, those refused by a rate limit or for lack of capacity.
    pub refused: u64,
    /// Of `sends`, those whose wait the server had requested.
    pub server_requested: u64,
    /// Whether in each wave all calls had waited equally long.
    pub equal_waits: bool,
    /// First retries of the first waves.
    pub examples: SmallVec<[u32; EXAMPLES]>,
}

impl Waves {
    /// Adds the waits of `call` on `scope` that ended at `since` or later.
    pub(super) fn follow(&mut self, call: &Call<'_>, scope: Scope, since: Time, terms: &CallTerms) {
        if call.len() < 2 || call.grouping == Grouping::Inferred {
            return;
        }
        let mut before = false;
        let mut coarse = is_coarse(call, 0);
        for position in 1..call.len() {
            coarse &= is_coarse(call, position);
            let waited = call.at(position - 1).failed()
                && call.origin(position - 1).scope() == scope
                && call.origin(position).scope() == scope;
            let in_bounds = |us| (MIN_WAIT_US..=MAX_WAIT_US).contains(&us);
            let wait = call.wait_before(position).filter(|wait| waited && in_bounds(wait.us));
            // With times in whole seconds, retries within a second seem to coincide.
            if let Some(wait) = wait.filter(|_| !coarse && call.at(position).sent >= since) {
                self.add(call, position, (wait.us, before), terms);
            }
            before = wait.is_some();
        }
    }

    fn add(&mut self, call: &Call<'_>, position: usize, (us, after_wait): (i64, bool), terms: &CallTerms) {
        let (table, attempt) = (call.table(), call.at(position));
        let began = WaitEvents { began: 1, began_again: u32::from(after_wait), ..WaitEvents::default() };
        if after_wait {
            let waited_again = WaitEvents { waited_again: 1, ..WaitEvents::default() };
            self.buckets.add(table, call.at(position - 1).sent.0 >> BUCKET_SHIFT, waited_again);
        }
        self.buckets.add(table, attempt.sent.plus_us(-us).0 >> BUCKET_SHIFT, began);
        let arrived = WaitEvents {
            arrived: 1,
            refused: u32::from(attempt.refused()),
            after_wait: u32::from(after_wait),
            server_requested: u32::from(backoff::is_server_requested(call, position, terms)),
            longest_us: us,
            shortest_us: us,
            example: Some(call.rows()[position]),
            ..WaitEvents::default()
        };
        self.buckets.add(table, attempt.sent.0 >> BUCKET_SHIFT, arrived);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Waves) {
        self.buckets.merge(table, other.buckets);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.buckets.each_mut().filter_map(|wait_events| wait_events.example.as_mut()).for_each(&mut *visit);
        self.trains.each_row(visit);
    }

    /// Finds the waves that are final, given that all attempts sent before `until` have been added. Waits that began
    /// before `until` may not have ended yet.
    pub(super) fn settle(&mut self, table: &AttemptTable, until: Time, terms: &WaveTerms) {
        let due = (until.plus_us(-MAX_WAIT_US).0 >> BUCKET_SHIFT) - WAVE_BUCKETS;
        let sums = WaitPrefixSums::of(self.buckets.sorted(table), self.trains.discarded);
        self.trains.find(&sums, due, terms);
        // The longest wait of a wave found later may have begun this long before it.
        let kept = due.saturating_sub((MAX_WAIT_US >> BUCKET_SHIFT) + 2);
        self.trains.discarded = sums.until(kept);
        self.buckets.forget_before(kept);
    }

    /// Returns the trains of waves, in time order.
    pub(super) fn trains(&self, terms: &WaveTerms) -> Vec<Train> {
        self.trains.all(terms)
    }
}

fn is_coarse(call: &Call<'_>, position: usize) -> bool {
    call.at(position).sent.0 % 1_000_000 == 0
}

/// Retries that arrive together.
#[derive(Clone, Copy, Debug)]
struct Wave {
    key: i64,
    sum: WaitEvents,
    example: Option<u32>,
}

impl Wave {
    /// Returns whether enough of its calls may have been in `last`.
    fn follows(&self, last: &Wave, terms: &WaveTerms) -> bool {
        let apart_us = (self.key - last.key) << BUCKET_SHIFT;
        u64::from(self.sum.after_wait) >= terms.calls
            && 2 * self.sum.after_wait >= self.sum.arrived
            && apart_us <= self.sum.longest_us + MAX_ANSWER_US
    }
}

/// Trains and waves found so far.
#[derive(Clone, Debug)]
struct Trains {
    /// Counts of the discarded buckets.
    discarded: WaitTotals,
    /// Bucket before which waves are found.
    found: i64,
    /// The largest of the current overlapping windows, and the bucket of the last of them.
    wave: Option<(Wave, i64)>,
    /// The train that the next wave may continue, and its last wave.
    open: Option<(Train, Wave)>,
    finished: Vec<Train>,
}

impl Default for Trains {
    fn default() -> Self {
        Trains { discarded: WaitTotals::default(), found: i64::MIN, wave: None, open: None, finished: Vec::new() }
    }
}

impl Trains {
    /// Finds the waves that begin before `until`: of overlapping windows, the one with the most arrivals.
    fn find(&mut self, sums: &WaitPrefixSums<'_>, until: i64, terms: &WaveTerms) {
        let from = sums.index(self.found);
        let to = sums.index(until).max(from);
        for wave in (from..to).filter_map(|index| sums.wave(index, terms)) {
            match self.wave.take() {
                Some((best, last)) if wave.key - WAVE_BUCKETS < last => {
                    let better = wave.sum.arrived > best.sum.arrived;
                    self.wave = Some((if better { wave } else { best }, wave.key));
                }
                finished => {
                    self.open = join(self.open.take(), finished.map(|(best, _)| best), terms, &mut self.finished);
                    self.wave = Some((wave, wave.key));
                }
            }
        }
        self.found = self.found.max(until);
    }

    fn all(&self, terms: &WaveTerms) -> Vec<Train> {
        let mut list = self.finished.clone();
        let open = join(self.open.clone(), self.wave.map(|(best, _)| best), terms, &mut list);
        list.extend(open.map(|(train, _)| train).filter(|train| has_enough_waves(train, terms)));
        list
    }

    fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let (wave, last) = (self.wave.iter_mut().map(|(wave, _)| wave), self.open.iter_mut().map(|(_, last)| last));
        wave.chain(last).filter_map(|wave| wave.example.as_mut()).for_each(&mut *visit);
        let trains = self.finished.iter_mut().chain(self.open.iter_mut().map(|(train, _)| train));
        trains.flat_map(|train| &mut train.examples).for_each(visit);
    }
}

/// Appends `wave` to the open train, or opens a new one; adds a finished train to `finished`.
fn join(
    open: Option<(Train, Wave)>,
    wave: Option<Wave>,
    terms: &WaveTerms,
    finished: &mut Vec<Train>,
) -> Option<(Train, Wave)> {
    let Some(wave) = wave else { return open };
    match open {
        Some((mut train, last)) if wave.follows(&last, terms) => {
            train.extend(&last, &wave);
            Some((train, wave))
        }
        before => {
            finished.extend(before.map(|(train, _)| train).filter(|train| has_enough_waves(train, terms)));
            Some((Train::of(&wave), wave))
        }
    }
}

fn has_enough_waves(train: &Train, terms: &WaveTerms) -> bool {
    train.waves >= terms.waves.max(2)
}

impl Train {
    fn of(wave: &Wave) -> Train {
        let at = Time(wave.key << BUCKET_SHIFT);
        let mut train = Train {
            first: at,
            last: at,
            waves: 0,
            periods_s: (f64::INFINITY, 0.0),
            most: 0,
            sends: 0,
            refused: 0,
            server_requested: 0,
            equal_waits: true,
            examples: SmallVec::new(),
        };
        train.add_wave(wave);
        train
    }

    fn extend(&mut self, last: &Wave, wave: &Wave) {
        let period_s = ((wave.key - last.key) << BUCKET_SHIFT) as f64 / 1e6;
        self.periods_s = (self.periods_s.0.min(period_s), self.periods_s.1.max(period_s));
        self.last = Time(wave.key << BUCKET_SHIFT);
        self.add_wave(wave);
    }

    fn add_wave(&mut self, wave: &Wave) {
        self.waves += 1;
        self.most = self.most.max(wave.sum.arrived.into());
        self.sends += u64::from(wave.sum.arrived);
        self.refused += u64::from(wave.sum.refused);
        self.server_requested += u64::from(wave.sum.server_requested);
        self.equal_waits &= (wave.sum.longest_us - wave.sum.shortest_us) * TOLERANCE_PARTS <= wave.sum.longest_us;
        if self.examples.len() < EXAMPLES {
            self.examples.extend(wave.example);
        }
    }
}

/// Buckets in time order, with prefix sums.
struct WaitPrefixSums<'l> {
    list: &'l [(i64, WaitEvents)],
    /// Counts before each bucket; one more entry than `list`.
    before: Vec<WaitTotals>,
}

impl<'l> WaitPrefixSums<'l> {
    /// Creates the sums; `discarded` are the counts before its first bucket.
    fn of(list: &'l [(i64, WaitEvents)], discarded: WaitTotals) -> WaitPrefixSums<'l> {
        let mut before = Vec::with_capacity(list.len() + 1);
        let mut sum = discarded;
        before.push(sum);
        for (_, wait_events) in list {
            sum = sum.and(wait_events);
            before.push(sum);
        }
        WaitPrefixSums { list, before }
    }

    fn index(&self, key: i64) -> usize {
        self.list.partition_point(|(other, _)| *other < key)
    }

    /// Returns the counts before the bucket `key`.
    fn until(&self, key: i64) -> WaitTotals {
        self.before[self.index(key)]
    }

    /// Returns the window that begins with a bucket, if it is a wave.
    fn wave(&self, index: usize, terms: &WaveTerms) -> Option<Wave> {
        let (key, first) = &self.list[index];
        let mut sum = WaitEvents::default();
        self.list[index..]
            .iter()
            .take_while(|(other, _)| *other < key + WAVE_BUCKETS)
            .for_each(|(_, wait_events)| sum.add(wait_events));
        let arrived = u64::from(sum.arrived);
        if first.arrived == 0 || arrived < terms.calls {
            return None;
        }
        // Counts all calls that waited at any time during these waits. If many calls wait and retry one by one, the
        // last of them are no wave, although they are the only ones still waiting.
        let from = key - (sum.longest_us >> BUCKET_SHIFT) - 1;
        let (since, at) = (self.until(from), self.until(*key));
        // A call that retried, was refused and waits again is counted once, however fast the refusal was.
        let twice = (at.waited_again - since.waited_again).min(at.began_again - since.began_again);
        let waiting = at.began.saturating_sub(since.arrived).saturating_sub(twice);
        let share = arrived as f64 / waiting.max(arrived) as f64;
        (share >= terms.share).then_some(Wave { key: *key, sum, example: first.example })
    }
}
