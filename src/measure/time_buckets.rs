//! Events by short time buckets of fixed width.
//!
//! [`crate::model::TimeSeries`] widens its buckets as a log grows, which suits charts, but events within a second need
//! a fixed resolution. A list has at most twice as many entries as there are buckets with events, and its user discards
//! buckets that are final.

use crate::model::AttemptTable;

/// Events of one bucket. Merging must be associative and commutative.
pub(super) trait BucketEvents: Clone {
    /// Adds other events of the same bucket.
    fn merge(&mut self, table: &AttemptTable, other: &Self);
}

/// Buckets with events, by their number since the epoch.
#[derive(Clone, Debug)]
pub(super) struct TimeBuckets<T> {
    /// Sorted, one entry per bucket.
    list: Vec<(i64, T)>,
    /// Entries that came too late to be inserted at once.
    late: Vec<(i64, T)>,
}

impl<T> Default for TimeBuckets<T> {
    fn default() -> Self {
        TimeBuckets { list: Vec::new(), late: Vec::new() }
    }
}

/// Number of late entries that may accumulate before they are sorted in, so that short lists are not sorted too often.
const MAX_LATE: usize = 1024;
/// Maximum number of entries that are moved to insert an earlier one; events arrive nearly in time order.
const MAX_MOVED: usize = 64;

impl<T: BucketEvents> TimeBuckets<T> {
    #[inline]
    pub(super) fn add(&mut self, table: &AttemptTable, key: i64, event: T) {
        let last = self.list.last().map_or(i64::MIN, |(last, _)| *last);
        match self.list.last_mut() {
            Some((_, mine)) if last == key => mine.merge(table, &event),
            Some(_) if last > key => self.add_before(table, last.abs_diff(key), key, event),
            _ => self.list.push((key, event)),
        }
    }

    /// Adds an event of a bucket that is `apart` buckets before the last one.
    fn add_before(&mut self, table: &AttemptTable, apart: u64, key: i64, event: T) {
        // The bucket is at most `apart` entries before the last one, and exactly that many if there are no gaps. The
        // search starts there.
        let first = (self.list.len() as u64).saturating_sub(apart.saturating_add(1)) as usize;
        if let Some((known, mine)) = self.list.get_mut(first)
            && *known == key
        {
            return mine.merge(table, &event);
        }
        let index = first + self.list[first..].partition_point(|(other, _)| *other < key);
        let moved = self.list.len() - index;
        match self.list.get_mut(index) {
            Some((known, mine)) if *known == key => mine.merge(table, &event),
            _ if moved <= MAX_MOVED => self.list.insert(index, (key, event)),
            _ => {
                self.late.push((key, event));
                self.sort_if_due(table);
            }
        }
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: TimeBuckets<T>) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.late.extend(other.list);
        self.late.extend(other.late);
        self.sort_if_due(table);
    }

    /// Returns the number of entries, of which several may be of one bucket.
    pub(super) fn len(&self) -> usize {
        self.list.len() + self.late.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.list.iter_mut().chain(&mut self.late).map(|(_, event)| event)
    }

    /// Returns every bucket with events, in time order.
    pub(super) fn sorted(&mut self, table: &AttemptTable) -> &[(i64, T)] {
        if !self.late.is_empty() {
            self.sort(table);
        }
        &self.list
    }

    /// Discards the buckets before `key`.
    pub(super) fn forget_before(&mut self, key: i64) {
        self.late.retain(|(other, _)| *other >= key);
        let discarded = self.list.partition_point(|(other, _)| *other < key);
        self.list.drain(..discarded);
        // Keep room for twice the entries.
        self.list.shrink_to(2 * self.list.len() + MAX_LATE);
    }

    fn sort_if_due(&mut self, table: &AttemptTable) {
        if self.late.len() >= self.list.len() + MAX_LATE {
            self.sort(table);
        }
    }

    /// Sorts, and merges entries with the same key.
    fn sort(&mut self, table: &AttemptTable) {
        self.list.append(&mut self.late);
        self.late = Vec::new();
        self.list.sort_by_key(|(key, _)| *key);
        self.list.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1.merge(table, &later.1);
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Count(u32);

    impl BucketEvents for Count {
        fn merge(&mut self, _: &AttemptTable, other: &Count) {
            self.0 += other.0;
        }
    }

    fn described(keys: impl Iterator<Item = i64>) -> Vec<(i64, Count)> {
        let (table, mut buckets) = (AttemptTable::default(), TimeBuckets::default());
        keys.for_each(|key| buckets.add(&table, key, Count(1)));
        buckets.sorted(&table).to_vec()
    }

    #[test]
    fn the_order_of_events_does_not_matter() {
        let keys = || (0..9_000).map(|n| n / 3);
        let expected: Vec<_> = (0..3_000).map(|key| (key, Count(3))).collect();
        assert_eq!(described(keys()), expected);
        assert_eq!(described(keys().rev()), expected);
        // Events that are a little late, and events that are very late.
        let swapped = |n: i64| if n % 200 < 100 { n + 100 } else { n - 100 };
        assert_eq!(described((0..9_000).map(|n| swapped(n) / 3)), expected);
        assert_eq!(described((0..9_000).map(|n| n * 7_919 % 9_000 / 3)), expected);
        // With gaps in between.
        let sparse = |n: i64| n / 3 * 5;
        let spread: Vec<_> = (0..3_000).map(|key| (key * 5, Count(3))).collect();
        assert_eq!(described((0..9_000).map(|n| sparse(swapped(n)))), spread);
    }

    #[test]
    fn forgotten_buckets_are_removed_and_others_stay() {
        let (table, mut buckets) = (AttemptTable::default(), TimeBuckets::default());
        (0..500).for_each(|key| buckets.add(&table, key, Count(1)));
        buckets.forget_before(400);
        (380..420).rev().for_each(|key| buckets.add(&table, key, Count(1)));
        let counts: Vec<u32> = buckets.sorted(&table).iter().map(|(_, count)| count.0).collect();
        assert_eq!((counts.len(), counts.iter().sum::<u32>()), (120, 140));
    }
}
