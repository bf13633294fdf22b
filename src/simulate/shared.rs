//! State shared by the calls of a fleet: a gate, a circuit breaker, a retry budget.

use crate::policy::{Breaker, Strategy};

/// The shared state. Times are steps of the simulated clock.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The gate: nobody sends before this step.
    gate_until: u64,
    failures_in_row: u32,
    /// The breaker: nobody sends before this step, and then one attempt decides.
    open_until: Option<u64>,
    /// Retries left in the budget.
    retries_left: f64,
}

impl Shared {
    /// Returns when an attempt due at `now` may be sent, if that is later.
    pub(super) fn held_until(&self, now: u64) -> Option<u64> {
        let until = self.gate_until.max(self.open_until.unwrap_or(0));
        (until > now).then_some(until)
    }

    /// Records the first attempt of a task.
    pub(super) fn begun(&mut self, strategy: &Strategy) {
        self.retries_left += strategy.retry_share.unwrap_or(0.0);
    }

    /// Returns whether the fleet may make one more retry, and if so takes it from the budget.
    pub(super) fn may_retry(&mut self, strategy: &Strategy) -> bool {
        if strategy.retry_share.is_none() {
            return true;
        }
        let may = self.retries_left >= 1.0;
        self.retries_left -= f64::from(u8::from(may));
        may
    }

    pub(super) fn succeeded(&mut self) {
        (self.failures_in_row, self.open_until) = (0, None);
    }

    /// Records a failure at `now`, with the step until which the server asked to wait.
    pub(super) fn failed(&mut self, strategy: &Strategy, now: u64, hint_until: Option<u64>, steps_per_s: f64) {
        if strategy.gate {
            self.gate_until = self.gate_until.max(hint_until.unwrap_or(0));
        }
        let Some(Breaker { failures, open_s }) = strategy.breaker else { return };
        self.failures_in_row += 1;
        // While it is half open, one failure opens it again.
        if self.failures_in_row >= failures || self.open_until.is_some() {
            self.open_until = Some(now.saturating_add(((open_s * steps_per_s) as u64).max(1)));
        }
    }
}
