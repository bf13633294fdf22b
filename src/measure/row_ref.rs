//! Where a row stands among all rows.

use crate::model::{AttemptTable, Time};

/// A row, with what the log says of it in front: the least of several is the same whatever the order of
/// files and lines, and merging needs no look at the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowRef {
    /// When it was sent.
    pub sent: Time,
    number: u16,
    identity: u32,
    /// Its place in the table, which only tells identical records apart.
    pub row: u32,
}

impl RowRef {
    /// The place of `row`.
    #[must_use]
    pub fn of(table: &AttemptTable, row: u32) -> RowRef {
        let attempt = &table.rows[row as usize];
        RowRef { sent: attempt.sent, number: attempt.number, identity: attempt.identity, row }
    }
}

impl RowRef {
    pub(super) fn each_row(spot: &mut Option<RowRef>, visit: &mut dyn FnMut(&mut u32)) {
        spot.iter_mut().for_each(|spot| visit(&mut spot.row));
    }
}

/// Keeps a spot where it is the earliest so far.
#[inline]
pub(super) fn note(known: &mut Option<RowRef>, spot: RowRef) {
    if known.is_none_or(|known| spot < known) {
        *known = Some(spot);
    }
}

/// The earlier of two, where there are two.
pub(super) fn earlier(a: Option<RowRef>, b: Option<RowRef>) -> Option<RowRef> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The earlier of two rows, for summaries that keep the number alone.
pub(super) fn earlier_row(table: &AttemptTable, a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(RowRef::of(table, a).min(RowRef::of(table, b)).row),
        (a, b) => a.or(b),
    }
}
