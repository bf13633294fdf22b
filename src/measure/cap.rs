//! Exhausted spend caps, and the calls that ran into them.

use super::row_ref::RowRef;
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Mergeable, Scope, Symbol, Time, TimeSeries};

/// Whom an exhausted cap stops: an account if the log names one, otherwise a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// Everyone on the account.
    Account(Scope),
    /// One run.
    Run(Symbol),
}

/// Identifies one cap, up to the time it reopens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CapKey {
    /// Whom the cap stops.
    pub holder: Holder,
    /// Failure class of the cap.
    pub class: Class,
    /// Time at which it reopens, if known.
    pub reopens: Option<Time>,
}

/// Calls that ran into one cap.
#[derive(Clone, Debug)]
pub struct CapTally {
    /// Calls by the time they were opened.
    opened: TimeSeries<Capped>,
    /// First row refused by the cap.
    pub first: RowRef,
    /// Last row refused by the cap.
    pub last: RowRef,
}

/// Number of calls and of their sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capped {
    /// Calls.
    pub calls: u64,
    /// Sends of these calls.
    pub sends: u64,
}

impl Mergeable for Capped {
    fn merge(&mut self, other: &Capped) {
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
        // A record with a higher number has predecessors elsewhere, so the time its call was opened is unknown.
        if first.number <= 1 && first.sdk_count().is_none_or(|count| count == 0) {
            opened.add(first.sent, Capped { calls: 1, sends: call.len() as u64 });
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

    /// Returns when the caller first refused knew of the cap.
    #[must_use]
    pub fn known(&self, table: &AttemptTable) -> Time {
        table.rows[self.first.row as usize].ended()
    }

    /// Counts the calls opened at `from` or later. In long logs, the bucket that contains `from` is left out.
    #[must_use]
    pub fn opened_since(&self, from: Time) -> Capped {
        let (width, list) = self.opened.sorted();
        // While buckets are narrow, a call in the same bucket counts as opened at `from`.
        let slack = if width <= FINE_US { width } else { 0 };
        let mut sum = Capped::default();
        list.iter().filter(|(at, _)| at.plus_us(slack) > from).for_each(|(_, capped)| sum.merge(capped));
        sum
    }
}

/// Buckets up to 0.1 s are narrow, in µs.
const FINE_US: i64 = 100_000;
