//! Begins and ends of waits by time bucket.

use crate::measure::row_ref::earlier_row;
use crate::measure::time_buckets::Moment;
use crate::model::AttemptTable;

/// Waits that began or ended in one bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// Waits that began.
    pub(super) began: u32,
    /// Of `began`, those of calls that had waited before.
    pub(super) began_again: u32,
    /// Waits that ended with a retry.
    pub(super) arrived: u32,
    /// Of `arrived`, those whose calls waited again.
    pub(super) went_on: u32,
    /// Of `arrived`, those refused by a rate limit or for lack of capacity.
    pub(super) refused: u32,
    /// Of `arrived`, those of calls that had waited before.
    pub(super) again: u32,
    /// Of `arrived`, those whose wait the server had requested.
    pub(super) dictated: u32,
    /// Longest and shortest of the waits that ended, in µs; 0 if none did.
    pub(super) longest_us: i64,
    pub(super) shortest_us: i64,
    /// Row of the earliest retry.
    pub(super) example: Option<u32>,
}

impl Turn {
    pub(super) fn add(&mut self, other: &Turn) {
        self.began += other.began;
        self.began_again += other.began_again;
        self.arrived += other.arrived;
        self.went_on += other.went_on;
        self.refused += other.refused;
        self.again += other.again;
        self.dictated += other.dictated;
        self.longest_us = self.longest_us.max(other.longest_us);
        self.shortest_us = match (self.shortest_us, other.shortest_us) {
            (0, one) | (one, 0) => one,
            (mine, theirs) => mine.min(theirs),
        };
    }
}

impl Moment for Turn {
    fn merge(&mut self, table: &AttemptTable, other: &Turn) {
        self.add(other);
        self.example = earlier_row(table, self.example, other.example);
    }
}

/// Counts of waits up to some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) began: u64,
    pub(super) began_again: u64,
    pub(super) arrived: u64,
    pub(super) went_on: u64,
}

impl Passed {
    pub(super) fn and(self, turn: &Turn) -> Passed {
        Passed {
            began: self.began + u64::from(turn.began),
            began_again: self.began_again + u64::from(turn.began_again),
            arrived: self.arrived + u64::from(turn.arrived),
            went_on: self.went_on + u64::from(turn.went_on),
        }
    }
}
