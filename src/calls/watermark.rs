//! Decides when a call is complete while its log is still being read.

use super::reuse::MAX_RETRY_GAP_US;
use super::{Horizon, longest_plausible_wait_us};
use crate::model::{AttemptTable, Flags, Time};

/// How long after its last attempt a failed call may still be retried, in µs, if the client has not stated that it gave
/// up: a job may be repeated the next day, or the day after.
const MAX_LATE_RETRY_US: i64 = 48 * 3600 * 1_000_000;

/// How far a log has been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watermark {
    /// All attempts sent before this time have been read.
    pub(crate) until: Time,
    /// Whether memory is short. Then a failed call too counts as complete once a retry is unlikely.
    pub(crate) memory_is_short: bool,
    /// Horizon with which calls are settled.
    pub(crate) horizon: Horizon,
}

impl Watermark {
    /// Returns whether no attempt that is not yet read can belong to the call with these rows, which are in order.
    pub(crate) fn reached(&self, table: &AttemptTable, rows: &[u32]) -> bool {
        let row = |index: &u32| &table.rows[*index as usize];
        let Some(last) = rows.last().map(row) else { return true };
        let has_ended = last.flags.has(Flags::DECIDED_FAIL) || rows.iter().any(|index| !row(index).failed());
        let max_gap_us = if has_ended || self.memory_is_short { MAX_RETRY_GAP_US } else { MAX_LATE_RETRY_US };
        let ended = rows.iter().map(|index| row(index).ended()).max().unwrap_or(last.sent);
        ended.plus_us(longest_plausible_wait_us(table, last).max(max_gap_us)) < self.until
    }
}
