//! Calls that start together, and what became of them.

use super::moments::{Moment, Moments};
use super::spot::earlier_row;
use crate::attempt::{AttemptTable, Symbol, Time};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Stretches of 2^16 µs, some 66 ms.
const SHIFT: u32 = 16;
/// Stretches in a window: whatever fits into one second fits into it, and little more.
const WINDOW: i64 = 16;

/// Calls that started in one stretch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Calls.
    starts: u32,
    /// Those whose first attempt met a rate limit or an overload.
    met: u32,
    /// The earliest of them.
    example: Option<u32>,
    /// [`Burst::LIMITED`], and one bit for the run of each call.
    marks: u32,
}

impl Burst {
    /// One of those met a rate limit.
    const LIMITED: u32 = 1 << 31;

    fn add(&mut self, other: &Burst) {
        self.starts += other.starts;
        self.met += other.met;
        self.marks |= other.marks;
    }

    /// About how many runs the calls belong to, from how many of 31 bits are set.
    fn runs(&self) -> f64 {
        let free = 31 - (self.marks & !Burst::LIMITED).count_ones();
        if free == 0 { f64::INFINITY } else { 31.0 * (31.0 / f64::from(free)).ln() }
    }
}

impl Moment for Burst {
    fn merge(&mut self, table: &AttemptTable, other: &Burst) {
        self.add(other);
        self.example = earlier_row(table, self.example, other.example);
    }
}

/// The starts of the calls of one scope.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    moments: Moments<Burst>,
}

/// What a call's first attempt met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// Nothing that a lower rate would have spared it.
    Nothing,
    /// A rate limit.
    RateLimit,
    /// An overload.
    Overload,
}

/// Thresholds of [`Starts::worst_fanout`].
#[derive(Clone, Copy, Debug)]
pub struct FanoutTerms {
    /// Least starts within a second.
    pub starts: u64,
    /// Least share of them that met a limit or an overload.
    pub met_share: f64,
    /// Least ratio to the rate of starts around it.
    pub over_normal: f64,
}

/// Calls that started together, and ran into what starting together brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Fanout {
    /// When.
    pub at: Time,
    /// Calls that started within a second.
    pub starts: u64,
    /// Of them, calls whose first attempt met a rate limit or an overload.
    pub met: u64,
    /// At least one met a rate limit, which is the caller's own.
    pub rate_limited: bool,
    /// The calls belong to many runs.
    pub many_runs: bool,
    /// Starts a second in the minute around it.
    pub normal_per_s: f64,
    /// Trains of that kind on the scope.
    pub trains: u64,
    /// Some of the first attempts that met something, in time order.
    pub examples: Vec<u32>,
}

impl Starts {
    pub(super) fn add(&mut self, table: &AttemptTable, row: u32, run: Symbol, met: Met) {
        let sent = table.rows[row as usize].sent;
        let failed = met != Met::Nothing;
        let limited = if met == Met::RateLimit { Burst::LIMITED } else { 0 };
        let burst = Burst {
            starts: 1,
            met: u32::from(failed),
            example: failed.then_some(row),
            marks: limited | run_bit(table, run),
        };
        self.moments.add(table, sent.0 >> SHIFT, burst);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Starts) {
        self.moments.merge(table, other.moments);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.moments.each_mut().flat_map(|burst| &mut burst.example).for_each(visit);
    }

    /// Calls that started between two moments, as far as stretches of some 66 ms tell.
    pub(super) fn between(&self, table: &AttemptTable) -> impl Fn(Time, Time) -> u64 {
        let line = Line::of(self.moments.sorted(table));
        move |from, until| u64::from(line.sum(from.0 >> SHIFT, until.0 >> SHIFT).starts)
    }

    /// Calls that started between two moments and met no limit or overload. Stretches that either moment
    /// cuts are left out.
    pub(super) fn unharmed(&self, table: &AttemptTable) -> impl Fn(Time, Time) -> u64 {
        let line = Line::of(self.moments.sorted(table));
        move |from, until| {
            let first = (from.0 >> SHIFT) + i64::from(from.0 & ((1 << SHIFT) - 1) != 0);
            let sum = line.sum(first, until.0 >> SHIFT);
            u64::from(sum.starts - sum.met)
        }
    }

    /// The train in which most calls met something, on a scope that was active from `active.0` to `active.1`.
    #[must_use]
    pub fn worst_fanout(
        &self,
        table: &AttemptTable,
        active: (Time, Time),
        terms: &FanoutTerms,
        most_examples: usize,
    ) -> Option<Fanout> {
        let line = Line::of(self.moments.sorted(table));
        let crowds = crowds(&line, active, terms);
        let quiet = line.without(&crowds);
        let blamed = crowds.into_iter().filter(|crowd| !crowd.shares_trouble(&quiet));
        let trains = trains(blamed);
        let worst = trains.iter().max_by_key(|crowd| (crowd.sum.met, crowd.sum.starts, -crowd.key))?;
        Some(Fanout {
            at: Time(worst.key << SHIFT),
            starts: u64::from(worst.sum.starts),
            met: u64::from(worst.sum.met),
            rate_limited: worst.sum.marks & Burst::LIMITED != 0,
            many_runs: worst.sum.runs() * 2.0 >= f64::from(worst.sum.starts.min(32)),
            normal_per_s: worst.normal_per_s,
            trains: trains.len() as u64,
            examples: line.examples(worst.key, worst.key + WINDOW, most_examples),
        })
    }
}

/// The bit of a run: from its name, since its number depends on the order of files.
fn run_bit(table: &AttemptTable, run: Symbol) -> u32 {
    let hash = FixedState::with_seed(0).hash_one(table.names.text(run));
    1 << (hash % 31)
}

/// Stretches in order, with running sums.
struct Line {
    list: Vec<(i64, Burst)>,
    /// Starts and met ones before each stretch; one more entry than the list.
    before: Vec<(u32, u32)>,
}

/// Sums over a span.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    starts: u32,
    met: u32,
}

impl Line {
    fn of(list: Vec<(i64, Burst)>) -> Line {
        let mut before = Vec::with_capacity(list.len() + 1);
        let mut sum = (0, 0);
        before.push(sum);
        for (_, burst) in &list {
            sum = (sum.0 + burst.starts, sum.1 + burst.met);
            before.push(sum);
        }
        Line { list, before }
    }

    fn place(&self, key: i64) -> usize {
        self.list.partition_point(|(other, _)| *other < key)
    }

    /// Over the stretches `from..to`.
    fn sum(&self, from: i64, to: i64) -> Sum {
        let (a, b) = (self.before[self.place(from)], self.before[self.place(to.max(from))]);
        Sum { starts: b.0 - a.0, met: b.1 - a.1 }
    }

    fn whole(&self, from: i64, to: i64) -> Burst {
        let mut sum = Burst::default();
        self.list[self.place(from)..self.place(to)].iter().for_each(|(_, burst)| sum.add(burst));
        sum
    }

    fn examples(&self, from: i64, to: i64, most: usize) -> Vec<u32> {
        let span = &self.list[self.place(from)..self.place(to)];
        span.iter().filter_map(|(_, burst)| burst.example).take(most).collect()
    }

    /// The line with the stretches of `crowds` taken out.
    fn without(&self, crowds: &[Crowd]) -> Line {
        let mut crowds = crowds.iter().map(|crowd| crowd.key).peekable();
        let keep = self.list.iter().filter(|(key, _)| {
            while crowds.next_if(|crowd| crowd + WINDOW <= *key).is_some() {}
            crowds.peek().is_none_or(|crowd| key < crowd)
        });
        Line::of(keep.copied().collect())
    }
}

/// A second in which more calls started than usual.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    key: i64,
    sum: Burst,
    normal_per_s: f64,
}

fn stretches(seconds: i64) -> i64 {
    (seconds * 1_000_000) >> SHIFT
}

fn seconds(stretches: i64) -> f64 {
    (stretches << SHIFT) as f64 / 1e6
}

/// So many standard deviations above the usual number of starts, no chance puts them there: a long log has
/// many seconds, and in one of them nearly everything happens.
const BY_CHANCE: f64 = 8.0;

/// Every second that holds enough starts, enough of them met something, and that stands out from the half
/// minute on either side of it. Where the log ends earlier, nothing is known of what started beyond.
fn crowds(line: &Line, active: (Time, Time), terms: &FanoutTerms) -> Vec<Crowd> {
    let side = stretches(30);
    let (begin, end) = (active.0.0 >> SHIFT, (active.1.0 >> SHIFT) + 1);
    let keys = line.list.iter().map(|(key, _)| *key);
    keys.filter_map(|key| {
        let (inside, past) = (line.sum(key, key + WINDOW), key + WINDOW);
        let starts = f64::from(inside.starts);
        if u64::from(inside.starts) < terms.starts.max(1) || f64::from(inside.met) < terms.met_share * starts {
            return None;
        }
        let around = line.sum(key - side, key).starts + line.sum(past, past + side).starts;
        let covered = (key - (key - side).max(begin)).max(0) + ((past + side).min(end) - past).max(0);
        // Half a second of log says nothing about what is usual.
        let normal_per_s = f64::from(around) / seconds(covered).max(1.0);
        let usual = normal_per_s * seconds(WINDOW);
        let stands_out = starts >= terms.over_normal * usual && starts >= usual + BY_CHANCE * usual.sqrt();
        stands_out.then(|| Crowd { key, sum: line.whole(key, past), normal_per_s })
    })
    .collect()
}

impl Crowd {
    /// Whether calls that started alone, shortly before or after, fared about as badly: then something else
    /// is wrong, and the crowd is not to blame.
    fn shares_trouble(&self, quiet: &Line) -> bool {
        let side = stretches(10);
        let around = quiet.sum(self.key - side, self.key + WINDOW + side);
        if u64::from(around.starts) < (u64::from(self.sum.starts) / 4).max(5) {
            return false;
        }
        let (met, starts) = (f64::from(self.sum.met), f64::from(self.sum.starts));
        let share = f64::from(around.met) / f64::from(around.starts);
        let expected = starts * share;
        // Twice as many as elsewhere, and more than chance makes of as many calls.
        met < 2.0 * expected || met < expected + 3.0 * (expected * (1.0 - share)).sqrt()
    }
}

/// Of windows that overlap, the one in which most calls met something.
fn trains(crowds: impl Iterator<Item = Crowd>) -> Vec<Crowd> {
    let mut list: Vec<Crowd> = Vec::new();
    let mut last = i64::MIN;
    for crowd in crowds {
        let joined = crowd.key - WINDOW < last;
        last = crowd.key;
        match list.last_mut() {
            Some(best) if joined => {
                if (crowd.sum.met, crowd.sum.starts) > (best.sum.met, best.sum.starts) {
                    *best = crowd;
                }
            }
            _ => list.push(crowd),
        }
    }
    list
}
