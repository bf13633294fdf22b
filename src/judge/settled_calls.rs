//! What one look at the rows of a [`Rolling`](super::Rolling) judgement yields.

use super::Judgement;
use crate::calls::{Groups, Left, Persistence, SingleSuccesses};
use crate::model::AttemptTable;

/// Rows of the table that are not parked.
pub(super) struct Live<'t> {
    pub(super) singles: SingleSuccesses,
    /// All others.
    pub(super) groups: Groups<'t>,
    /// Whether open calls are added to the summaries; see [`Rolling::follows`].
    pub(super) is_followed: bool,
}

/// Named calls that were settled, and what is left.
pub(super) struct SettledCalls<'t> {
    pub(super) judgement: Judgement<'t>,
    pub(super) seen: Persistence,
    /// Rows of the calls that are complete.
    pub(super) gone: Vec<u32>,
    /// Rows of open calls that were added to the summaries.
    pub(super) silent: Vec<u32>,
    pub(super) left: Left,
}

impl<'t> SettledCalls<'t> {
    pub(super) fn new(table: &'t AttemptTable) -> SettledCalls<'t> {
        SettledCalls {
            judgement: Judgement::new(table),
            seen: Persistence::default(),
            gone: Vec::new(),
            silent: Vec::new(),
            left: Left::default(),
        }
    }
}

/// Whether a row stays in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// The call is settled; the row is removed.
    Gone,
    /// The row stays and is not looked at again.
    Parked,
    /// The call is open.
    Live,
}
