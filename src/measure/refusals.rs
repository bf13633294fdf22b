//! Sends refused by a rate limit, over time.

use super::row_ref::RowRef;

use crate::model::{Attempt, Mergeable, Time, TimeSeries};

/// Refused sends in one time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalCount {
    /// Number of sends.
    pub sends: u64,
    /// First of them.
    pub first: RowRef,
    /// Send time of the last of them.
    pub last: Time,
    /// Time of the latest response to them.
    pub answered: Time,
}

impl RefusalCount {
    /// Creates the entry of one send.
    pub(super) fn of(attempt: &Attempt, row: RowRef) -> RefusalCount {
        RefusalCount { sends: 1, first: row, last: attempt.sent, answered: attempt.ended() }
    }
}

impl Mergeable for RefusalCount {
    fn merge(&mut self, other: &RefusalCount) {
        self.sends += other.sends;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.answered = self.answered.max(other.answered);
    }
}

/// The refused sends of one scope over time.
pub type Refusals = TimeSeries<RefusalCount>;

impl Refusals {
    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.each_mut().for_each(|count| visit(&mut count.first.row));
    }
}
