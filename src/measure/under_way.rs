//! Concurrent calls, including those that wait for their next attempt: what a connection pool must accommodate.

use super::peaks::{Peak, Sweep};
use crate::calls::Call;
use crate::model::{Attempt, Time};

/// Time after the start of a call that is not counted with certainty, in µs: times are rounded, and a response is
/// logged after its connection is free, so sequential calls may seem to overlap.
const SLACK_US: i64 = 50_000;
/// The same for times in whole seconds, in µs.
const COARSE_SLACK_US: i64 = 1_000_000;
/// Longest wait during which a call keeps its connection, in µs: waits of more than five minutes should release it,
/// according to rule RL308.
const LONGEST_WAIT_US: i64 = 300_000_000;

/// Concurrent calls, counted on request.
#[derive(Debug, Default)]
pub struct UnderWay {
    enabled: Option<bool>,
    sweep: Sweep,
    /// The same without overlaps that rounded times may have caused.
    certain: Sweep,
}

impl UnderWay {
    /// Decides, on the first call, whether calls are counted.
    pub fn enable_if(&mut self, enabled: impl FnOnce() -> bool) {
        self.enabled.get_or_insert_with(enabled);
    }

    fn is_enabled(&self) -> bool {
        self.enabled == Some(true)
    }

    /// Adds the attempts of `call` that were sent at `since` or later, and the waits before them.
    pub(super) fn follow(&mut self, call: &Call<'_>, since: Time) {
        if !self.is_enabled() {
            return;
        }
        let counted = certain_from(call.first().sent);
        for position in (0..call.len()).filter(|&position| call.at(position).sent >= since) {
            let attempt = call.at(position);
            if let Some(before) = position.checked_sub(1).map(|before| call.at(before).ended())
                && attempt.sent.us_since(before) <= LONGEST_WAIT_US
            {
                self.sweep.add_interval(before, attempt.sent);
                self.certain.add_interval(before.max(counted), attempt.sent);
            }
            self.sweep.add_interval(attempt.sent, attempt.ended());
            self.certain.add_interval(attempt.sent.max(counted), attempt.ended());
        }
    }

    /// Adds a call of one attempt.
    #[inline]
    pub(super) fn add(&mut self, attempt: &Attempt) {
        if self.is_enabled() {
            self.sweep.add_interval(attempt.sent, attempt.ended());
            self.certain.add_interval(certain_from(attempt.sent), attempt.ended());
        }
    }

    /// Adds the intervals of other calls, none of which may be settled.
    pub(super) fn add_unsettled(&mut self, other: &mut UnderWay) {
        self.enabled = self.enabled.or(other.enabled);
        self.sweep.merge(std::mem::take(&mut other.sweep));
        self.certain.merge(std::mem::take(&mut other.certain));
    }

    pub(super) fn merge(&mut self, mut other: UnderWay) {
        self.add_unsettled(&mut other);
    }

    /// Counts up to the earliest time at which a wait that has not ended may have begun, given that all attempts sent
    /// before `until` have been added.
    pub(super) fn settle(&mut self, until: Time) {
        let end = Time(i64::MAX);
        let due = if until == end { end } else { until.plus_us(-LONGEST_WAIT_US) };
        self.sweep.settle(due);
        self.certain.settle(due);
    }

    /// Returns the maximum number of concurrent calls, if it was certainly more than `pool`.
    #[must_use]
    pub fn more_than(&self, pool: f64) -> Option<Peak> {
        self.certain.peak().filter(|certain| certain.count as f64 > pool)?;
        self.sweep.peak()
    }
}

fn certain_from(sent: Time) -> Time {
    sent.plus_us(if sent.0 % 1_000_000 == 0 { COARSE_SLACK_US } else { SLACK_US })
}
