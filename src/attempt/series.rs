//! Time buckets that grow coarser rather than more numerous.
//!
//! Merging is associative and does not depend on order: the width of a bucket follows from the set of times
//! alone, since a coarser width is chosen only when a finer one would need too many buckets.

use super::Time;

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
    /// In the order of their keys. A log is nearly in order, so a new bucket nearly always goes to the end.
    buckets: Vec<(i64, B)>,
}

impl<B> Default for Series<B> {
    fn default() -> Self {
        Series { shift: 0, buckets: Vec::new() }
    }
}

impl<B: Mergeable + Clone> Series<B> {
    /// Most buckets kept: two for every pixel of a chart 1,000 px wide.
    pub const MOST: usize = 2048;
    /// The finest bucket is 2^16 µs, some 66 ms: no limit is drained faster than that.
    const FINEST: u32 = 16;

    /// Adds one event.
    pub fn add(&mut self, at: Time, event: B) {
        self.put(at.0 >> (Self::FINEST + self.shift), event);
        self.fit();
    }

    fn put(&mut self, key: i64, bucket: B) {
        match self.place(key) {
            Ok(place) => self.buckets[place].1.merge(&bucket),
            Err(place) => self.buckets.insert(place, (key, bucket)),
        }
    }

    /// Where `key` is, or belongs: looked for from the end, where the latest times are.
    fn place(&self, key: i64) -> Result<usize, usize> {
        const NEAR: usize = 16;
        let far = self.buckets.len().saturating_sub(NEAR);
        if self.buckets.get(far).is_none_or(|(first, _)| key < *first) {
            return self.buckets.binary_search_by_key(&key, |(known, _)| *known);
        }
        let after = self.buckets[far..].iter().rposition(|(known, _)| *known <= key).map_or(far, |place| far + place);
        if self.buckets[after].0 == key { Ok(after) } else { Err(after + 1) }
    }

    /// Takes in every bucket of `other`.
    pub fn merge(&mut self, mut other: Series<B>) {
        while self.shift < other.shift {
            self.widen();
        }
        while other.shift < self.shift {
            other.widen();
        }
        // A few buckets are put where they belong; only many are worth passing through all.
        if other.buckets.len() * 8 < self.buckets.len() {
            other.buckets.into_iter().for_each(|(key, bucket)| self.put(key, bucket));
            return self.fit();
        }
        let mine = std::mem::take(&mut self.buckets);
        self.buckets.reserve(mine.len() + other.buckets.len());
        let (mut left, mut right) = (mine.into_iter().peekable(), other.buckets.into_iter().peekable());
        while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
            let next = if a <= b { left.next() } else { right.next() };
            next.into_iter().for_each(|bucket| self.append(bucket));
        }
        left.chain(right).for_each(|bucket| self.append(bucket));
        self.fit();
    }

    /// The same series with at most `most` buckets.
    #[must_use]
    pub fn at_most(mut self, most: usize) -> Series<B> {
        while self.buckets.len() > most.max(1) {
            self.widen();
        }
        self
    }

    /// Width of a bucket in µs.
    #[must_use]
    pub fn width_us(&self) -> i64 {
        1 << (Self::FINEST + self.shift)
    }

    /// Width of a bucket, and all buckets in time order with the moment each starts.
    #[must_use]
    pub fn sorted(self) -> (i64, Vec<(Time, B)>) {
        let width = self.width_us();
        let times = self.buckets.into_iter().map(|(key, bucket)| (Time(key.saturating_mul(width)), bucket));
        (width, times.collect())
    }

    /// What every bucket holds.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut B> {
        self.buckets.iter_mut().map(|(_, bucket)| bucket)
    }

    /// Adds a bucket whose key is none before the last one's.
    fn append(&mut self, (key, bucket): (i64, B)) {
        match self.buckets.last_mut() {
            Some((last, known)) if *last == key => known.merge(&bucket),
            _ => self.buckets.push((key, bucket)),
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
            self.append((key >> 1, bucket));
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
