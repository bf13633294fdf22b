//! Which rows of a table are views of others.

use super::Time;
use std::collections::{BTreeMap, HashMap};

/// How far apart two views of one attempt may have been sent, µs: what a gateway may queue a request for.
const REACH_US: i64 = 60_000_000;

/// Which rows are views of others.
#[derive(Debug, Default)]
pub(crate) struct Views {
    /// A row, and the one that tells of the same attempt, or of one around it.
    pub(super) links: BTreeMap<u32, u32>,
    /// Everything sent before was looked at.
    pub(super) until: Option<Time>,
    /// Attempts that share an id with one of another log and are not known to be the same.
    pub(super) unclear: u64,
}

impl Views {
    /// Attempts sent so much later bear on what a row is a view of, µs.
    pub(crate) const KNOWN_US: i64 = 3 * REACH_US;
    /// Attempts sent so much earlier do, µs.
    pub(crate) const REACH_US: i64 = REACH_US;

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Every row that is a view, and what it is a view of.
    pub(crate) fn links(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.links.iter().map(|(view, of)| (*view, *of))
    }

    /// Renews row numbers: the row at `order[n]` becomes row `n`, and the others leave.
    pub(super) fn renumber(&mut self, order: &[u32]) {
        if self.is_empty() {
            return;
        }
        let places: HashMap<u32, u32> = order.iter().copied().zip(0..).collect();
        let place = |row: &u32| places.get(row).copied();
        self.links = self.links.iter().filter_map(|(view, of)| Some((place(view)?, place(of)?))).collect();
    }
}
