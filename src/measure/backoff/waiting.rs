//! How many calls of a loop waited at the same time.

use crate::attempt::{AttemptTable, Time};
use crate::measure::moments::{Moment, Moments};

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

/// The waits of a loop over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting(Moments<Turn>);

impl Waiting {
    /// A wait of `us` that the retry sent at `sent` ended.
    pub(super) fn add(&mut self, table: &AttemptTable, sent: Time, us: i64) {
        self.0.add(table, sent.plus_us(-us).0 >> SHIFT, Turn { began: 1, ended: 0 });
        self.0.add(table, sent.0 >> SHIFT, Turn { began: 0, ended: 1 });
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Waiting) {
        self.0.merge(table, other.0);
    }

    /// The most that waited at the end of any stretch.
    pub(super) fn most(&self, table: &AttemptTable) -> u64 {
        let (mut now, mut most) = (0_i64, 0);
        for (_, turn) in self.0.sorted(table) {
            now += i64::from(turn.began) - i64::from(turn.ended);
            most = most.max(now);
        }
        most.unsigned_abs()
    }
}
