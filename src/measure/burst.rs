//! Calls that start at the same time.

use super::row_ref::earlier_row;
use super::time_buckets::{Moment, TimeBuckets};
use crate::calls::Call;
use crate::model::{Attempt, AttemptTable, Symbol, Time};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use std::ops::Range;

/// Binary logarithm of the bucket width in µs: 2^16 µs are some 66 ms.
const SHIFT: u32 = 16;
/// Width of a bucket, in µs.
pub(super) const LENGTH_US: i64 = 1 << SHIFT;

/// Returns the bucket that contains a time.
pub(super) fn stretch(at: Time) -> i64 {
    at.0 >> SHIFT
}

/// Returns the start of a bucket.
pub(super) fn begin_of(stretch: i64) -> Time {
    Time(stretch << SHIFT)
}

/// Converts a number of buckets to seconds.
pub(super) fn seconds(stretches: i64) -> f64 {
    (stretches << SHIFT) as f64 / 1e6
}

/// Calls that started in one bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Number of calls.
    pub(super) starts: u32,
    /// Calls whose first attempt was refused by a rate limit or for lack of capacity.
    pub(super) met: u32,
    /// Calls whose first attempt succeeded.
    pub(super) passed: u32,
    /// Row of the earliest refused first attempt.
    pub(super) example: Option<u32>,
    /// [`Burst::LIMITED`], and one bit for a hash of the run of each call.
    marks: u32,
}

impl Burst {
    /// Bit that is set if a rate limit refused at least one of them.
    const LIMITED: u32 = 1 << 31;

    pub(super) fn add(&mut self, other: &Burst) {
        self.starts += other.starts;
        self.met += other.met;
        self.passed += other.passed;
        self.marks |= other.marks;
    }

    /// Returns whether a rate limit refused at least one call.
    pub(super) fn limited(&self) -> bool {
        self.marks & Burst::LIMITED != 0
    }

    /// Estimates the number of runs the calls belong to, from how many of the 31 bits are set.
    pub(super) fn runs(&self) -> f64 {
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

/// Starts of the calls of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    moments: TimeBuckets<Burst>,
}

impl Starts {
    /// Adds the start of `call`, whose run has the given mark.
    pub(super) fn add(&mut self, call: &Call<'_>, RunMark(run): RunMark) {
        let (table, first) = (call.table(), call.first());
        let (met, limited) = met(first);
        let burst = Burst {
            starts: 1,
            met: u32::from(met),
            passed: u32::from(!first.failed()),
            example: met.then_some(call.rows()[0]),
            marks: run | if limited { Burst::LIMITED } else { 0 },
        };
        self.moments.add(table, stretch(first.sent), burst);
    }

    /// Adds the start of a call whose first attempt succeeded.
    pub(super) fn add_single_success(&mut self, table: &AttemptTable, sent: Time, RunMark(marks): RunMark) {
        let burst = Burst { starts: 1, met: 0, passed: 1, example: None, marks };
        self.moments.add(table, stretch(sent), burst);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Starts) {
        self.moments.merge(table, other.moments);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.moments.each_mut().flat_map(|burst| &mut burst.example).for_each(visit);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    /// Returns the buckets in order, ready for queries.
    pub(super) fn prefix_sums(&mut self, table: &AttemptTable) -> BurstPrefixSums<'_> {
        BurstPrefixSums::of(self.moments.in_order(table))
    }

    /// Discards starts before `until`.
    pub(super) fn forget(&mut self, until: Time) {
        self.moments.forget_before(stretch(until));
    }
}

/// Returns whether the attempt was refused in a way that a lower rate would have avoided, and whether by a rate limit.
fn met(attempt: &Attempt) -> (bool, bool) {
    (attempt.refused(), attempt.rate_limited())
}

/// Bit of a run in [`Burst`].
#[derive(Clone, Copy, Debug)]
pub(super) struct RunMark(u32);

impl RunMark {
    /// Derives the bit from the name of the run, since its symbol depends on the order of files.
    pub(super) fn of(table: &AttemptTable, run: Symbol) -> RunMark {
        let hash = FixedState::with_seed(0).hash_one(table.names.text(run));
        RunMark(1 << (hash % 31))
    }
}

/// Buckets in time order, with prefix sums.
#[derive(Debug)]
pub(super) struct BurstPrefixSums<'l> {
    pub(super) list: &'l [(i64, Burst)],
    /// Starts and refused starts before each bucket; one more entry than `list`.
    before: Vec<(u32, u32)>,
}

/// Sums over a range of buckets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) starts: u32,
    pub(super) met: u32,
}

impl<'l> BurstPrefixSums<'l> {
    fn of(list: &'l [(i64, Burst)]) -> BurstPrefixSums<'l> {
        let mut before = Vec::with_capacity(list.len() + 1);
        let mut sum = (0, 0);
        before.push(sum);
        for (_, burst) in list {
            sum = (sum.0 + burst.starts, sum.1 + burst.met);
            before.push(sum);
        }
        BurstPrefixSums { list, before }
    }

    /// Returns the number of buckets in the list before `key`.
    pub(super) fn place(&self, key: i64) -> usize {
        self.list.partition_point(|(other, _)| *other < key)
    }

    /// Returns the sums over the buckets `from..to`.
    pub(super) fn sum(&self, from: i64, to: i64) -> Sum {
        self.sum_of(self.place(from)..self.place(to.max(from)))
    }

    /// Returns the sums over a range of indices of the list.
    pub(super) fn sum_of(&self, places: Range<usize>) -> Sum {
        let (a, b) = (self.before[places.start], self.before[places.end]);
        Sum { starts: b.0 - a.0, met: b.1 - a.1 }
    }

    /// Returns the number of calls that started between two times, to the resolution of a bucket.
    pub(super) fn between(&self, from: Time, until: Time) -> u64 {
        u64::from(self.sum(stretch(from), stretch(until)).starts)
    }
}
