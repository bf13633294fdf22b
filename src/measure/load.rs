//! Load of a rate-limit scope: arrivals and time in system.

use crate::calls::Call;
use crate::model::{Attempt, Time};

/// Load of one scope.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Calls that started on the scope.
    pub calls: u64,
    /// Sum of the times from their first send to their last answer, in µs.
    pub in_system_us: u64,
    /// Attempts with a known duration.
    pub timed: u64,
    /// Sum of these durations, in µs.
    pub busy_us: u64,
}

impl Load {
    pub(super) const NONE: Load = Load { calls: 0, in_system_us: 0, timed: 0, busy_us: 0 };

    /// Adds a call that started on the scope.
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        self.calls += 1;
        self.in_system_us += call.ended().us_since(call.first().sent).max(0).unsigned_abs();
    }

    /// Adds a call of one attempt that drew on the scope.
    pub(super) fn absorb_single_success(&mut self, attempt: &Attempt) {
        self.calls += 1;
        if let Some(us) = attempt.duration.as_us() {
            self.in_system_us += us.unsigned_abs();
        }
        self.absorb_attempt(attempt);
    }

    /// Adds an attempt that drew on the scope.
    pub(super) fn absorb_attempt(&mut self, attempt: &Attempt) {
        if let Some(us) = attempt.duration.as_us() {
            self.timed += 1;
            self.busy_us += us.unsigned_abs();
        }
    }

    pub(super) fn merge(&mut self, other: &Load) {
        self.calls += other.calls;
        self.in_system_us += other.in_system_us;
        self.timed += other.timed;
        self.busy_us += other.busy_us;
    }

    /// Returns the mean time from the first send of a call to its last answer, in seconds: W of Little's law.
    #[must_use]
    pub fn time_in_system_s(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.in_system_us as f64 / self.calls as f64 / 1e6)
    }

    /// Returns the calls per second from `first` to `last`: lambda of Little's law. Returns `None` if that is less than
    /// a second, too short for an estimate.
    #[must_use]
    pub fn arrivals_per_s(&self, first: Time, last: Time) -> Option<f64> {
        let s = last.s_since(first);
        (s >= 1.0).then(|| self.calls as f64 / s)
    }
}
