//! How many calls of a loop waited at the same time.

use crate::measure::{
    time_buckets::{Moment, TimeBuckets},
    waves::LONG_US,
};
use crate::model::{AttemptTable, Time};

/// Stretches of 2^16 µs, some 66 ms.
const SHIFT: u32 = 16;

/// Waits that began and ended in one stretch.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    began: u32,
    ended: u32,
}

impl Moment for Turn {
    fn merge(&mut self, _: &AttemptTable, other: &Turn) {
        self.began += other.began;
        self.ended += other.ended;
    }
}

/// The waits of a loop, counted while time goes by.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    moments: TimeBuckets<Turn>,
    /// How many waited at the end of the last stretch that is counted, and the most at the end of any.
    now: i64,
    most: i64,
}

impl Waiting {
    /// A wait of `us` that the retry sent at `sent` ended. One of more than an hour is not counted.
    pub(super) fn add(&mut self, table: &AttemptTable, sent: Time, us: i64) {
        if us <= LONG_US {
            self.moments.add(table, sent.plus_us(-us).0 >> SHIFT, Turn { began: 1, ended: 0 });
            self.moments.add(table, sent.0 >> SHIFT, Turn { began: 0, ended: 1 });
        }
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Waiting) {
        self.moments.merge(table, other.moments);
    }

    /// Counts the stretches in which no wait can have begun any more when nothing can be sent before `until`.
    pub(super) fn settle(&mut self, table: &AttemptTable, until: Time) {
        let due = until.plus_us(-LONG_US).0 >> SHIFT;
        for (_, turn) in self.moments.in_order(table).iter().take_while(|(key, _)| *key < due) {
            self.now += i64::from(turn.began) - i64::from(turn.ended);
            self.most = self.most.max(self.now);
        }
        self.moments.forget_before(due);
    }

    /// The most that waited at the end of any stretch.
    pub(super) fn most(&self) -> u64 {
        self.most.unsigned_abs()
    }
}
