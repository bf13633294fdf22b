//! What the calls of a fleet share: a gate, a circuit breaker, a retry budget.

use crate::policy::{Breaker, Strategy};

/// State of all calls together. Times are steps of the simulated clock.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Nobody sends before.
    gate_until: u64,
    failures_in_row: u32,
    /// Nobody sends before; then one attempt decides.
    open_until: Option<u64>,
    /// Retries that may be made.
    retries_left: f64,
}

impl Shared {
    /// When an attempt that is due at `now` may be sent, if that is later.
    pub(super) fn held_until(&self, now: u64) -> Option<u64> {
        let until = self.gate_until.max(self.open_until.unwrap_or(0));
        (until > now).then_some(until)
    }

    /// Notes a first attempt.
    pub(super) fn begun(&mut self, strategy: &Strategy) {
        self.retries_left += strategy.retry_share.unwrap_or(0.0);
    }

    /// Whether the fleet may make one more retry, which is then counted.
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

    /// Notes a failure at `now` that asked everybody to wait until `hint_until`.
    pub(super) fn failed(&mut self, strategy: &Strategy, now: u64, hint_until: Option<u64>, steps_per_s: f64) {
        if strategy.gate {
            self.gate_until = self.gate_until.max(hint_until.unwrap_or(0));
        }
        let Some(Breaker { failures, open_s }) = strategy.breaker else { return };
        self.failures_in_row += 1;
        // While it is half open, one failure is enough.
        if self.failures_in_row >= failures || self.open_until.is_some() {
            self.open_until = Some(now + ((open_s * steps_per_s) as u64).max(1));
        }
    }
}
