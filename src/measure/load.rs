//! What a rate-limit scope was asked to carry: arrivals and time in system.

use crate::calls::Call;
use crate::model::{Attempt, Time};

/// The load on one scope.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Calls that started on it.
    pub calls: u64,
    /// Time from their first send to their last answer, µs.
    pub in_system_us: u64,
    /// Attempts whose duration is known.
    pub timed: u64,
    /// How long those lasted together, µs.
    pub busy_us: u64,
}

impl Load {
    /// Takes in a call that started on the scope.
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        self.calls += 1;
        self.in_system_us += call.ended().us_since(call.first().sent).max(0).unsigned_abs();
    }

    /// Takes in a call of one attempt, which drew on the scope.
    pub(super) fn absorb_single_success(&mut self, attempt: &Attempt) {
        self.calls += 1;
        self.in_system_us += attempt.ended().us_since(attempt.sent).max(0).unsigned_abs();
        self.absorb_attempt(attempt);
    }

    /// Takes in an attempt that drew on the scope.
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

    /// Mean time from the first send of a call to its last answer, in seconds: W of Little's law.
    #[must_use]
    pub fn time_in_system_s(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.in_system_us as f64 / self.calls as f64 / 1e6)
    }

    /// Calls a second over the time from `first` to `last`: lambda of Little's law. `None` where that is under a
    /// second, of which nothing can be said.
    #[must_use]
    pub fn arrivals_per_s(&self, first: Time, last: Time) -> Option<f64> {
        let s = last.s_since(first);
        (s >= 1.0).then(|| self.calls as f64 / s)
    }
}
