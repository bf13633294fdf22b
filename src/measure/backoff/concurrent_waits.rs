//! Counts the calls of a loop that waited at the same time.

use crate::measure::{
    time_buckets::{BucketEvents, TimeBuckets},
    waves::MAX_WAIT_US,
};
use crate::model::{AttemptTable, Time};

/// Binary logarithm of the bucket width in µs: 2^16 µs are some 66 ms.
const BUCKET_SHIFT: u32 = 16;

/// Waits that began and waits that ended in one bucket.
#[derive(Clone, Copy, Debug, Default)]
struct WaitCounts {
    began: u32,
    ended: u32,
}

impl BucketEvents for WaitCounts {
    fn merge(&mut self, _: &AttemptTable, other: &WaitCounts) {
        self.began += other.began;
        self.ended += other.ended;
    }
}

/// Concurrent waits of a loop, counted in time order.
#[derive(Clone, Debug, Default)]
pub(super) struct ConcurrentWaits {
    buckets: TimeBuckets<WaitCounts>,
    /// Number of calls waiting at the end of the last bucket counted, and the largest number at the end of any.
    current: i64,
    peak: i64,
}

impl ConcurrentWaits {
    /// Adds a wait of `us` µs that ended with the retry sent at `sent`. Waits of more than an hour are not counted.
    pub(super) fn add(&mut self, table: &AttemptTable, sent: Time, us: i64) {
        if us <= MAX_WAIT_US {
            self.buckets.add(table, sent.plus_us(-us).0 >> BUCKET_SHIFT, WaitCounts { began: 1, ended: 0 });
            self.buckets.add(table, sent.0 >> BUCKET_SHIFT, WaitCounts { began: 0, ended: 1 });
        }
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: ConcurrentWaits) {
        self.buckets.merge(table, other.buckets);
    }

    /// Counts the buckets in which no further wait can have begun, given that all attempts sent before `until` have
    /// been added.
    pub(super) fn settle(&mut self, table: &AttemptTable, until: Time) {
        let counted_until = until.plus_us(-MAX_WAIT_US).0 >> BUCKET_SHIFT;
        for (_, counts) in self.buckets.sorted(table).iter().take_while(|(key, _)| *key < counted_until) {
            self.current += i64::from(counts.began) - i64::from(counts.ended);
            self.peak = self.peak.max(self.current);
        }
        self.buckets.forget_before(counted_until);
    }

    /// Returns the largest number of calls that waited at the end of any bucket.
    pub(super) fn peak(&self) -> u64 {
        self.peak.unsigned_abs()
    }
}
