//! Sends and refusals of a rate-limit scope over time.

use super::row_ref::{RowRef, earlier, keep_earlier};
use crate::model::{Mergeable, Time, TimeSeries};

/// Sends in one time bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Number of attempts.
    pub sends: u64,
    /// Attempts that succeeded.
    pub ok: u64,
    /// Attempts refused by a rate limit.
    pub rejected: u64,
    /// Attempts refused for lack of capacity.
    pub overloaded: u64,
    /// Calls that started in the bucket.
    pub calls: u64,
    /// All sends of those calls to the scope, at any time.
    pub sends_of_calls: u64,
    /// Of `sends_of_calls`, the sends of calls that two loops retried.
    pub layered: u64,
    /// Send time of the last attempt that succeeded.
    pub last_ok: Option<Time>,
    /// Earliest attempt.
    pub first: Option<RowRef>,
    /// Send time of the last attempt.
    pub last: Option<Time>,
}

impl Flow {
    /// Returns the number of attempts refused, by a rate limit or for lack of capacity.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.rejected + self.overloaded
    }

    /// Adds a call whose only send succeeded.
    pub(super) fn add_single_success(&mut self, row_ref: RowRef) {
        self.sends += 1;
        self.ok += 1;
        self.calls += 1;
        self.sends_of_calls += 1;
        self.last_ok = self.last_ok.max(Some(row_ref.sent));
        self.last = self.last.max(Some(row_ref.sent));
        keep_earlier(&mut self.first, row_ref);
    }
}

impl Mergeable for Flow {
    fn merge(&mut self, other: &Flow) {
        self.sends += other.sends;
        self.ok += other.ok;
        self.rejected += other.rejected;
        self.overloaded += other.overloaded;
        self.calls += other.calls;
        self.sends_of_calls += other.sends_of_calls;
        self.layered += other.layered;
        self.last_ok = self.last_ok.max(other.last_ok);
        self.first = earlier(self.first, other.first);
        self.last = self.last.max(other.last);
    }
}

/// Sends of one scope over time.
pub type Flows = TimeSeries<Flow>;

impl Flows {
    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.each_mut().for_each(|flow| RowRef::each_row(&mut flow.first, visit));
    }
}
