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

/// Buckets over time, at most `MOST` of them; the default is two for every pixel of a chart 1,000 px wide.
#[derive(Clone, Debug)]
pub struct Series<B, const MOST: usize = 2048> {
    /// A bucket is `2^(FINEST + shift)` µs wide.
    shift: u32,
    /// Key and contents of each bucket, in insertion order; keys are unique.
    buckets: Vec<(i64, B)>,
    /// Hash table of bucket indices by key, plus 1, with 0 for empty. Open addressing by the last bits of the key, so
    /// that neighbours in time are neighbours here; never more than half full. Empty while there are so few buckets
    /// that a linear search is as fast.
    places: Vec<u16>,
    /// Index of the bucket used last, which the next event nearly always uses too.
    last: usize,
}

impl<B, const MOST: usize> Default for Series<B, MOST> {
    fn default() -> Self {
        Series { shift: 0, buckets: Vec::new(), places: Vec::new(), last: 0 }
    }
}

/// Binary logarithm of the finest width in µs: 2^16 µs is some 66 ms, and no limit is drained faster.
const FINEST: u32 = 16;
/// Maximum number of buckets that are searched linearly.
const FEW: usize = 8;

impl<B: Mergeable, const MOST: usize> Series<B, MOST> {
    /// Adds one event.
    pub fn add(&mut self, at: Time, event: B) {
        self.put(at.0 >> (FINEST + self.shift), event);
    }

    /// Changes the bucket at a time, adding a default one if absent, which must be neutral in merging.
    #[inline]
    pub fn update(&mut self, at: Time, change: impl FnOnce(&mut B))
    where
        B: Default,
    {
        let key = at.0 >> (FINEST + self.shift);
        if self.buckets.get(self.last).is_none_or(|(known, _)| *known != key) {
            self.last = self.find(key).unwrap_or_else(|| self.find_new(at));
        }
        if let Some((_, bucket)) = self.buckets.get_mut(self.last) {
            change(bucket);
        }
    }

    /// Returns an empty series as wide as `other`. If the events of both end up in one series, its width cannot be
    /// finer.
    pub(super) fn as_wide<O>(other: &Series<O, MOST>) -> Self {
        Series { shift: other.shift, ..Series::default() }
    }

    /// Builds a series from buckets of this width in µs, each with a time in it, as returned by [`Series::sorted`].
    /// Returns `None` if no series has this width, or this many buckets.
    pub(crate) fn of_buckets(width_us: i64, buckets: Vec<(Time, B)>) -> Option<Self> {
        let shift = u64::try_from(width_us).ok().filter(|width| width.is_power_of_two())?.trailing_zeros();
        let mut series = Series { shift: shift.checked_sub(FINEST)?, ..Series::default() };
        if buckets.len() > MOST {
            return None;
        }
        buckets.into_iter().for_each(|(at, bucket)| series.add(at, bucket));
        Some(series)
    }

    /// Returns the buckets without their contents.
    pub(super) fn outline(&self) -> Series<(), MOST> {
        let buckets = self.buckets.iter().map(|(key, _)| (*key, ())).collect();
        Series { shift: self.shift, buckets, places: self.places.clone(), last: self.last }
    }

    /// Returns the bucket at `at`, if there is one.
    #[inline]
    pub(super) fn known(&mut self, at: Time) -> Option<&mut B> {
        let key = at.0 >> (FINEST + self.shift);
        if self.buckets.get(self.last).is_none_or(|(known, _)| *known != key) {
            self.last = self.find(key)?;
        }
        self.buckets.get_mut(self.last).map(|(_, bucket)| bucket)
    }

    /// Adds the first event of a bucket, for which [`Series::known`] returned `None`.
    pub(super) fn add_first(&mut self, at: Time, event: B) {
        self.insert_first(at.0 >> (FINEST + self.shift), event);
    }

    /// Adds every bucket of `other`.
    pub fn merge(&mut self, other: Series<B, MOST>) {
        if self.buckets.is_empty() && self.shift <= other.shift {
            *self = other;
            return;
        }
        while self.shift < other.shift {
            self.widen();
        }
        for (key, bucket) in other.buckets {
            // The series may grow wider on the way.
            self.put(key >> (self.shift - other.shift), bucket);
        }
    }

    /// Sets the width of an empty series to the one it will have once events at `times`, in order, are added. Growing
    /// through all the widths would move the buckets again and again.
    pub(crate) fn begin_for(&mut self, times: impl IntoIterator<Item = Time>) {
        if !self.buckets.is_empty() {
            return;
        }
        let parted = parted(times.into_iter().map(|Time(at)| at));
        let buckets = |shift: u32| parted[(FINEST + shift + 1) as usize..].iter().sum::<usize>();
        let shift = (0..64 - FINEST).find(|shift| buckets(*shift) <= MOST).unwrap_or_default();
        self.shift = self.shift.max(shift);
    }

    /// Returns the width of a bucket in µs.
    #[must_use]
    pub fn width_us(&self) -> i64 {
        1 << (FINEST + self.shift)
    }

    /// Returns the width of a bucket in µs, and all buckets in time order with their start times.
    #[must_use]
    pub fn by_time(&self) -> (i64, Vec<(Time, &B)>) {
        let width = self.width_us();
        let begins = |(key, bucket): (i64, _)| (Time(key.saturating_mul(width)), bucket);
        (width, self.in_order().into_iter().map(begins).collect())
    }

    /// Like [`Series::by_time`], with copies of the buckets.
    #[must_use]
    pub fn sorted(&self) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        self.shifted(self.shift)
    }

    /// Like [`Series::sorted`], merged into at most `most` buckets.
    #[must_use]
    pub fn at_most(&self, most: usize) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        let buckets = self.in_order();
        let parted = parted(buckets.iter().map(|(key, _)| *key));
        let count = |shift: u32| parted[shift as usize + 1..].iter().sum::<usize>();
        let wider = (0..64 - FINEST - self.shift).find(|shift| count(*shift) <= most.max(1)).unwrap_or_default();
        self.joined(buckets, self.shift + wider)
    }

    /// Like [`Series::sorted`], merged into buckets of at least `least_us` µs.
    #[must_use]
    pub fn no_finer_than(&self, least_us: i64) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        let wide_enough = |shift: &u32| 1_i64 << (FINEST + shift) >= least_us;
        self.shifted((self.shift..63 - FINEST).find(wide_enough).unwrap_or(self.shift))
    }

    /// Like [`Series::sorted`], merged into buckets of 2^(FINEST + `shift`) µs, which must not be finer than those of
    /// the series.
    fn shifted(&self, shift: u32) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        self.joined(self.in_order(), shift)
    }

    /// Like `shifted`, for buckets already in time order.
    fn joined(&self, buckets: Vec<(i64, &B)>, shift: u32) -> (i64, Vec<(Time, B)>)
    where
        B: Clone,
    {
        let width = 1 << (FINEST + shift);
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
    fn in_order(&self) -> Vec<(i64, &B)> {
        let ends = |(first, last): (i64, i64), (key, _): &(i64, B)| (first.min(*key), last.max(*key));
        let (first, last) = self.buckets.iter().fold((i64::MAX, i64::MIN), ends);
        let mut list = Vec::with_capacity(self.buckets.len());
        if last.abs_diff(first) < self.places.len() as u64 {
            // The range of keys is smaller than the table, so each key is in its home place.
            let indices = (first..=last).filter_map(|key| usize::from(self.places[self.home(key)]).checked_sub(1));
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
            _ => self.put_elsewhere(key, bucket),
        }
    }

    fn put_elsewhere(&mut self, key: i64, bucket: B) {
        if let Some(place) = self.find(key) {
            self.last = place;
            return self.buckets[place].1.merge(&bucket);
        }
        self.insert_first(key, bucket);
    }

    /// Adds a bucket with a new key, and widens all buckets if there are too many.
    fn insert_first(&mut self, key: i64, bucket: B) {
        self.insert(key, bucket);
        while self.buckets.len() > MOST {
            self.widen();
        }
    }

    /// Adds an empty bucket at `at`, which has none, and returns its index.
    fn find_new(&mut self, at: Time) -> usize
    where
        B: Default,
    {
        self.insert_first(at.0 >> (FINEST + self.shift), B::default());
        self.find(at.0 >> (FINEST + self.shift)).unwrap_or(self.last)
    }

    fn find(&self, key: i64) -> Option<usize> {
        self.find_among(self.buckets.len(), key)
    }

    /// Finds a key among the first `count` buckets, the only ones entered in `places`.
    fn find_among(&self, count: usize, key: i64) -> Option<usize> {
        if self.places.is_empty() {
            return self.buckets[..count].iter().position(|(known, _)| *known == key);
        }
        let mut place = self.home(key);
        while let Some(index) = usize::from(self.places[place]).checked_sub(1) {
            if self.buckets[index].0 == key {
                return Some(index);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
        None
    }

    /// Adds a bucket with a new key.
    fn insert(&mut self, key: i64, bucket: B) {
        self.last = self.buckets.len();
        if self.last == self.buckets.capacity() {
            // Grow rarely and by large steps: copying buckets costs more than the memory.
            self.buckets.reserve_exact((self.last * 3 + 4).min((MOST + 1).saturating_sub(self.last).max(1)));
        }
        self.buckets.push((key, bucket));
        let count = self.buckets.len();
        // A bucket beyond `MOST` is merged at once, so it needs no place.
        if count > FEW && count * 2 > self.places.len() && count <= MOST {
            self.places.clear();
            self.places.resize((count * 4).next_power_of_two(), 0);
            (0..count).for_each(|index| self.note(index));
        } else if !self.places.is_empty() {
            self.note(count - 1);
        }
    }

    /// Enters the bucket at `index` in `places`.
    fn note(&mut self, index: usize) {
        let mut place = self.home(self.buckets[index].0);
        while self.places[place] != 0 {
            place = (place + 1) & (self.places.len() - 1);
        }
        self.places[place] = index as u16 + 1;
    }

    fn home(&self, key: i64) -> usize {
        key as usize & (self.places.len() - 1)
    }

    /// Doubles the width of the buckets in place.
    fn widen(&mut self) {
        self.shift += 1;
        self.places.fill(0);
        self.last = 0;
        let mut kept = 0;
        for index in 0..self.buckets.len() {
            let key = self.buckets[index].0 >> 1;
            let is_last = kept > 0 && self.buckets[kept - 1].0 == key;
            if let Some(place) = if is_last { Some(kept - 1) } else { self.find_among(kept, key) } {
                let (mine, theirs) = self.buckets.split_at_mut(index);
                mine[place].1.merge(&theirs[0].1);
            } else {
                self.buckets.swap(kept, index);
                self.buckets[kept].0 = key;
                if !self.places.is_empty() {
                    self.note(kept);
                }
                kept += 1;
            }
        }
        self.buckets.truncate(kept);
    }
}

/// Counts the pairs of neighbours among sorted numbers by the highest bit in which they differ, from 1, or 0 if they
/// are equal; the first number counts at 64. Neighbours are in different buckets until that bit is shifted out.
fn parted(numbers: impl Iterator<Item = i64>) -> [usize; 65] {
    let mut parted = [0; 65];
    let mut before = None;
    for number in numbers {
        let bits = before.replace(number).map_or(64, |before: i64| 64 - (before ^ number).leading_zeros());
        parted[bits as usize] += 1;
    }
    parted
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

    fn filled(times: impl Iterator<Item = i64>) -> Series<Count> {
        let mut series = Series::default();
        times.for_each(|us| series.add(Time(us), Count(1)));
        series
    }

    #[test]
    fn widens_instead_of_growing() {
        let (width, buckets) = filled((0..100_000).map(|i| i * 20_000)).sorted();
        assert!(buckets.len() <= 2048);
        assert!(width > 1 << 14);
        assert_eq!(buckets.iter().map(|(_, count)| count.0).sum::<u64>(), 100_000);
    }

    #[test]
    fn order_and_cuts_do_not_matter() {
        let times: Vec<i64> = (0..50_000).map(|i| (i * 7_919) % 90_000_000_000).collect();
        let whole = filled(times.iter().copied());
        let mut parts = filled(times[30_000..].iter().rev().copied());
        parts.merge(filled(times[..100].iter().copied()));
        parts.merge(filled(times[100..30_000].iter().copied()));
        assert_eq!(whole.sorted(), parts.sorted());
    }
}
