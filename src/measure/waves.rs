//! Retries of many calls that arrive together, go away together and come back together.

use super::backoff;
use super::moments::{Moment, Moments};
use super::spot::earlier_row;
use super::tally::{is_overload, is_rate_limit};
use crate::attempt::{AttemptTable, Scope, Time};
use crate::calls::{Call, Grouping};

/// Stretches of 2^16 µs, some 66 ms.
const SHIFT: u32 = 16;
/// Stretches a wave is wide: some 262 ms.
const WIDTH: i64 = 4;
/// Shorter waits make no wave, µs: a call would be in it twice.
const SHORT_US: i64 = 250_000;
/// What a wave's refusals may take to come back, before the next wait begins, µs.
const ANSWER_US: i64 = 30_000_000;

/// What happened to waits in one stretch.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Waits that began.
    began: u32,
    /// Waits that ended: retries sent.
    arrived: u32,
    /// Those of them that met a rate limit or an overload.
    refused: u32,
    /// Those of calls that had waited before.
    again: u32,
    /// Those whose wait the server had asked for.
    dictated: u32,
    /// The longest of the waits that ended, µs.
    longest_us: i64,
    /// The earliest of the retries.
    example: Option<u32>,
}

impl Turn {
    fn add(&mut self, other: &Turn) {
        self.began += other.began;
        self.arrived += other.arrived;
        self.refused += other.refused;
        self.again += other.again;
        self.dictated += other.dictated;
        self.longest_us = self.longest_us.max(other.longest_us);
    }
}

impl Moment for Turn {
    fn merge(&mut self, table: &AttemptTable, other: &Turn) {
        self.add(other);
        self.example = earlier_row(table, self.example, other.example);
    }
}

/// The waits of one scope's calls over time.
#[derive(Clone, Debug, Default)]
pub struct Waves {
    moments: Moments<Turn>,
}

/// Thresholds of [`Waves::trains`].
#[derive(Clone, Copy, Debug)]
pub struct WaveTerms {
    /// Least calls that arrive together.
    pub calls: u64,
    /// Least share of those then waiting.
    pub share: f64,
    /// Least waves of a train.
    pub waves: usize,
}

/// Waves that follow one another, each of calls that were in the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Train {
    /// When the first arrived.
    pub first: Time,
    /// When the last arrived.
    pub last: Time,
    /// How many.
    pub waves: u64,
    /// Shortest and longest time from one to the next, in seconds.
    pub periods_s: (f64, f64),
    /// Calls in the largest.
    pub most: u64,
    /// Retries of all of them.
    pub sends: u64,
    /// Those that met a rate limit or an overload.
    pub refused: u64,
    /// Those whose wait the server had asked for.
    pub dictated: u64,
    /// The first retries of each wave.
    pub examples: Vec<u32>,
}

impl Waves {
    /// Takes in the waits of `call` on `scope`.
    pub(super) fn absorb(&mut self, call: &Call<'_>, scope: Scope) {
        // Whole seconds bring together what was apart.
        if call.len() < 2 || call.grouping == Grouping::Inferred || call.attempts().all(|a| a.sent.0 % 1_000_000 == 0) {
            return;
        }
        let mut before = false;
        for position in 1..call.len() {
            let waited = call.at(position - 1).failed()
                && call.origin(position - 1).scope() == scope
                && call.origin(position).scope() == scope;
            let wait = call.wait_before(position).filter(|wait| waited && wait.us >= SHORT_US);
            if let Some(wait) = wait {
                self.add(call, position, wait.us, before);
            }
            before = wait.is_some();
        }
    }

    fn add(&mut self, call: &Call<'_>, position: usize, us: i64, again: bool) {
        let (table, attempt) = (call.table(), call.at(position));
        let began = Turn { began: 1, ..Turn::default() };
        self.moments.add(table, attempt.sent.plus_us(-us).0 >> SHIFT, began);
        let arrived = Turn {
            arrived: 1,
            refused: u32::from(is_rate_limit(attempt) || is_overload(attempt)),
            again: u32::from(again),
            dictated: u32::from(backoff::is_dictated(call, position)),
            longest_us: us,
            example: Some(call.rows()[position]),
            ..Turn::default()
        };
        self.moments.add(table, attempt.sent.0 >> SHIFT, arrived);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Waves) {
        self.moments.merge(table, other.moments);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.moments.each_mut().filter_map(|turn| turn.example.as_mut()).for_each(visit);
    }

    /// Every train of waves, in time order.
    #[must_use]
    pub fn trains(&self, table: &AttemptTable, terms: &WaveTerms) -> Vec<Train> {
        let line = Line::of(self.moments.sorted(table));
        let mut trains: Vec<Vec<Wave>> = Vec::new();
        for wave in line.waves(terms) {
            match trains.last_mut() {
                Some(train) if train.last().is_some_and(|last| wave.follows(last, terms)) => train.push(wave),
                _ => trains.push(vec![wave]),
            }
        }
        trains.iter().filter(|train| train.len() >= terms.waves.max(2)).map(|train| told(train)).collect()
    }
}

/// Retries that arrive together.
#[derive(Clone, Copy, Debug)]
struct Wave {
    key: i64,
    sum: Turn,
    example: Option<u32>,
}

impl Wave {
    /// Whether enough of the calls in it may have been in `last`.
    fn follows(&self, last: &Wave, terms: &WaveTerms) -> bool {
        let apart_us = (self.key - last.key) << SHIFT;
        u64::from(self.sum.again) >= terms.calls
            && 2 * self.sum.again >= self.sum.arrived
            && apart_us <= self.sum.longest_us + ANSWER_US
    }
}

/// Stretches in order, with running sums.
struct Line {
    list: Vec<(i64, Turn)>,
    /// Waits begun and ended before each stretch; one more entry than the list.
    before: Vec<(u64, u64)>,
}

impl Line {
    fn of(list: Vec<(i64, Turn)>) -> Line {
        let mut before = Vec::with_capacity(list.len() + 1);
        let mut sum = (0, 0);
        before.push(sum);
        for (_, turn) in &list {
            sum = (sum.0 + u64::from(turn.began), sum.1 + u64::from(turn.arrived));
            before.push(sum);
        }
        Line { list, before }
    }

    /// Waits begun and ended before the stretch `key`.
    fn until(&self, key: i64) -> (u64, u64) {
        self.before[self.list.partition_point(|(other, _)| *other < key)]
    }

    /// Of windows that overlap, the one in which most arrived.
    fn waves(&self, terms: &WaveTerms) -> Vec<Wave> {
        let mut waves: Vec<Wave> = Vec::new();
        let mut last = i64::MIN;
        for wave in (0..self.list.len()).filter_map(|place| self.wave(place, terms)) {
            let joined = wave.key - WIDTH < last;
            last = wave.key;
            match waves.last_mut() {
                Some(best) if joined => {
                    if wave.sum.arrived > best.sum.arrived {
                        *best = wave;
                    }
                }
                _ => waves.push(wave),
            }
        }
        waves
    }

    /// The window that begins with a stretch, where it holds a wave.
    fn wave(&self, place: usize, terms: &WaveTerms) -> Option<Wave> {
        let (key, first) = &self.list[place];
        let mut sum = Turn::default();
        self.list[place..].iter().take_while(|(other, _)| *other < key + WIDTH).for_each(|(_, turn)| sum.add(turn));
        let arrived = u64::from(sum.arrived);
        if first.arrived == 0 || arrived < terms.calls {
            return None;
        }
        // Whoever was waiting at some time while these were: a crowd that comes back one by one is no wave,
        // though its last ones are all that are left then.
        let from = key - (sum.longest_us >> SHIFT) - 1;
        let (since, at) = (self.until(from), self.until(*key));
        let waiting = at.0.saturating_sub(since.1);
        let share = arrived as f64 / waiting.max(arrived) as f64;
        (share >= terms.share).then_some(Wave { key: *key, sum, example: first.example })
    }
}

fn told(train: &[Wave]) -> Train {
    let time = |wave: Option<&Wave>| Time(wave.map_or(0, |wave| wave.key) << SHIFT);
    let periods = train.windows(2).map(|pair| ((pair[1].key - pair[0].key) << SHIFT) as f64 / 1e6);
    let sum = |of: fn(&Turn) -> u32| train.iter().map(|wave| u64::from(of(&wave.sum))).sum();
    Train {
        first: time(train.first()),
        last: time(train.last()),
        waves: train.len() as u64,
        periods_s: (periods.clone().fold(f64::INFINITY, f64::min), periods.fold(0.0, f64::max)),
        most: train.iter().map(|wave| u64::from(wave.sum.arrived)).max().unwrap_or(0),
        sends: sum(|turn| turn.arrived),
        refused: sum(|turn| turn.refused),
        dictated: sum(|turn| turn.dictated),
        examples: train.iter().filter_map(|wave| wave.example).collect(),
    }
}
