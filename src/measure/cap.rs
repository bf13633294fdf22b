//! Spent caps, and the calls that ran into them.

use super::row_ref::RowRef;
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Mergeable, Scope, Series, Symbol, Time};

/// Who a spent cap stops: an account where the log names one, else a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// Everyone on the account.
    Account(Scope),
    /// One run.
    Run(Symbol),
}

/// One cap, until it reopens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CapKey {
    /// Who is stopped.
    pub holder: Holder,
    /// By what.
    pub class: Class,
    /// Until when, where known.
    pub reopens: Option<Time>,
}

/// Calls that ran into one cap.
#[derive(Clone, Debug)]
pub struct CapTally {
    /// By the time they were opened.
    opened: Series<Capped>,
    /// The first row that met the cap.
    pub first: RowRef,
    /// The last.
    pub last: RowRef,
}

/// Calls, and their sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capped {
    /// Calls.
    pub calls: u64,
    /// Their sends.
    pub sends: u64,
}

impl Mergeable for Capped {
    fn merge(&mut self, other: &Capped) {
        self.calls += other.calls;
        self.sends += other.sends;
    }
}

impl CapTally {
    /// Of one call, whose attempt at `position` met the cap.
    #[must_use]
    pub fn of(call: &Call<'_>, position: usize) -> CapTally {
        let mut opened = Series::default();
        let first = call.first();
        // A record with a higher number has predecessors elsewhere: when its call was opened is not known.
        if first.number <= 1 && first.sdk_count().is_none_or(|count| count == 0) {
            opened.add(first.sent, Capped { calls: 1, sends: call.len() as u64 });
        }
        let spot = RowRef::of(call.table(), call.rows()[position]);
        CapTally { opened, first: spot, last: spot }
    }

    /// Takes in other calls on the same cap.
    pub fn merge(&mut self, other: CapTally) {
        self.opened.merge(other.opened);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        visit(&mut self.first.row);
        visit(&mut self.last.row);
    }

    /// When whoever sent the first of them knew.
    #[must_use]
    pub fn known(&self, table: &AttemptTable) -> Time {
        table.rows[self.first.row as usize].ended()
    }

    /// Calls opened at `from` or later. In long logs a stretch that `from` cuts is left out.
    #[must_use]
    pub fn opened_since(&self, from: Time) -> Capped {
        let (width, list) = self.opened.sorted();
        // A call opened in the very stretch is as good as at `from` while stretches are short.
        let slack = if width <= FINE_US { width } else { 0 };
        let mut sum = Capped::default();
        list.iter().filter(|(at, _)| at.plus_us(slack) > from).for_each(|(_, capped)| sum.merge(capped));
        sum
    }
}

/// Stretches up to 0.1 s are short.
const FINE_US: i64 = 100_000;
