//! Rows that are views of others: further records of the same attempt, by another layer or in another kind of log.

use super::Time;
use std::collections::{BTreeMap, HashMap};

/// Largest difference between the send times of two views of one attempt, in µs: how long a gateway may queue a
/// request.
const MAX_SEND_DISTANCE_US: i64 = 60_000_000;

/// Rows that are views of others.
#[derive(Debug, Default)]
pub(crate) struct Views {
    /// Maps a row to the row that describes the same attempt, or one around it.
    pub(super) links: BTreeMap<u32, u32>,
    /// End of the range of send times that has been searched.
    pub(super) until: Option<Time>,
    /// Attempts that share an id with one of another log but are not known to be the same.
    pub(super) ambiguous: u64,
}

impl Views {
    /// How much later than a row other attempts may be sent and still decide what it is a view of, in µs: the rows with
    /// one request id may extend one send distance beyond it, the gap that ends them is another one, and the candidates
    /// of the last of them lie within a third.
    pub(crate) const LOOKAHEAD_US: i64 = 3 * MAX_SEND_DISTANCE_US;
    /// How much earlier than a row other attempts may be sent and still decide what it is a view of, in µs.
    pub(crate) const MAX_SEND_DISTANCE_US: i64 = MAX_SEND_DISTANCE_US;

    /// Returns whether no row is a view.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Iterates over the rows that are views, each with the row it is a view of.
    pub(crate) fn links(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.links.iter().map(|(view, of)| (*view, *of))
    }

    /// Renumbers rows after a selection: the row at `order[n]` becomes row `n`, and all others are dropped.
    pub(super) fn renumber(&mut self, order: &[u32]) {
        if self.is_empty() {
            return;
        }
        let new_index: HashMap<u32, u32> = order.iter().copied().zip(0..).collect();
        let renumbered = |row: &u32| new_index.get(row).copied();
        self.links = self.links.iter().filter_map(|(view, of)| Some((renumbered(view)?, renumbered(of)?))).collect();
    }
}
