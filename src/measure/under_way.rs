//! Calls under way at once, those included that wait for their next attempt: what a pool of slots has to hold.

use super::peaks::{Peak, Sweep};
use crate::calls::Call;
use crate::model::{Attempt, Time};

/// A call surely counts from so long after its start on, µs: times are rounded, and an answer is logged after its slot is
/// free, so that calls seem to overlap that followed one another.
const SLACK_US: i64 = 50_000;
/// The same where the time is one of whole seconds, µs.
const COARSE_SLACK_US: i64 = 1_000_000;
/// Longer waits than five minutes are to free the slot, µs: see rule RL308.
const LONGEST_WAIT_US: i64 = 300_000_000;

/// Calls under way at once, counted where somebody asks for it.
#[derive(Debug, Default)]
pub struct UnderWay {
    wanted: Option<bool>,
    sweep: Sweep,
    /// The same without what clocks may have made of it.
    sure: Sweep,
}

impl UnderWay {
    /// Asks once whether calls are to be counted.
    pub fn want(&mut self, wanted: impl FnOnce() -> bool) {
        self.wanted.get_or_insert_with(wanted);
    }

    fn is_wanted(&self) -> bool {
        self.wanted == Some(true)
    }

    /// Takes in the attempts of `call` that were sent at `since` or later, and the waits before them.
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

    /// Takes in a call of one attempt.
    #[inline]
    pub(super) fn add(&mut self, attempt: &Attempt) {
        if self.is_wanted() {
            self.sweep.stay(attempt.sent, attempt.ended());
            self.sure.stay(counted_from(attempt.sent), attempt.ended());
        }
    }

    /// Takes over from other calls what is not settled.
    pub(super) fn take_waiting(&mut self, other: &mut UnderWay) {
        self.wanted = self.wanted.or(other.wanted);
        self.sweep.merge(std::mem::take(&mut other.sweep));
        self.sure.merge(std::mem::take(&mut other.sure));
    }

    pub(super) fn merge(&mut self, mut other: UnderWay) {
        self.take_waiting(&mut other);
    }

    /// Counts up to where no wait can reach back to any more when nothing can be sent before `until`.
    pub(super) fn settle(&mut self, until: Time) {
        let end = Time(i64::MAX);
        let due = if until == end { end } else { until.plus_us(-LONGEST_WAIT_US) };
        self.sweep.settle(due);
        self.sure.settle(due);
    }

    /// The most calls that were under way at once, where more than `pool` surely were.
    #[must_use]
    pub fn more_than(&self, pool: f64) -> Option<Peak> {
        self.sure.most().filter(|sure| sure.count as f64 > pool)?;
        self.sweep.most()
    }
}

fn counted_from(sent: Time) -> Time {
    sent.plus_us(if sent.0 % 1_000_000 == 0 { COARSE_SLACK_US } else { SLACK_US })
}
