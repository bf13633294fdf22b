//! Rows that a [`Rolling`](super::Rolling) judgement looks at when it settles calls, and what it finds.

use super::Judgement;
use crate::calls::{GiveUpObservations, Groups, Remaining, SingleSuccesses};
use crate::model::AttemptTable;

/// Rows of the table whose calls are open.
pub(super) struct OpenRows<'t> {
    pub(super) singles: SingleSuccesses,
    /// All other rows.
    pub(super) groups: Groups<'t>,
    /// Whether the attempts of calls that stay open are added to the summaries.
    pub(super) follows_open: bool,
}

/// Calls with an id that were settled, and what remains.
pub(super) struct SettledCalls<'t> {
    pub(super) judgement: Judgement<'t>,
    pub(super) give_up: GiveUpObservations,
    /// Rows of the calls that are complete.
    pub(super) dropped: Vec<u32>,
    /// Rows of open calls that were added to the summaries.
    pub(super) followed: Vec<u32>,
    pub(super) remaining: Remaining,
}

impl<'t> SettledCalls<'t> {
    pub(super) fn new(table: &'t AttemptTable) -> SettledCalls<'t> {
        SettledCalls {
            judgement: Judgement::new(table),
            give_up: GiveUpObservations::default(),
            dropped: Vec::new(),
            followed: Vec::new(),
            remaining: Remaining::default(),
        }
    }
}

/// What a row of the table is still needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowUse {
    /// Nothing: its call is settled, and the row is removed.
    Dropped,
    /// As an example of a finding, or by an attempt stream.
    Kept,
    /// Its call is open.
    Open,
}
