//! Attempts of an attempt stream that may form one call.

use super::Grouping;
use crate::model::{Attempt, AttemptTable};
use smallvec::SmallVec;

/// Row numbers of a call or series.
pub(crate) type Rows = SmallVec<[u32; 8]>;

/// Attempts that were joined one by one, and how they were grouped.
#[derive(Clone, Debug)]
pub(crate) struct AttemptSeries {
    pub(crate) rows: Rows,
    pub(crate) grouping: Grouping,
    /// Whether the client sent a request to another model within seconds of the last failure.
    pub(crate) fell_back: bool,
}

impl AttemptSeries {
    /// Returns how certain it is that the attempts belong together; a single attempt is certain.
    pub(super) fn certainty(&self) -> Grouping {
        if self.rows.len() == 1 { Grouping::Explicit } else { self.grouping }
    }
}

pub(super) fn first_attempt<'a>(table: &'a AttemptTable, series: &AttemptSeries) -> &'a Attempt {
    &table.rows[series.rows[0] as usize]
}

pub(super) fn last<'a>(table: &'a AttemptTable, series: &AttemptSeries) -> &'a Attempt {
    &table.rows[series.rows[series.rows.len() - 1] as usize]
}
