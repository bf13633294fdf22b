//! Events by short, fixed stretches of time, over a log of any length.
//!
//! [`crate::attempt::Series`] grows coarser as a log grows longer, which suits charts; what happens within a
//! second needs the second. The list holds at most twice as many entries as there are stretches with events.

use crate::attempt::AttemptTable;

/// What happened in one stretch. Merging must be associative and commutative.
pub(super) trait Moment: Clone {
    /// Takes in what else happened in it.
    fn merge(&mut self, table: &AttemptTable, other: &Self);
}

/// Stretches with events, by their number since the epoch.
#[derive(Clone, Debug)]
pub(super) struct Moments<T> {
    list: Vec<(i64, T)>,
    /// So many entries at the front are in order, one a stretch.
    settled: usize,
}

impl<T> Default for Moments<T> {
    fn default() -> Self {
        Moments { list: Vec::new(), settled: 0 }
    }
}

/// Entries that may wait unsorted, so that short lists are not sorted again and again.
const SLACK: usize = 1024;

impl<T: Moment> Moments<T> {
    pub(super) fn add(&mut self, table: &AttemptTable, key: i64, event: T) {
        // Calls come nearly in the order of time: the next one often falls into the same stretch.
        if let Some((last, known)) = self.list.last_mut()
            && *last == key
        {
            return known.merge(table, &event);
        }
        self.list.push((key, event));
        self.settle_when_due(table);
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: Moments<T>) {
        self.list.extend(other.list);
        self.settle_when_due(table);
    }

    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.list.iter_mut().map(|(_, event)| event)
    }

    /// Every stretch with events, in time order.
    pub(super) fn sorted(&self, table: &AttemptTable) -> Vec<(i64, T)> {
        let mut list = self.list.clone();
        settle(table, &mut list);
        list
    }

    fn settle_when_due(&mut self, table: &AttemptTable) {
        if self.list.len() >= 2 * self.settled + SLACK {
            settle(table, &mut self.list);
            self.settled = self.list.len();
        }
    }
}

/// Sorts, and makes one entry of those with the same key.
fn settle<T: Moment>(table: &AttemptTable, list: &mut Vec<(i64, T)>) {
    list.sort_by_key(|(key, _)| *key);
    list.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1.merge(table, &later.1);
        }
        same
    });
}
