//! Retry waves: retries of many calls that arrive together, are refused together and come back together.

mod turn;

use super::backoff;
use super::call_terms::CallTerms;
use super::time_buckets::TimeBuckets;
use crate::calls::{Call, Grouping};
use crate::model::{AttemptTable, Scope, Time};
use smallvec::SmallVec;
use turn::{Passed, Turn};

/// Binary logarithm of the bucket width in µs: 2^16 µs are some 66 ms.
const SHIFT: u32 = 16;
/// Width of a wave in buckets: some 262 ms.
const WIDTH: i64 = 4;
/// Shortest wait that counts, in µs: with shorter ones a call would be in the same wave twice.
const SHORT_US: i64 = 250_000;
/// Longest wait that counts, in µs: an hour's wait is a schedule of its own, not part of a crowd that waits seconds.
pub(super) const LONG_US: i64 = 3_600_000_000;
/// First retries kept as examples of one train.
const EXAMPLES: usize = 8;
/// Waits count as equal if they differ by at most one part in this many.
const ONE_IN: i64 = 20;
/// Longest time until the refusals of a wave are answered and the next wait begins, in µs.
const ANSWER_US: i64 = 30_000_000;

/// Waits of one scope's calls, and the trains of waves found in time order.
#[derive(Clone, Debug, Default)]
pub(super) struct Waves {
    moments: TimeBuckets<Turn>,
    trains: Trains,
}

/// Thresholds for [`Train`].
#[derive(Clone, Copy, Debug)]
pub struct WaveTerms {
    /// Minimum number of calls that arrive together.
    pub calls: u64,
    /// Minimum share of them among the calls then waiting.
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
    pub dictated: u64,
    /// Whether in each wave all calls had waited equally long.
    pub alike: bool,
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
            let in_bounds = |us| (SHORT_US..=LONG_US).contains(&us);
            let wait = call.wait_before(position).filter(|wait| waited && in_bounds(wait.us));
            // Times in whole seconds make retries coincide that did not.
            if let Some(wait) = wait.filter(|_| !coarse && call.at(position).sent >= since) {
                self.add(call, position, (wait.us, before), terms);
            }
            before = wait.is_some();
        }
    }

    fn add(&mut self, call: &Call<'_>, position: usize, (us, again): (i64, bool), terms: &CallTerms) {
        let (table, attempt) = (call.table(), call.at(position));
        let began = Turn { began: 1, began_again: u32::from(again), ..Turn::default() };
        if again {
            let went_on = Turn { went_on: 1, ..Turn::default() };
            self.moments.add(table, call.at(position - 1).sent.0 >> SHIFT, went_on);
        }
        self.moments.add(table, attempt.sent.plus_us(-us).0 >> SHIFT, began);
        let arrived = Turn {
            arrived: 1,
            refused: u32::from(attempt.refused()),
            again: u32::from(again),
            dictated: u32::from(backoff::is_dictated(call, position, terms)),
            longest_us: us,
            shortest_us: us,
            example: Some(call.rows()[position]),
            ..Turn::default()
        };
        self.moments.add(table, attempt.sent.0 >> SHIFT, arrived);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Waves) {
        self.moments.merge(table, other.moments);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.moments.each_mut().filter_map(|turn| turn.example.as_mut()).for_each(&mut *visit);
        self.trains.each_row(visit);
    }

    /// Finds the waves that are final, given that nothing sent before `until` is still to come. Waits that began before
    /// `until` may not have ended yet.
    pub(super) fn settle(&mut self, table: &AttemptTable, until: Time, terms: &WaveTerms) {
        let due = (until.plus_us(-LONG_US).0 >> SHIFT) - WIDTH;
        let sums = TurnPrefixSums::of(self.moments.in_order(table), self.trains.gone);
        self.trains.find(&sums, due, terms);
        // The longest wait of a future wave may have begun this long before.
        let kept = due.saturating_sub((LONG_US >> SHIFT) + 2);
        self.trains.gone = sums.until(kept);
        self.moments.forget_before(kept);
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
    sum: Turn,
    example: Option<u32>,
}

impl Wave {
    /// Returns whether enough of its calls may have been in `last`.
    fn follows(&self, last: &Wave, terms: &WaveTerms) -> bool {
        let apart_us = (self.key - last.key) << SHIFT;
        u64::from(self.sum.again) >= terms.calls
            && 2 * self.sum.again >= self.sum.arrived
            && apart_us <= self.sum.longest_us + ANSWER_US
    }
}

/// Trains and waves found so far.
#[derive(Clone, Debug)]
struct Trains {
    /// Counts of the discarded buckets.
    gone: Passed,
    /// Bucket before which waves are found.
    found: i64,
    /// The largest of the current overlapping windows, and the bucket of the last of them.
    wave: Option<(Wave, i64)>,
    /// The train that the next wave may continue, and its last wave.
    open: Option<(Train, Wave)>,
    over: Vec<Train>,
}

impl Default for Trains {
    fn default() -> Self {
        Trains { gone: Passed::default(), found: i64::MIN, wave: None, open: None, over: Vec::new() }
    }
}

impl Trains {
    /// Finds the waves that begin before `until`: of overlapping windows, the one with the most arrivals.
    fn find(&mut self, sums: &TurnPrefixSums<'_>, until: i64, terms: &WaveTerms) {
        let from = sums.place(self.found);
        let to = sums.place(until).max(from);
        for wave in (from..to).filter_map(|place| sums.wave(place, terms)) {
            match self.wave.take() {
                Some((best, last)) if wave.key - WIDTH < last => {
                    let better = wave.sum.arrived > best.sum.arrived;
                    self.wave = Some((if better { wave } else { best }, wave.key));
                }
                over => {
                    self.open = join(self.open.take(), over.map(|(best, _)| best), terms, &mut self.over);
                    self.wave = Some((wave, wave.key));
                }
            }
        }
        self.found = self.found.max(until);
    }

    fn all(&self, terms: &WaveTerms) -> Vec<Train> {
        let mut list = self.over.clone();
        let open = join(self.open.clone(), self.wave.map(|(best, _)| best), terms, &mut list);
        list.extend(open.map(|(train, _)| train).filter(|train| lasts(train, terms)));
        list
    }

    fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let (wave, last) = (self.wave.iter_mut().map(|(wave, _)| wave), self.open.iter_mut().map(|(_, last)| last));
        wave.chain(last).filter_map(|wave| wave.example.as_mut()).for_each(&mut *visit);
        let trains = self.over.iter_mut().chain(self.open.iter_mut().map(|(train, _)| train));
        trains.flat_map(|train| &mut train.examples).for_each(visit);
    }
}

/// Appends `wave` to the open train, or opens a new one; adds a finished train to `over`.
fn join(
    open: Option<(Train, Wave)>,
    wave: Option<Wave>,
    terms: &WaveTerms,
    over: &mut Vec<Train>,
) -> Option<(Train, Wave)> {
    let Some(wave) = wave else { return open };
    match open {
        Some((mut train, last)) if wave.follows(&last, terms) => {
            train.extend(&last, &wave);
            Some((train, wave))
        }
        before => {
            over.extend(before.map(|(train, _)| train).filter(|train| lasts(train, terms)));
            Some((Train::of(&wave), wave))
        }
    }
}

fn lasts(train: &Train, terms: &WaveTerms) -> bool {
    train.waves >= terms.waves.max(2)
}

impl Train {
    fn of(wave: &Wave) -> Train {
        let at = Time(wave.key << SHIFT);
        let mut train = Train {
            first: at,
            last: at,
            waves: 0,
            periods_s: (f64::INFINITY, 0.0),
            most: 0,
            sends: 0,
            refused: 0,
            dictated: 0,
            alike: true,
            examples: SmallVec::new(),
        };
        train.take(wave);
        train
    }

    fn extend(&mut self, last: &Wave, wave: &Wave) {
        let period_s = ((wave.key - last.key) << SHIFT) as f64 / 1e6;
        self.periods_s = (self.periods_s.0.min(period_s), self.periods_s.1.max(period_s));
        self.last = Time(wave.key << SHIFT);
        self.take(wave);
    }

    fn take(&mut self, wave: &Wave) {
        self.waves += 1;
        self.most = self.most.max(wave.sum.arrived.into());
        self.sends += u64::from(wave.sum.arrived);
        self.refused += u64::from(wave.sum.refused);
        self.dictated += u64::from(wave.sum.dictated);
        self.alike &= (wave.sum.longest_us - wave.sum.shortest_us) * ONE_IN <= wave.sum.longest_us;
        if self.examples.len() < EXAMPLES {
            self.examples.extend(wave.example);
        }
    }
}

/// Buckets in time order, with prefix sums.
struct TurnPrefixSums<'l> {
    list: &'l [(i64, Turn)],
    /// Counts before each bucket; one more entry than `list`.
    before: Vec<Passed>,
}

impl<'l> TurnPrefixSums<'l> {
    /// Creates the sums; `gone` are the counts before its first bucket.
    fn of(list: &'l [(i64, Turn)], gone: Passed) -> TurnPrefixSums<'l> {
        let mut before = Vec::with_capacity(list.len() + 1);
        let mut sum = gone;
        before.push(sum);
        for (_, turn) in list {
            sum = sum.and(turn);
            before.push(sum);
        }
        TurnPrefixSums { list, before }
    }

    fn place(&self, key: i64) -> usize {
        self.list.partition_point(|(other, _)| *other < key)
    }

    /// Returns the counts before the bucket `key`.
    fn until(&self, key: i64) -> Passed {
        self.before[self.place(key)]
    }

    /// Returns the window that begins with a bucket, if it is a wave.
    fn wave(&self, place: usize, terms: &WaveTerms) -> Option<Wave> {
        let (key, first) = &self.list[place];
        let mut sum = Turn::default();
        self.list[place..].iter().take_while(|(other, _)| *other < key + WIDTH).for_each(|(_, turn)| sum.add(turn));
        let arrived = u64::from(sum.arrived);
        if first.arrived == 0 || arrived < terms.calls {
            return None;
        }
        // Count all calls that waited at some time during these waits: a crowd whose calls come back one by one is no
        // wave, although its last calls are the only ones left in the end.
        let from = key - (sum.longest_us >> SHIFT) - 1;
        let (since, at) = (self.until(from), self.until(*key));
        // A call that came back, was refused and waits again is one call, however fast the refusal was.
        let twice = (at.went_on - since.went_on).min(at.began_again - since.began_again);
        let waiting = at.began.saturating_sub(since.arrived).saturating_sub(twice);
        let share = arrived as f64 / waiting.max(arrived) as f64;
        (share >= terms.share).then_some(Wave { key: *key, sum, example: first.example })
    }
}
