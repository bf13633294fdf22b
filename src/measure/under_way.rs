//! Concurrent calls, including those that wait for their next attempt: what a connection pool must accommodate.

use super::peaks::{Peak, Sweep};
use crate::calls::Call;
use crate::model::{Attempt, Time};

/// How long after its start a call certainly counts, in µs: times are rounded, and an answer is logged after its
/// connection is free, so that sequential calls seem to overlap.
const SLACK_US: i64 = 50_000;
/// The same for times in whole seconds, in µs.
const COARSE_SLACK_US: i64 = 1_000_000;
/// Longest wait during which a call keeps its connection, in µs: waits of more than five minutes should release it,
/// according to rule RL308.
const LONGEST_WAIT_US: i64 = 300_000_000;

/// Concurrent calls, counted on request.
#[derive(Debug, Default)]
pub struct UnderWay {
    wanted: Option<bool>,
    sweep: Sweep,
    /// The same without overlaps that clocks may have caused.
    sure: Sweep,
}

impl UnderWay {
    /// Decides, on the first call, whether calls are counted.
    pub fn want(&mut self, wanted: impl FnOnce() -> bool) {
        self.wanted.get_or_insert_with(wanted);
    }

    fn is_wanted(&self) -> bool {
        self.wanted == Some(true)
    }

    /// Adds the attempts of `call` that were sent at `since` or later, and the waits before them.
    pub(super) fn follow(&mut self, call: &Call<'_>, since: Time) {
        if !self.is_wanted() {
            return;
        }
        let counted = counted_from(call.first().sent);
        for position in (0..call.len()).filter(|&position| call.at(position).sent >= since) {
            let attempt = call.at(position);
            if let Some(before) = position.checked_sub(1).map(|before| call.at(before).ended())
                && attempt.sent.us_since(before) <= LONGEST_WAIT_US
            {
                self.sweep.stay(before, attempt.sent);
                self.sure.stay(before.max(counted), attempt.sent);
            }
            self.sweep.stay(attempt.sent, attempt.ended());
            self.sure.stay(attempt.sent.max(counted), attempt.ended());
        }
    }

    /// Adds a call of one attempt.
    #[inline]
    pub(super) fn add(&mut self, attempt: &Attempt) {
        if self.is_wanted() {
            self.sweep.stay(attempt.sent, attempt.ended());
            self.sure.stay(counted_from(attempt.sent), attempt.ended());
        }
    }

    /// Takes over what is not settled from other calls.
    pub(super) fn take_waiting(&mut self, other: &mut UnderWay) {
        self.wanted = self.wanted.or(other.wanted);
        self.sweep.merge(std::mem::take(&mut other.sweep));
        self.sure.merge(std::mem::take(&mut other.sure));
    }

    pub(super) fn merge(&mut self, mut other: UnderWay) {
        self.take_waiting(&mut other);
    }

    /// Counts up to the time that no wait can reach back to, given that nothing sent before `until` is still to come.
    pub(super) fn settle(&mut self, until: Time) {
        let end = Time(i64::MAX);
        let due = if until == end { end } else { until.plus_us(-LONGEST_WAIT_US) };
        self.sweep.settle(due);
        self.sure.settle(due);
    }

    /// Returns the maximum number of concurrent calls, if there certainly were more than `pool`.
    #[must_use]
    pub fn more_than(&self, pool: f64) -> Option<Peak> {
        self.sure.most().filter(|sure| sure.count as f64 > pool)?;
        self.sweep.most()
    }
}

fn counted_from(sent: Time) -> Time {
    sent.plus_us(if sent.0 % 1_000_000 == 0 { COARSE_SLACK_US } else { SLACK_US })
}
