//! Time series whose buckets grow wider rather than more numerous.
//!
//! Merging is associative and independent of order: the width of a bucket follows from the set of times alone, since a
//! wider one is chosen only if a narrower one would need too many buckets.

use super::Time;

/// Contents of a bucket. Merging must be associative and commutative.
pub trait Mergeable {
    /// Adds the contents of another bucket, or a single event.
    fn merge(&mut self, other: &Self);
}

impl Mergeable for () {
    fn merge(&mut self, (): &()) {}
}

/// Buckets over time, at most `MAX_BUCKETS` of them; the default is two for every pixel of a chart 1,000 px wide.
#[derive(Clone, Debug)]
pub struct TimeSeries<B, const MAX_BUCKETS: usize = 2048> {
    /// A bucket is `2^(MIN_WIDTH_LOG2 + shift)` µs wide.
    shift: u32,
    /// Key and contents of each bucket, in insertion order; keys are unique.
    buckets: Vec<(i64, B)>,
    /// Hash table with open addressing: index of each bucket plus 1, or 0 for an empty slot. The last bits of the key
    /// select the slot, so that buckets next to each other in time are so in memory. Never more than half full. Without
    /// slots while there are so few buckets that a linear search is as fast.
    slots: Vec<u16>,
    /// Index of the bucket used last, which the next event nearly always uses too.
    last: usize,
}

impl<B, const MAX_BUCKETS: usize> Default for TimeSeries<B, MAX_BUCKETS> {
    fn default() -> Self {
        TimeSeries { shift: 0, buckets: Vec::new(), slots: Vec::new(), last: 0 }
    }
}

/// Binary logarithm of the smallest width in µs: 2^16 µs is some 66 ms, and no rate limit is used up faster.
const MIN_WIDTH_LOG2: u32 = 16;
/// Maximum number of buckets that are searched linearly.
const MAX_LINEAR_SEARCH: usize = 8;

impl<B: Mergeable, const MAX_BUCKETS: usize> TimeSeries<B, MAX_BUCKETS> {
    /// Adds one event.
    pub fn add(&mut self, at: Time, event: B) {
        self.put(at.0 >> (MIN_WIDTH_LOG2 + self.shift), event);
    }

    /// Changes the bucket at a time, after adding a default one if there is none. Merging a default bucket must change
    /// nothing.
    #[inline]
    pub fn update(&mut self, at: Time, change: impl FnOnce(&mut B))
    where
        B: Default,
    {
        let key = at.0 >> (MIN_WIDTH_LOG2 + self.shift);
        if self.buckets.get(self.last).is_none_or(|(known, _)| *known != key) {
            self.last = self.index_of(key).unwrap_or_else(|| self.insert_default(at));
        }
        if let Some((_, bucket)) = self.buckets.get_mut(self.last) {
            change(bucket);
        }
    }

    /// Returns an empty series with buckets as wide as those of `other`. A series that merges both cannot have narrower
    /// ones.
    pub(super) fn with_width_of<O>(other: &TimeSeries<O, MAX_BUCKETS>) -> Self {
        TimeSeries { shift: other.shift, ..TimeSeries::default() }
    }

    /// Builds a series from buckets of this width in µs, each with a time in it, as returned by [`TimeSeries::sorted`].
    /// Returns `None` if no series has this width, or this many buckets.
    pub(crate) fn from_buckets(width_us: i64, buckets: Vec<(Time, B)>) -> Option<Self> {
        let shift = u64::try_from(width_us).ok().filter(|width| width.is_power_of_two())?.trailing_zeros();
        let mut series = TimeSeries { shift: shift.checked_sub(MIN_WIDTH_LOG2)?, ..TimeSeries::default() };
        if buckets.len() > MAX_BUCKETS {
            return None;
        }
        buckets.into_iter().for_each(|(at, bucket)| series.add(at, bucket));
        Some(series)
    }

    /// Returns the buckets without their contents.
    pub(super) fn keys_only(&self) -> TimeSeries<(), MAX_BUCKETS> {
        let buckets = self.buckets.iter().map(|(key, _)| (*key, ())).collect();
        TimeSeries { shift: self.shift, buckets, slots: self.slots.clone(), last: self.last }
    }

    /// Returns the bucket at `at`, if there is one.
    #[inline]
    pub(super) fn bucket_at(&mut self, at: Time) -> Option<&mut B> {
        let key = at.0 >> (MIN_WIDTH_LOG2 + self.shift);
        if self.buckets.get(self.last).is_none_or(|(known, _)| *known != key) {
            self.last = self.index_of(key)?;
        }
        self.buckets.get_mut(self.last).map(|(_, bucket)| bucket)
    }

    /// Adds the first event of a bucket, for which [`TimeSeries::bucket_at`] returned `None`.
    pub(super) fn add_first(&mut self, at: Time, event: B) {
        self.insert_and_widen(at.0 >> (MIN_WIDTH_LOG2 + self.shift), event);
    }

    /// Adds every bucket of `other`.
    pub fn merge(&mut self, other: TimeSeries<B, MAX_BUCKETS>) {
        if self.buckets.is_empty() && self.shift <= other.shift {
            *self = other;
            return;
        }
        while self.shift < other.shift {
            self.widen();
        }
        for (key, bucket) in other.buckets {
            // `put` may widen the buckets of this series, so the shift is computed for each key.
            self.put(key >> (self.shift - other.shift), bucket);
        }
    }

    /// Sets the width of an empty series to the one it will have once events at `times`, in order, are added. Reaching
    /// it by repeated doubling would move the buckets each time.
    pub(crate) fn set_width_for(&mut self, times: impl IntoIterator<Item = Time>) {
        if !self.buckets.is_empty() {
            return;
        }
        let counts = count_by_differing_bit(times.into_iter().map(|Time(at)| at));
        let buckets = |shift: u32| counts[(MIN_WIDTH_LOG2 + shift + 1) as usize..].iter().sum::<usize>();
        let shift = (0..64 - MIN_WIDTH_LOG2).find(|shift| buckets(*shift) <= MAX_BUCKETS).unwrap_or_default();
        self.shift = self.shift.max(shift);
    }

    /// Returns the width of a bucket in µs.
    #[must_use]
    pub fn width_us(&self) -> i64 {
        1 << (MIN_WIDTH_LOG2 + self.shift)
    }

    /// Returns the width of a bucket in µs, and all buckets in time order with their start times.
    #[must_use]
    pub fn by_time(&self) -> (i64, Vec<(Time, &B)>) {
        let width = self.width_us();
        let begins = |(key, bucket): (i64, _)| (Time(key.saturating_mul(width)), bucket);
        (width, self.by_key().into_iter().map(begins).collect())
    }

    /// Like [`TimeSeries::by_time`], with copies of the buckets.
    #[must_use]
    pub fn sorted(&self) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        self.with_shift(self.shift)
    }

    /// Like [`TimeSeries::sorted`], merged into at most `most` buckets.
    #[must_use]
    pub fn at_most(&self, most: usize) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        let buckets = self.by_key();
        let counts = count_by_differing_bit(buckets.iter().map(|(key, _)| *key));
        let count = |shift: u32| counts[shift as usize + 1..].iter().sum::<usize>();
        let wider =
            (0..64 - MIN_WIDTH_LOG2 - self.shift).find(|shift| count(*shift) <= most.max(1)).unwrap_or_default();
        self.merged_to(buckets, self.shift + wider)
    }

    /// Like [`TimeSeries::sorted`], merged into buckets of at least `least_us` µs.
    #[must_use]
    pub fn no_finer_than(&self, least_us: i64) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        let wide_enough = |shift: &u32| 1_i64 << (MIN_WIDTH_LOG2 + shift) >= least_us;
        self.with_shift((self.shift..63 - MIN_WIDTH_LOG2).find(wide_enough).unwrap_or(self.shift))
    }

    /// Like [`TimeSeries::sorted`], merged into buckets of 2^(MIN_WIDTH_LOG2 + `shift`) µs, which must not be narrower
    /// than those of the series.
    fn with_shift(&self, shift: u32) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        self.merged_to(self.by_key(), shift)
    }

    /// Like `with_shift`, for the buckets as returned by `by_key`.
    fn merged_to(&self, buckets: Vec<(i64, &B)>, shift: u32) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        let width = 1 << (MIN_WIDTH_LOG2 + shift);
        let mut list: Vec<(Time, B)> = Vec::with_capacity(if shift == self.shift { self.buckets.len() } else { 0 });
        for (key, bucket) in buckets {
            let at = Time((key >> (shift - self.shift)).saturating_mul(width));
            match list.last_mut() {
                Some((known, mine)) if *known == at => mine.merge(bucket),
                _ => list.push((at, bucket.clone())),
            }
        }
        (width, list)
    }

    /// Returns all buckets in time order, with their keys.
    fn by_key(&self) -> Vec<(i64, &B)> {
        let ends = |(first, last): (i64, i64), (key, _): &(i64, B)| (first.min(*key), last.max(*key));
        let (first, last) = self.buckets.iter().fold((i64::MAX, i64::MIN), ends);
        let mut list = Vec::with_capacity(self.buckets.len());
        if last.abs_diff(first) < self.slots.len() as u64 {
            // The range of keys is smaller than the table, so no two keys have the same home slot, and each is in its
            // own.
            let indices = (first..=last).filter_map(|key| usize::from(self.slots[self.home_slot(key)]).checked_sub(1));
            list.extend(indices.map(|index| &self.buckets[index]).map(|(key, bucket)| (*key, bucket)));
        } else {
            list.extend(self.buckets.iter().map(|(key, bucket)| (*key, bucket)));
            list.sort_unstable_by_key(|(key, _)| *key);
        }
        list
    }

    /// Iterates over all buckets and their start times, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &B)> {
        let width = self.width_us();
        self.buckets.iter().map(move |(key, bucket)| (Time(key.saturating_mul(width)), bucket))
    }

    /// Iterates over the contents of all buckets, in no particular order.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut B> {
        self.buckets.iter_mut().map(|(_, bucket)| bucket)
    }

    #[inline]
    fn put(&mut self, key: i64, bucket: B) {
        match self.buckets.get_mut(self.last) {
            Some((known, mine)) if *known == key => mine.merge(&bucket),
            _ => self.merge_at(key, bucket),
        }
    }

    fn merge_at(&mut self, key: i64, bucket: B) {
        if let Some(index) = self.index_of(key) {
            self.last = index;
            return self.buckets[index].1.merge(&bucket);
        }
        self.insert_and_widen(key, bucket);
    }

    /// Adds a bucket with a new key, and widens all buckets if there are too many.
    fn insert_and_widen(&mut self, key: i64, bucket: B) {
        self.insert(key, bucket);
        while self.buckets.len() > MAX_BUCKETS {
            self.widen();
        }
    }

    /// Adds an empty bucket at `at`, which has none, and returns its index.
    fn insert_default(&mut self, at: Time) -> usize
    where
        B: Default,
    {
        self.insert_and_widen(at.0 >> (MIN_WIDTH_LOG2 + self.shift), B::default());
        self.index_of(at.0 >> (MIN_WIDTH_LOG2 + self.shift)).unwrap_or(self.last)
    }

    /// Returns the index of the bucket with this key.
    fn index_of(&self, key: i64) -> Option<usize> {
        self.index_among(self.buckets.len(), key)
    }

    /// Returns the index of the bucket with this key among the first `count` buckets; only those may be in `slots`.
    fn index_among(&self, count: usize, key: i64) -> Option<usize> {
        if self.slots.is_empty() {
            return self.buckets[..count].iter().position(|(known, _)| *known == key);
        }
        let mut slot = self.home_slot(key);
        while let Some(index) = usize::from(self.slots[slot]).checked_sub(1) {
            if self.buckets[index].0 == key {
                return Some(index);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// Adds a bucket with a new key.
    fn insert(&mut self, key: i64, bucket: B) {
        self.last = self.buckets.len();
        if self.last == self.buckets.capacity() {
            // Grow rarely and by large steps: copying buckets costs more than the memory.
            self.buckets.reserve_exact((self.last * 3 + 4).min((MAX_BUCKETS + 1).saturating_sub(self.last).max(1)));
        }
        self.buckets.push((key, bucket));
        let count = self.buckets.len();
        // A bucket beyond `MAX_BUCKETS` is merged at once, so it needs no slot.
        if count > MAX_LINEAR_SEARCH && count * 2 > self.slots.len() && count <= MAX_BUCKETS {
            self.slots.clear();
            self.slots.resize((count * 4).next_power_of_two(), 0);
            (0..count).for_each(|index| self.enter(index));
        } else if !self.slots.is_empty() {
            self.enter(count - 1);
        }
    }

    /// Enters the bucket at `index` in `slots`.
    fn enter(&mut self, index: usize) {
        let mut slot = self.home_slot(self.buckets[index].0);
        while self.slots[slot] != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = index as u16 + 1;
    }

    /// Returns the slot at which the search for a key starts.
    fn home_slot(&self, key: i64) -> usize {
        key as usize & (self.slots.len() - 1)
    }

    /// Doubles the width of the buckets in place.
    fn widen(&mut self) {
        self.shift += 1;
        self.slots.fill(0);
        self.last = 0;
        // The first `kept` buckets are those with the new width.
        let mut kept = 0;
        for index in 0..self.buckets.len() {
            let key = self.buckets[index].0 >> 1;
            let is_last = kept > 0 && self.buckets[kept - 1].0 == key;
            if let Some(target) = if is_last { Some(kept - 1) } else { self.index_among(kept, key) } {
                let (mine, theirs) = self.buckets.split_at_mut(index);
                mine[target].1.merge(&theirs[0].1);
            } else {
                self.buckets.swap(kept, index);
                self.buckets[kept].0 = key;
                if !self.slots.is_empty() {
                    self.enter(kept);
                }
                kept += 1;
            }
        }
        self.buckets.truncate(kept);
    }
}

/// Counts the pairs of neighbours among sorted numbers by the highest bit in which they differ, from 1, or 0 if they
/// are equal; the first number counts at 64. Two neighbours are in different buckets until that bit is shifted out, so
/// a sum of these counts is the number of buckets for a given shift.
fn count_by_differing_bit(numbers: impl Iterator<Item = i64>) -> [usize; 65] {
    let mut counts = [0; 65];
    let mut previous = None;
    for number in numbers {
        let bits = previous.replace(number).map_or(64, |previous: i64| 64 - (previous ^ number).leading_zeros());
        counts[bits as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Count(u64);

    impl Mergeable for Count {
        fn merge(&mut self, other: &Self) {
            self.0 += other.0;
        }
    }

    fn filled(times: impl Iterator<Item = i64>) -> TimeSeries<Count> {
        let mut series = TimeSeries::default();
        times.for_each(|us| series.add(Time(us), Count(1)));
        series
    }

    #[test]
    fn buckets_widen_instead_of_growing_in_number() {
        let (width, buckets) = filled((0..100_000).map(|i| i * 20_000)).sorted();
        assert!(buckets.len() <= 2048);
        assert!(width > 1 << 14);
        assert_eq!(buckets.iter().map(|(_, count)| count.0).sum::<u64>(), 100_000);
    }

    #[test]
    fn the_order_of_events_and_of_merging_does_not_matter() {
        let times: Vec<i64> = (0..50_000).map(|i| (i * 7_919) % 90_000_000_000).collect();
        let whole = filled(times.iter().copied());
        let mut parts = filled(times[30_000..].iter().rev().copied());
        parts.merge(filled(times[..100].iter().copied()));
        parts.merge(filled(times[100..30_000].iter().copied()));
        assert_eq!(whole.sorted(), parts.sorted());
    }
}
