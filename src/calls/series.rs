//! Attempts in a row that may be one call.

use super::Grouping;
use crate::model::{Attempt, AttemptTable};
use smallvec::SmallVec;

/// Rows of one call or series.
pub(crate) type Rows = SmallVec<[u32; 8]>;

/// Attempts in a row, and what brought them together.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) rows: Rows,
    pub(crate) grouping: Grouping,
    /// The stream asked another model within seconds of its last failure.
    pub(crate) fell_back: bool,
}

impl Series {
    /// How sure it is that its attempts belong together: of one alone, quite.
    pub(super) fn certainty(&self) -> Grouping {
        if self.rows.len() == 1 { Grouping::Explicit } else { self.grouping }
    }
}

pub(super) fn first<'a>(table: &'a AttemptTable, series: &Series) -> &'a Attempt {
    &table.rows[series.rows[0] as usize]
}

pub(super) fn last<'a>(table: &'a AttemptTable, series: &Series) -> &'a Attempt {
    &table.rows[series.rows[series.rows.len() - 1] as usize]
}
