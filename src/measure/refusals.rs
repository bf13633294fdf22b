//! Sends that a rate limit refused, over time.

use super::row_ref::RowRef;

use crate::model::{Attempt, Mergeable, Series, Time};

/// Refused sends of one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How many.
    pub sends: u64,
    /// The first of them.
    pub first: RowRef,
    /// When the last of them was sent.
    pub last: Time,
    /// When the last of them was answered.
    pub answered: Time,
}

impl Refusal {
    /// Of one send.
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
