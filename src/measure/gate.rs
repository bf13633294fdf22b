//! 429s on one scope, and the sends refused while callers should have waited.

use super::call_terms::CallTerms;
use super::row_ref::{RowRef, earlier_row};
use super::time_buckets::{Moment, TimeBuckets};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Scope, Time};
use foldhash::fast::FixedState;
use std::cmp::Reverse;
use std::hash::BuildHasher;

/// Binary logarithm of the bucket width in µs: 2^13 µs are some 8 ms, finer than the clocks of two workers agree.
const SHIFT: u32 = 13;

/// Returns the bucket that contains a time.
pub(super) fn stretch(at: Time) -> i64 {
    at.0 >> SHIFT
}

/// Returns the start and the end of a bucket.
pub(super) fn bounds(stretch: i64) -> (Time, Time) {
    (Time(stretch << SHIFT), Time((stretch + 1) << SHIFT))
}

/// 429s of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    moments: TimeBuckets<GateEvent>,
}

/// Whether a refused send waited as long as its own call had been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The call had not been told to wait; only a shared gate could have held the send back.
    Fresh,
    /// It waited as long as it had been told.
    Obedient,
    /// It did not wait as long as it had been told.
    Hurried,
}

/// A 429 that closed the gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) until: Time,
    /// Time of the response.
    pub(super) answered: Time,
    pub(super) row: u32,
}

/// Events at the gate in one bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GateEvent {
    /// The 429 in the bucket that keeps the gate closed longest.
    pub(super) closes: Option<Closing>,
    /// Number of refused sends, and the first of them.
    pub(super) refused: u64,
    pub(super) first: Option<u32>,
    /// Numbers of fresh and hurried sends, and the first of either.
    pub(super) fresh: u64,
    pub(super) hurried: u64,
    pub(super) example: Option<u32>,
    /// Calls that closed the gate or did not wait.
    pub(super) callers: Callers,
}

/// Whether one call or several were involved: the smallest and the largest of their fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Callers(Option<(u64, u64)>);

impl Callers {
    fn one(caller: u64) -> Callers {
        Callers(Some((caller, caller)))
    }

    pub(super) fn and(self, other: Callers) -> Callers {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Callers(Some((a.0.min(b.0), a.1.max(b.1)))),
            (a, b) => Callers(a.or(b)),
        }
    }

    pub(super) fn several(self) -> bool {
        self.0.is_some_and(|(least, greatest)| least != greatest)
    }
}

impl Moment for GateEvent {
    fn merge(&mut self, table: &AttemptTable, other: &GateEvent) {
        let rank = |closing: &Closing| (closing.until, Reverse(RowRef::of(table, closing.row)));
        if let Some(theirs) = other.closes
            && self.closes.is_none_or(|mine| rank(&mine) < rank(&theirs))
        {
            self.closes = Some(theirs);
        }
        self.refused += other.refused;
        self.first = earlier_row(table, self.first, other.first);
        self.fresh += other.fresh;
        self.hurried += other.hurried;
        self.example = earlier_row(table, self.example, other.example);
        self.callers = self.callers.and(other.callers);
    }
}

impl Gate {
    /// Adds the attempts of `call` on `scope` that were sent at `since` or later.
    pub(super) fn follow(&mut self, call: &Call<'_>, scope: Scope, since: Time, terms: &CallTerms) {
        let (table, caller) = (call.table(), caller(call));
        // Until when the call was told to wait, and the position of the attempt that was told last.
        let mut told: Option<(Time, usize)> = None;
        for position in 0..call.len() {
            let attempt = call.at(position);
            if call.origin(position).scope() != scope || !attempt.rate_limited() {
                continue;
            }
            let standing = match told {
                Some((until, _)) if attempt.sent < until => Standing::Hurried,
                Some((_, by)) if by + 1 == position => Standing::Obedient,
                _ => Standing::Fresh,
            };
            let (row, new) = (call.rows()[position], attempt.sent >= since);
            if new {
                self.refuse(table, row, standing, caller);
            }
            if let Some(until) = shut_until(call, position, terms) {
                if new {
                    self.close(table, attempt.ended(), until, row, caller);
                }
                told = Some((told.map_or(until, |(before, _)| before.max(until)), position));
            }
        }
    }

    /// Adds a 429 answered at `answered` that asks everyone to wait until `until`.
    fn close(&mut self, table: &AttemptTable, answered: Time, until: Time, row: u32, caller: u64) {
        let gate_event = GateEvent {
            closes: Some(Closing { until, answered, row }),
            callers: Callers::one(caller),
            ..GateEvent::default()
        };
        self.moments.add(table, stretch(answered), gate_event);
    }

    /// Adds a refused send.
    fn refuse(&mut self, table: &AttemptTable, row: u32, standing: Standing, caller: u64) {
        let (fresh, hurried) = (standing == Standing::Fresh, standing == Standing::Hurried);
        let gate_event = GateEvent {
            refused: 1,
            first: Some(row),
            fresh: u64::from(fresh),
            hurried: u64::from(hurried),
            example: (fresh || hurried).then_some(row),
            callers: if hurried { Callers::one(caller) } else { Callers::default() },
            ..GateEvent::default()
        };
        self.moments.add(table, stretch(table.rows[row as usize].sent), gate_event);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Gate) {
        self.moments.merge(table, other.moments);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for gate_event in self.moments.each_mut() {
            gate_event.closes.iter_mut().for_each(|closing| visit(&mut closing.row));
            gate_event.first.iter_mut().chain(&mut gate_event.example).for_each(&mut *visit);
        }
    }

    /// Returns the events in time order.
    pub(super) fn gate_events(&mut self, table: &AttemptTable) -> &[(i64, GateEvent)] {
        self.moments.in_order(table)
    }

    /// Discards the events before `until`.
    pub(super) fn forget(&mut self, until: Time) {
        self.moments.forget_before(stretch(until));
    }
}

/// Returns a fingerprint that identifies a call on its scope.
fn caller(call: &Call<'_>) -> u64 {
    let first = call.first();
    FixedState::with_seed(0).hash_one((first.identity, first.sent, first.number))
}

/// Returns until when a 429 asks everyone on its scope to wait.
fn shut_until(call: &Call<'_>, position: usize, terms: &CallTerms) -> Option<Time> {
    let attempt = call.at(position);
    let hint = call.explicit_hint_us(position).filter(|hint| *hint > 0)?;
    let telling = attempt.class == Some(Class::RateLimited);
    telling.then(|| attempt.ended().plus_us(hint - terms.tolerated_us(hint)))
}
