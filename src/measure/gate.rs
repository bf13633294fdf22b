//! A rate limit as a gate for all callers of a scope: 429s that ask to wait close it, and sends that are refused while
//! it is closed.

use super::call_terms::CallTerms;
use super::row_ref::{RowRef, earlier_row};
use super::time_buckets::{BucketEvents, TimeBuckets};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Scope, Time};
use foldhash::fast::FixedState;
use std::cmp::Reverse;
use std::hash::BuildHasher;

/// Binary logarithm of the bucket width in µs: 2^13 µs are some 8 ms, finer than the clocks of two workers agree.
const BUCKET_SHIFT: u32 = 13;

/// Returns the bucket that contains a time.
pub(super) fn bucket_of(at: Time) -> i64 {
    at.0 >> BUCKET_SHIFT
}

/// Returns the start and the end of a bucket.
pub(super) fn bounds(bucket_of: i64) -> (Time, Time) {
    (Time(bucket_of << BUCKET_SHIFT), Time((bucket_of + 1) << BUCKET_SHIFT))
}

/// 429s of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    buckets: TimeBuckets<GateEvent>,
}

/// Whether a refused send waited as long as the server had asked its own call to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compliance {
    /// The call had not been asked to wait; only a gate shared by all callers could have delayed the send.
    NotAsked,
    /// It waited as long as it had been asked.
    Waited,
    /// It did not wait as long as it had been asked.
    Early,
}

/// A 429 that closed the gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosingResponse {
    pub(super) until: Time,
    /// Time of the response.
    pub(super) answered: Time,
    pub(super) row: u32,
}

/// Events at the gate in one bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GateEvent {
    /// The 429 in the bucket that keeps the gate closed longest.
    pub(super) closes: Option<ClosingResponse>,
    /// Number of refused sends, and the first of them.
    pub(super) refused: u64,
    pub(super) first: Option<u32>,
    /// Number of refused sends whose call had not been asked to wait.
    pub(super) not_asked: u64,
    /// Number of refused sends that did not wait as long as their call had been asked.
    pub(super) early: u64,
    /// The first of either.
    pub(super) example: Option<u32>,
    /// Calls that closed the gate or did not wait.
    pub(super) callers: Callers,
}

/// Whether one call or several were involved: the smallest and the largest of their fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Callers(Option<(u64, u64)>);

impl Callers {
    fn of(caller: u64) -> Callers {
        Callers(Some((caller, caller)))
    }

    pub(super) fn and(self, other: Callers) -> Callers {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Callers(Some((a.0.min(b.0), a.1.max(b.1)))),
            (a, b) => Callers(a.or(b)),
        }
    }

    pub(super) fn are_several(self) -> bool {
        self.0.is_some_and(|(least, greatest)| least != greatest)
    }
}

impl BucketEvents for GateEvent {
    fn merge(&mut self, table: &AttemptTable, other: &GateEvent) {
        let rank = |closing: &ClosingResponse| (closing.until, Reverse(RowRef::of(table, closing.row)));
        if let Some(theirs) = other.closes
            && self.closes.is_none_or(|mine| rank(&mine) < rank(&theirs))
        {
            self.closes = Some(theirs);
        }
        self.refused += other.refused;
        self.first = earlier_row(table, self.first, other.first);
        self.not_asked += other.not_asked;
        self.early += other.early;
        self.example = earlier_row(table, self.example, other.example);
        self.callers = self.callers.and(other.callers);
    }
}

impl Gate {
    /// Adds the attempts of `call` on `scope` that were sent at `since` or later.
    pub(super) fn follow(&mut self, call: &Call<'_>, scope: Scope, since: Time, terms: &CallTerms) {
        let (table, caller) = (call.table(), caller(call));
        // Until when the call was asked to wait, and the position of the attempt that was asked last.
        let mut asked_until: Option<(Time, usize)> = None;
        for position in 0..call.len() {
            let attempt = call.at(position);
            if call.origin(position).scope() != scope || !attempt.rate_limited() {
                continue;
            }
            let compliance = match asked_until {
                Some((until, _)) if attempt.sent < until => Compliance::Early,
                Some((_, by)) if by + 1 == position => Compliance::Waited,
                _ => Compliance::NotAsked,
            };
            let (row, is_new) = (call.rows()[position], attempt.sent >= since);
            if is_new {
                self.refuse(table, row, compliance, caller);
            }
            if let Some(until) = closed_until(call, position, terms) {
                if is_new {
                    self.close(table, attempt.ended(), until, row, caller);
                }
                asked_until = Some((asked_until.map_or(until, |(before, _)| before.max(until)), position));
            }
        }
    }

    /// Adds a 429 answered at `answered` that asks everyone to wait until `until`.
    fn close(&mut self, table: &AttemptTable, answered: Time, until: Time, row: u32, caller: u64) {
        let gate_event = GateEvent {
            closes: Some(ClosingResponse { until, answered, row }),
            callers: Callers::of(caller),
            ..GateEvent::default()
        };
        self.buckets.add(table, bucket_of(answered), gate_event);
    }

    /// Adds a refused send.
    fn refuse(&mut self, table: &AttemptTable, row: u32, compliance: Compliance, caller: u64) {
        let (not_asked, early) = (compliance == Compliance::NotAsked, compliance == Compliance::Early);
        let gate_event = GateEvent {
            refused: 1,
            first: Some(row),
            not_asked: u64::from(not_asked),
            early: u64::from(early),
            example: (not_asked || early).then_some(row),
            callers: if early { Callers::of(caller) } else { Callers::default() },
            ..GateEvent::default()
        };
        self.buckets.add(table, bucket_of(table.rows[row as usize].sent), gate_event);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Gate) {
        self.buckets.merge(table, other.buckets);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for gate_event in self.buckets.each_mut() {
            gate_event.closes.iter_mut().for_each(|closing| visit(&mut closing.row));
            gate_event.first.iter_mut().chain(&mut gate_event.example).for_each(&mut *visit);
        }
    }

    /// Returns the events in time order.
    pub(super) fn gate_events(&mut self, table: &AttemptTable) -> &[(i64, GateEvent)] {
        self.buckets.sorted(table)
    }

    /// Discards the events before `until`.
    pub(super) fn forget(&mut self, until: Time) {
        self.buckets.forget_before(bucket_of(until));
    }
}

/// Returns a fingerprint that identifies a call on its scope.
fn caller(call: &Call<'_>) -> u64 {
    let first = call.first();
    FixedState::with_seed(0).hash_one((first.identity, first.sent, first.number))
}

/// Returns until when a 429 asks everyone on its scope to wait.
fn closed_until(call: &Call<'_>, position: usize, terms: &CallTerms) -> Option<Time> {
    let attempt = call.at(position);
    let hint = call.explicit_hint_us(position).filter(|hint| *hint > 0)?;
    let is_rate_limit = attempt.class == Some(Class::RateLimited);
    is_rate_limit.then(|| attempt.ended().plus_us(hint - terms.tolerated_us(hint)))
}
