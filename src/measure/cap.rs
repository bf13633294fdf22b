//! Exhausted spend caps, and the calls they refused.

use super::row_ref::RowRef;
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Mergeable, Scope, Symbol, Time, TimeSeries};

/// Whose requests an exhausted spend cap stops: an account's if the log names it, otherwise a run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// All requests of the account.
    Account(Scope),
    /// The requests of one run.
    Run(Symbol),
}

/// Identifies one cap, up to the time it reopens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CapKey {
    /// Whose requests the cap stops.
    pub holder: Holder,
    /// Failure class of the cap.
    pub class: Class,
    /// Time at which it reopens, if known.
    pub reopens: Option<Time>,
}

/// Calls refused by one cap.
#[derive(Clone, Debug)]
pub struct CapTally {
    /// Calls by the time they were opened.
    opened: TimeSeries<CappedCalls>,
    /// First row refused by the cap.
    pub first: RowRef,
    /// Last row refused by the cap.
    pub last: RowRef,
}

/// Number of calls and of their sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CappedCalls {
    /// Calls.
    pub calls: u64,
    /// Sends of these calls.
    pub sends: u64,
}

impl Mergeable for CappedCalls {
    fn merge(&mut self, other: &CappedCalls) {
        self.calls += other.calls;
        self.sends += other.sends;
    }
}

impl CapTally {
    /// Creates the tally of one call, whose attempt at `position` was refused by the cap.
    #[must_use]
    pub fn of(call: &Call<'_>, position: usize) -> CapTally {
        let mut opened = TimeSeries::default();
        let first = call.first();
        // A record with a higher number has predecessors that are not in the log, so the time its call was opened is
        // unknown.
        if first.number <= 1 && first.sdk_count().is_none_or(|count| count == 0) {
            opened.add(first.sent, CappedCalls { calls: 1, sends: call.len() as u64 });
        }
        let row_ref = RowRef::of(call.table(), call.rows()[position]);
        CapTally { opened, first: row_ref, last: row_ref }
    }

    /// Adds other calls refused by the same cap.
    pub fn merge(&mut self, other: CapTally) {
        self.opened.merge(other.opened);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        visit(&mut self.first.row);
        visit(&mut self.last.row);
    }

    /// Returns when the caller that was refused first knew of the cap.
    #[must_use]
    pub fn known_at(&self, table: &AttemptTable) -> Time {
        table.rows[self.first.row as usize].ended()
    }

    /// Counts the calls opened at `from` or later. In long logs, the bucket that contains `from` is left out.
    #[must_use]
    pub fn opened_since(&self, from: Time) -> CappedCalls {
        let (width, list) = self.opened.sorted();
        // In narrow buckets, a call in the bucket of `from` counts as opened at `from`.
        let slack = if width <= NARROW_US { width } else { 0 };
        let mut sum = CappedCalls::default();
        list.iter().filter(|(at, _)| at.plus_us(slack) > from).for_each(|(_, capped)| sum.merge(capped));
        sum
    }
}

/// Widest bucket within which calls are not distinguished from the refusal by the cap, in µs.
const NARROW_US: i64 = 100_000;
