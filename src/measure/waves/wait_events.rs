//! Starts and ends of waits by time bucket.

use crate::measure::row_ref::earlier_row;
use crate::measure::time_buckets::BucketEvents;
use crate::model::AttemptTable;

/// Waits that began or ended in one bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WaitEvents {
    /// Waits that began.
    pub(super) began: u32,
    /// Of `began`, those of calls that had waited before.
    pub(super) began_again: u32,
    /// Waits that ended with a retry.
    pub(super) arrived: u32,
    /// Of `arrived`, those whose calls waited again.
    pub(super) waited_again: u32,
    /// Of `arrived`, those refused by a rate limit or for lack of capacity.
    pub(super) refused: u32,
    /// Of `arrived`, those of calls that had waited before.
    pub(super) after_wait: u32,
    /// Of `arrived`, those whose wait the server had requested.
    pub(super) server_requested: u32,
    /// Longest and shortest of the waits that ended, in µs; 0 if none did.
    pub(super) longest_us: i64,
    pub(super) shortest_us: i64,
    /// Row of the earliest retry.
    pub(super) example: Option<u32>,
}

impl WaitEvents {
    pub(super) fn add(&mut self, other: &WaitEvents) {
        self.began += other.began;
        self.began_again += other.began_again;
        self.arrived += other.arrived;
        self.waited_again += other.waited_again;
        self.refused += other.refused;
        self.after_wait += other.after_wait;
        self.server_requested += other.server_requested;
        self.longest_us = self.longest_us.max(other.longest_us);
        self.shortest_us = match (self.shortest_us, other.shortest_us) {
            (0, one) | (one, 0) => one,
            (mine, theirs) => mine.min(theirs),
        };
    }
}

impl BucketEvents for WaitEvents {
    fn merge(&mut self, table: &AttemptTable, other: &WaitEvents) {
        self.add(other);
        self.example = earlier_row(table, self.example, other.example);
    }
}

/// Counts of waits up to some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitTotals {
    pub(super) began: u64,
    pub(super) began_again: u64,
    pub(super) arrived: u64,
    pub(super) waited_again: u64,
}

impl WaitTotals {
    pub(super) fn and(self, wait_events: &WaitEvents) -> WaitTotals {
        WaitTotals {
            began: self.began + u64::from(wait_events.began),
            began_again: self.began_again + u64::from(wait_events.began_again),
            arrived: self.arrived + u64::from(wait_events.arrived),
            waited_again: self.waited_again + u64::from(wait_events.waited_again),
        }
    }
}
