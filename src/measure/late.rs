//! Calls of a run that succeeded only after several attempts because of rate limits.

use super::call_terms::CallTerms;
use super::row_ref::{RowRef, earlier};
use crate::calls::{Call, Grouping, Wait};
use crate::model::{Outcome, Time};

/// Calls that succeeded late, after rate limits only; see [`CallTerms::late_attempt`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// Number of calls.
    pub calls: u64,
    /// Refused sends of these calls.
    pub refused: u64,
    /// Total wait between their attempts.
    pub waited: Wait,
    /// First attempt of the earliest of them.
    pub first: Option<RowRef>,
    /// Start of the latest of them.
    pub last: Option<Time>,
}

impl Late {
    pub(super) fn absorb(&mut self, call: &Call<'_>, terms: &CallTerms) {
        let last = call.len() - 1;
        let late = call.len() >= terms.late_attempt && call.outcome == Outcome::Ok && !call.at(last).failed();
        if late && call.grouping != Grouping::Inferred && (0..last).all(|position| call.at(position).rate_limited()) {
            self.calls += 1;
            self.refused += last as u64;
            self.waited = self.waited.and(call.waited());
            self.first = earlier(self.first, Some(RowRef::of(call.table(), call.rows()[0])));
            self.last = self.last.max(Some(call.first().sent));
        }
    }

    pub(super) fn merge(&mut self, other: Late) {
        self.calls += other.calls;
        self.refused += other.refused;
        self.waited = self.waited.and(other.waited);
        self.first = earlier(self.first, other.first);
        self.last = self.last.max(other.last);
    }
}
