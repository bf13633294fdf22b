//! Sends refused by a rate limit, over time.

use super::row_ref::RowRef;

use crate::model::{Attempt, Mergeable, Series, Time};

/// Refused sends in one time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Number of sends.
    pub sends: u64,
    /// First of them.
    pub first: RowRef,
    /// Send time of the last of them.
    pub last: Time,
    /// Time of the latest response to them.
    pub answered: Time,
}

impl Refusal {
    /// Creates the entry of one send.
    pub(super) fn of(attempt: &Attempt, spot: RowRef) -> Refusal {
        Refusal { sends: 1, first: spot, last: attempt.sent, answered: attempt.ended() }
    }
}

impl Mergeable for Refusal {
    fn merge(&mut self, other: &Refusal) {
        self.sends += other.sends;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.answered = self.answered.max(other.answered);
    }
}

/// The refused sends of one scope over time.
pub type Refusals = Series<Refusal>;

impl Refusals {
    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.each_mut().for_each(|refusal| visit(&mut refusal.first.row));
    }
}
