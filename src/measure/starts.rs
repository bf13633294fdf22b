//! Starts of calls in short time buckets.

use super::row_ref::earlier_row;
use super::time_buckets::{BucketEvents, TimeBuckets};
use crate::calls::Call;
use crate::model::{Attempt, AttemptTable, Symbol, Time};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use std::ops::Range;

/// Binary logarithm of the bucket width in µs: 2^16 µs are some 66 ms.
const BUCKET_SHIFT: u32 = 16;
/// Width of a bucket, in µs.
pub(super) const BUCKET_US: i64 = 1 << BUCKET_SHIFT;

/// Returns the bucket that contains a time.
pub(super) fn bucket_of(at: Time) -> i64 {
    at.0 >> BUCKET_SHIFT
}

/// Returns the start of a bucket.
pub(super) fn bucket_start(bucket_of: i64) -> Time {
    Time(bucket_of << BUCKET_SHIFT)
}

/// Converts a number of buckets to seconds.
pub(super) fn seconds(buckets: i64) -> f64 {
    (buckets << BUCKET_SHIFT) as f64 / 1e6
}

/// Calls that started in one bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartCount {
    /// Number of calls.
    pub(super) starts: u32,
    /// Calls whose first attempt was refused by a rate limit or for lack of capacity.
    pub(super) refused: u32,
    /// Calls whose first attempt succeeded.
    pub(super) succeeded: u32,
    /// Row of the earliest refused first attempt.
    pub(super) example: Option<u32>,
    /// [`StartCount::LIMITED`], and one bit for a hash of the run of each call.
    bits: u32,
}

impl StartCount {
    /// Bit that is set if a rate limit refused at least one of them.
    const LIMITED: u32 = 1 << 31;

    pub(super) fn add(&mut self, other: &StartCount) {
        self.starts += other.starts;
        self.refused += other.refused;
        self.succeeded += other.succeeded;
        self.bits |= other.bits;
    }

    /// Returns whether a rate limit refused at least one call.
    pub(super) fn was_rate_limited(&self) -> bool {
        self.bits & StartCount::LIMITED != 0
    }

    /// Estimates the number of runs the calls belong to, from the number of bits set of 31 (linear counting, Whang et
    /// al. 1990).
    pub(super) fn runs(&self) -> f64 {
        let free = 31 - (self.bits & !StartCount::LIMITED).count_ones();
        if free == 0 { f64::INFINITY } else { 31.0 * (31.0 / f64::from(free)).ln() }
    }
}

impl BucketEvents for StartCount {
    fn merge(&mut self, table: &AttemptTable, other: &StartCount) {
        self.add(other);
        self.example = earlier_row(table, self.example, other.example);
    }
}

/// Starts of the calls of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    buckets: TimeBuckets<StartCount>,
}

impl Starts {
    /// Adds the start of `call`, whose run has the given mark.
    pub(super) fn add(&mut self, call: &Call<'_>, RunMark(run): RunMark) {
        let (table, first) = (call.table(), call.first());
        let (refused, was_rate_limited) = refused(first);
        let count = StartCount {
            starts: 1,
            refused: u32::from(refused),
            succeeded: u32::from(!first.failed()),
            example: refused.then_some(call.rows()[0]),
            bits: run | if was_rate_limited { StartCount::LIMITED } else { 0 },
        };
        self.buckets.add(table, bucket_of(first.sent), count);
    }

    /// Adds the start of a call whose first attempt succeeded.
    pub(super) fn add_single_success(&mut self, table: &AttemptTable, sent: Time, RunMark(bits): RunMark) {
        let count = StartCount { starts: 1, refused: 0, succeeded: 1, example: None, bits };
        self.buckets.add(table, bucket_of(sent), count);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Starts) {
        self.buckets.merge(table, other.buckets);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.buckets.each_mut().flat_map(|count| &mut count.example).for_each(visit);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Returns the buckets in order, ready for queries.
    pub(super) fn prefix_sums(&mut self, table: &AttemptTable) -> StartPrefixSums<'_> {
        StartPrefixSums::of(self.buckets.sorted(table))
    }

    /// Discards starts before `until`.
    pub(super) fn forget(&mut self, until: Time) {
        self.buckets.forget_before(bucket_of(until));
    }
}

/// Returns whether the attempt was refused by a rate limit or for lack of capacity, and whether by a rate limit.
fn refused(attempt: &Attempt) -> (bool, bool) {
    (attempt.refused(), attempt.rate_limited())
}

/// Bit of a run in [`StartCount`].
#[derive(Clone, Copy, Debug)]
pub(super) struct RunMark(u32);

impl RunMark {
    /// Derives the bit from a hash of the run's name, since its symbol depends on the order of files.
    pub(super) fn of(table: &AttemptTable, run: Symbol) -> RunMark {
        let hash = FixedState::with_seed(0).hash_one(table.names.text(run));
        RunMark(1 << (hash % 31))
    }
}

/// Buckets in time order, with prefix sums of their counts.
#[derive(Debug)]
pub(super) struct StartPrefixSums<'l> {
    pub(super) list: &'l [(i64, StartCount)],
    /// Starts and refused starts before each bucket; one more entry than `list`.
    before: Vec<(u32, u32)>,
}

/// Sums over a range of buckets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) starts: u32,
    pub(super) refused: u32,
}

impl<'l> StartPrefixSums<'l> {
    fn of(list: &'l [(i64, StartCount)]) -> StartPrefixSums<'l> {
        let mut before = Vec::with_capacity(list.len() + 1);
        let mut sum = (0, 0);
        before.push(sum);
        for (_, count) in list {
            sum = (sum.0 + count.starts, sum.1 + count.refused);
            before.push(sum);
        }
        StartPrefixSums { list, before }
    }

    /// Returns the number of buckets in the list before `key`.
    pub(super) fn index_of(&self, key: i64) -> usize {
        self.list.partition_point(|(other, _)| *other < key)
    }

    /// Returns the sums over the buckets `from..to`.
    pub(super) fn sum(&self, from: i64, to: i64) -> Sum {
        self.sum_of(self.index_of(from)..self.index_of(to.max(from)))
    }

    /// Returns the sums over a range of indices of the list.
    pub(super) fn sum_of(&self, range: Range<usize>) -> Sum {
        let (a, b) = (self.before[range.start], self.before[range.end]);
        Sum { starts: b.0 - a.0, refused: b.1 - a.1 }
    }

    /// Returns the number of calls that started between two times, to the resolution of a bucket.
    pub(super) fn between(&self, from: Time, until: Time) -> u64 {
        u64::from(self.sum(bucket_of(from), bucket_of(until)).starts)
    }
}
