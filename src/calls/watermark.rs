//! Decides when a call can be released while its log is still being read.

use super::reuse::ANOTHER_DAY_US;
use super::{Horizon, patience_us};
use crate::model::{AttemptTable, Flags, Time};

/// How long a failed call that was not explicitly given up may be retried, in µs, such as on the next day.
const NEXT_DAYS_US: i64 = 48 * 3600 * 1_000_000;

/// How far a log has been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watermark {
    /// No attempt sent before this time is still to come.
    pub(crate) until: Time,
    /// Whether memory is short: then failed calls too are released once a retry is unlikely.
    pub(crate) pressed: bool,
    /// Horizon with which calls are settled.
    pub(crate) horizon: Horizon,
}

impl Watermark {
    /// Returns whether no attempt still to come can belong to the call of `rows`, in order.
    pub(crate) fn reached(&self, table: &AttemptTable, rows: &[u32]) -> bool {
        let row = |index: &u32| &table.rows[*index as usize];
        let Some(last) = rows.last().map(row) else { return true };
        let over = last.flags.has(Flags::DECIDED_FAIL) || rows.iter().any(|index| !row(index).failed());
        let least = if over || self.pressed { ANOTHER_DAY_US } else { NEXT_DAYS_US };
        let ended = rows.iter().map(|index| row(index).ended()).max().unwrap_or(last.sent);
        ended.plus_us(patience_us(table, last).max(least)) < self.until
    }
}
