//! What 429s said on one scope, and who was sent there nevertheless.

use super::call_terms::CallTerms;
use super::row_ref::{RowRef, earlier_row};
use super::time_buckets::{Moment, TimeBuckets};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Scope, Time};
use foldhash::fast::FixedState;
use std::cmp::Reverse;
use std::hash::BuildHasher;

/// Stretches of 2^13 µs, some 8 ms: finer than any clock two workers share.
const SHIFT: u32 = 13;

/// The stretch that holds a moment.
pub(super) fn stretch(at: Time) -> i64 {
    at.0 >> SHIFT
}

/// First and last moment of a stretch.
pub(super) fn bounds(stretch: i64) -> (Time, Time) {
    (Time(stretch << SHIFT), Time((stretch + 1) << SHIFT))
}

/// The 429s of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    moments: TimeBuckets<GateEvent>,
}

/// How a refused send stood to what its own call had been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It had been told nothing: only a shared gate could have held it back.
    Fresh,
    /// It waited as long as it had been told.
    Obedient,
    /// It did not.
    Hurried,
}

/// A 429 that closed the gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) until: Time,
    /// When it was answered.
    pub(super) answered: Time,
    pub(super) row: u32,
}

/// What happened at the gate in one stretch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GateEvent {
    /// The latest end of a window opened in it.
    pub(super) closes: Option<Closing>,
    /// All refused sends, and the first of them.
    pub(super) refused: u64,
    pub(super) first: Option<u32>,
    /// Those that had been told nothing, those that did not listen, and the first of either.
    pub(super) fresh: u64,
    pub(super) hurried: u64,
    pub(super) example: Option<u32>,
    /// The calls that opened a window or did not listen.
    pub(super) callers: Callers,
}

/// Whether one call or several had a part in something: the least and the greatest of their fingerprints.
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
    /// Takes in the attempts of `call` on `scope` that were sent at `since` or later.
    pub(super) fn follow(&mut self, call: &Call<'_>, scope: Scope, since: Time, terms: &CallTerms) {
        let (table, caller) = (call.table(), caller(call));
        // Until when the call itself was told to wait, and by which attempt last.
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

    /// A 429 answered at `answered` asks everyone to stay away until `until`.
    fn close(&mut self, table: &AttemptTable, answered: Time, until: Time, row: u32, caller: u64) {
        let gate_event = GateEvent {
            closes: Some(Closing { until, answered, row }),
            callers: Callers::one(caller),
            ..GateEvent::default()
        };
        self.moments.add(table, stretch(answered), gate_event);
    }

    /// A send was refused.
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

    /// Entries it holds.
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for gate_event in self.moments.each_mut() {
            gate_event.closes.iter_mut().for_each(|closing| visit(&mut closing.row));
            gate_event.first.iter_mut().chain(&mut gate_event.example).for_each(&mut *visit);
        }
    }

    /// What happened, in time order.
    pub(super) fn gate_events(&mut self, table: &AttemptTable) -> &[(i64, GateEvent)] {
        self.moments.in_order(table)
    }

    /// Lets go of what happened before `until`.
    pub(super) fn forget(&mut self, until: Time) {
        self.moments.forget_before(stretch(until));
    }
}

/// What tells a call from the others on its scope.
fn caller(call: &Call<'_>) -> u64 {
    let first = call.first();
    FixedState::with_seed(0).hash_one((first.identity, first.sent, first.number))
}

/// Until when a 429 asks everyone on its scope to stay away.
fn shut_until(call: &Call<'_>, position: usize, terms: &CallTerms) -> Option<Time> {
    let attempt = call.at(position);
    let hint = call.promised_us(position).filter(|hint| *hint > 0)?;
    let telling = attempt.class == Some(Class::RateLimited);
    telling.then(|| attempt.ended().plus_us(hint - terms.tolerated_us(hint)))
}
