//! Summary of one rate-limit scope: an account and a model of one provider.

use super::amplification::WaitGrowth;
use super::flow::{Flow, Flows};
use super::headroom_exhaustion::Traffic;
use super::load::Load;
use super::overloaded_calls::OverloadedCalls;
use super::refusals::{RefusalCount, Refusals};
use super::row_ref::RowRef;
use super::short_window::ShortWindow;
use super::single_successes::Sums;
use crate::calls::Call;
use crate::model::{AttemptTable, OriginId, Scope, Time};
use smallvec::SmallVec;

/// Counts of one scope.
#[derive(Clone, Debug, Default)]
pub struct ScopeTally {
    /// Sends and refusals over time.
    pub flow: Flows,
    /// 429s over time.
    pub refusals: Refusals,
    /// Short-term counts.
    pub short_window: ShortWindow,
    /// Calls that repeatedly failed for lack of capacity.
    pub overloaded_calls: OverloadedCalls,
    /// Arrivals and time in system.
    pub load: Load,
    /// Growth of the waits chosen by its callers.
    pub wait_growth: WaitGrowth,
    /// Latest start of a call that succeeded.
    pub last_success: Option<Time>,
}

impl ScopeTally {
    /// Adds a call that started on this scope.
    pub fn absorb(&mut self, call: &Call<'_>, scope: Scope, layered: bool) {
        let sends = (0..call.len()).filter(|&position| call.origin(position).scope() == scope).count() as u64;
        let layered = if layered { sends } else { 0 };
        self.absorb_sends(call, scope, Flow { calls: 1, sends_of_calls: sends, layered, ..Flow::default() });
        self.load.absorb(call);
        self.wait_growth.absorb(call);
        if call.attempts().any(|attempt| !attempt.failed()) {
            self.last_success = self.last_success.max(Some(call.first().sent));
        }
        if (1..call.len()).all(|position| call.origin(position).scope() == scope) {
            self.overloaded_calls.absorb(call);
        }
    }

    /// Adds the attempts of `call` that drew on this scope.
    pub fn absorb_attempts(&mut self, call: &Call<'_>, scope: Scope) {
        self.absorb_sends(call, scope, Flow::default());
    }

    /// Adds the attempts of `call` that drew on this scope; `start` is added with the first attempt of the call.
    fn absorb_sends(&mut self, call: &Call<'_>, scope: Scope, start: Flow) {
        for position in 0..call.len() {
            if call.origin(position).scope() == scope {
                let with = if position == 0 { start } else { Flow::default() };
                self.absorb_attempt(call, position, with);
                self.load.absorb_attempt(call.at(position));
            }
        }
    }

    /// Adds the load of calls of one successful attempt without detail.
    pub(super) fn add_single_successes(&mut self, sums: &Sums) {
        if sums.load.calls > 0 {
            self.load.merge(&sums.load);
            self.last_success = self.last_success.max(Some(sums.sent.1));
        }
    }

    fn absorb_attempt(&mut self, call: &Call<'_>, position: usize, with: Flow) {
        let attempt = call.at(position);
        let flow = Flow {
            sends: 1,
            ok: u64::from(!attempt.failed()),
            rejected: u64::from(attempt.rate_limited()),
            overloaded: u64::from(attempt.lacked_capacity()),
            last_ok: (!attempt.failed()).then_some(attempt.sent),
            first: Some(RowRef::of(call.table(), call.rows()[position])),
            last: Some(attempt.sent),
            ..with
        };
        self.flow.add(attempt.sent, flow);
        if attempt.rate_limited() {
            let row_ref = RowRef::of(call.table(), call.rows()[position]);
            self.refusals.add(attempt.sent, RefusalCount::of(attempt, row_ref));
        }
    }

    /// Adds the counts of the same scope from other calls.
    pub fn merge(&mut self, table: &AttemptTable, other: ScopeTally) {
        self.flow.merge(other.flow);
        self.refusals.merge(other.refusals);
        self.short_window.merge(table, other.short_window);
        self.overloaded_calls.merge(other.overloaded_calls);
        self.load.merge(&other.load);
        self.wait_growth.merge(other.wait_growth);
        self.last_success = self.last_success.max(other.last_success);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.flow.each_row(visit);
        self.refusals.each_row(visit);
        self.short_window.each_row(visit);
        self.overloaded_calls.each_row(visit);
        RowRef::each_row(&mut self.wait_growth.example, visit);
    }

    /// Returns whether a request sent between `from` and `until` succeeded.
    #[must_use]
    pub fn succeeded_between(&self, from: Time, until: Option<Time>) -> bool {
        let until = until.unwrap_or(Time(i64::MAX));
        if self.last_success.is_some_and(|last| last >= from && last < until) {
            return true;
        }
        let width = self.flow.width_us();
        self.flow.iter().any(|(at, flow)| flow.ok > 0 && at >= from && at.plus_us(width) <= until)
    }

    /// Returns the number of sends, and of those that were refused.
    #[must_use]
    pub fn sends(&self) -> (u64, u64) {
        self.flow.iter().fold((0, 0), |(sends, refused), (_, flow)| (sends + flow.sends, refused + flow.refused()))
    }

    /// Returns sends and 429s over time, prepared for queries.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        Traffic::of(&self.flow, &self.refusals)
    }
}

/// Returns the scopes that the attempts of a call drew on, that of the first attempt first, each with one of its
/// origins.
pub(super) fn scopes_of(call: &Call<'_>) -> SmallVec<[(Scope, OriginId); 2]> {
    let mut scopes: SmallVec<[(Scope, OriginId); 2]> = SmallVec::new();
    let mut before = None;
    for (position, attempt) in call.attempts().enumerate() {
        // Nearly all attempts of a call have one origin.
        if before.replace(attempt.origin) == Some(attempt.origin) {
            continue;
        }
        let scope = call.origin(position).scope();
        if scopes.iter().all(|(known, _)| *known != scope) {
            scopes.push((scope, attempt.origin));
        }
    }
    scopes
}
