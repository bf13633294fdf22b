//! Time buckets that grow coarser rather than more numerous.
//!
//! Merging is associative and does not depend on order: the width of a bucket follows from the set of times
//! alone, since a coarser width is chosen only when a finer one would need too many buckets.

use super::Time;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// What a bucket holds. Merging must be associative and commutative.
pub trait Mergeable {
    /// Takes in what another bucket, or a single event, holds.
    fn merge(&mut self, other: &Self);
}

/// Buckets over time, at most [`Series::MOST`] of them.
#[derive(Clone, Debug)]
pub struct Series<B> {
    /// A bucket is `2^(FINEST + shift)` µs wide.
    shift: u32,
    buckets: HashMap<i64, B, RandomState>,
    /// The bucket written last, kept out of the map while events of one moment arrive together.
    recent: Option<(i64, B)>,
}

impl<B> Default for Series<B> {
    fn default() -> Self {
        Series { shift: 0, buckets: HashMap::default(), recent: None }
    }
}

impl<B: Mergeable + Clone> Series<B> {
    /// Most buckets kept: two for every pixel of a chart 1,000 px wide.
    pub const MOST: usize = 2048;
    /// The finest bucket is 2^14 µs, some 16 ms.
    const FINEST: u32 = 14;

    /// Adds one event.
    pub fn add(&mut self, at: Time, event: B) {
        let key = at.0 >> (Self::FINEST + self.shift);
        match &mut self.recent {
            Some((recent, bucket)) if *recent == key => bucket.merge(&event),
            _ => {
                self.flush();
                // Flushing may have widened the buckets.
                self.recent = Some((at.0 >> (Self::FINEST + self.shift), event));
            }
        }
    }

    /// Takes in every bucket of `other`.
    pub fn merge(&mut self, mut other: Series<B>) {
        self.flush();
        other.flush();
        while self.shift < other.shift {
            self.widen();
        }
        for (key, bucket) in other.buckets {
            self.put(key >> (self.shift - other.shift), bucket);
        }
        self.fit();
    }

    /// Width of a bucket in µs.
    #[must_use]
    pub fn width_us(&self) -> i64 {
        1 << (Self::FINEST + self.shift)
    }

    /// All buckets in time order, with the moment each starts.
    #[must_use]
    pub fn sorted(mut self) -> (i64, Vec<(Time, B)>) {
        self.flush();
        let width = self.width_us();
        let mut list: Vec<(i64, B)> = self.buckets.into_iter().collect();
        list.sort_unstable_by_key(|(key, _)| *key);
        (width, list.into_iter().map(|(key, bucket)| (Time(key.saturating_mul(width)), bucket)).collect())
    }

    fn flush(&mut self) {
        if let Some((key, bucket)) = self.recent.take() {
            self.put(key, bucket);
            self.fit();
        }
    }

    fn put(&mut self, key: i64, bucket: B) {
        match self.buckets.entry(key) {
            std::collections::hash_map::Entry::Occupied(mut known) => known.get_mut().merge(&bucket),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(bucket);
            }
        }
    }

    fn fit(&mut self) {
        while self.buckets.len() > Self::MOST {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.shift += 1;
        for (key, bucket) in std::mem::take(&mut self.buckets) {
            self.put(key >> 1, bucket);
        }
    }
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
        assert!(buckets.len() <= Series::<Count>::MOST);
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
