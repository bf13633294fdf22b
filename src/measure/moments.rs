//! Events by short, fixed stretches of time.
//!
//! [`crate::attempt::Series`] grows coarser as a log grows longer, which suits charts; what happens within a
//! second needs the second. A list holds at most twice as many entries as there are stretches with events, and
//! whoever reads it forgets the stretches that nothing can be added to any more.

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
        if self.list.is_empty() {
            *self = other;
            return;
        }
        self.list.extend(other.list);
        self.settle_when_due(table);
    }

    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.list.iter_mut().map(|(_, event)| event)
    }

    /// Every stretch with events, in time order.
    pub(super) fn in_order(&mut self, table: &AttemptTable) -> &[(i64, T)] {
        if self.settled < self.list.len() {
            self.settle(table);
        }
        &self.list
    }

    /// Lets go of the stretches before `key`. They are in order.
    pub(super) fn forget_before(&mut self, key: i64) {
        let gone = self.list[..self.settled].partition_point(|(other, _)| *other < key);
        self.list.drain(..gone);
        self.settled -= gone;
        // Room for twice as much is enough.
        self.list.shrink_to(2 * self.list.len() + SLACK);
    }

    fn settle_when_due(&mut self, table: &AttemptTable) {
        if self.list.len() >= 2 * self.settled + SLACK {
            self.settle(table);
        }
    }

    /// Sorts, and makes one entry of those with the same key.
    fn settle(&mut self, table: &AttemptTable) {
        self.list.sort_by_key(|(key, _)| *key);
        self.list.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1.merge(table, &later.1);
            }
            same
        });
        self.settled = self.list.len();
    }
}
