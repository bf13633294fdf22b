//! References to rows, ordered independently of the input order.

use crate::model::{AttemptTable, Time};

/// Reference to a row, ordered by the content of its record. Therefore the smallest of several does not depend on the
/// order of files and lines, and merging summaries needs no access to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowRef {
    /// Send time of the attempt.
    pub sent: Time,
    number: u16,
    identity: u32,
    /// Row number in the table, which only distinguishes identical records.
    pub row: u32,
}

impl RowRef {
    /// Creates a reference to `row`.
    #[must_use]
    pub fn of(table: &AttemptTable, row: u32) -> RowRef {
        let attempt = &table.rows[row as usize];
        RowRef { sent: attempt.sent, number: attempt.number, identity: attempt.identity, row }
    }
}

impl RowRef {
    pub(super) fn each_row(row_ref: &mut Option<RowRef>, visit: &mut dyn FnMut(&mut u32)) {
        row_ref.iter_mut().for_each(|row_ref| visit(&mut row_ref.row));
    }
}

/// Replaces `known` by `row_ref` if that is earlier.
#[inline]
pub(super) fn keep_earlier(known: &mut Option<RowRef>, row_ref: RowRef) {
    if known.is_none_or(|known| row_ref < known) {
        *known = Some(row_ref);
    }
}

/// Returns the earlier of two optional references.
pub(super) fn earlier(a: Option<RowRef>, b: Option<RowRef>) -> Option<RowRef> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Returns the earlier of two optional rows, for summaries that store only row numbers.
pub(super) fn earlier_row(table: &AttemptTable, a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(RowRef::of(table, a).min(RowRef::of(table, b)).row),
        (a, b) => a.or(b),
    }
}
