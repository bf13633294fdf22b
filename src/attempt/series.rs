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
    /// In the order of their keys, one a key.
    buckets: Vec<(i64, B)>,
    /// What was added last, and waits to be put among them.
    loose: Loose<B>,
}

/// Buckets in no order, some of them twice. Events come nearly in the order of time: most meet a bucket in the
/// ring, where looking and adding cost next to nothing.
#[derive(Clone, Debug)]
struct Loose<B> {
    /// Buckets by the last bits of their keys; empty until there are enough events to be worth it.
    ring: Vec<Option<(i64, B)>>,
    /// Those that others took the place of.
    rest: Vec<(i64, B)>,
}

impl<B> Default for Series<B> {
    fn default() -> Self {
        Series { shift: 0, buckets: Vec::new(), loose: Loose { ring: Vec::new(), rest: Vec::new() } }
    }
}

impl<B: Mergeable + Clone> Loose<B> {
    /// Places of the ring: 33 s of the finest buckets, longer than most answers take.
    const RING: usize = 512;
    /// Events before there is a ring: summaries of a few events stay small.
    const FEW: usize = 64;

    /// Adds one event; says whether so much has piled up that it should be put in order.
    fn add(&mut self, key: i64, event: B) -> bool {
        if self.ring.is_empty() {
            if self.rest.len() < Self::FEW {
                self.rest.push((key, event));
                return false;
            }
            self.ring.resize(Self::RING, None);
        }
        match &mut self.ring[key as usize % Self::RING] {
            Some((known, bucket)) if *known == key => bucket.merge(&event),
            place => self.rest.extend(place.replace((key, event))),
        }
        self.rest.len() >= Series::<B>::MOST
    }

    /// Everything, in order, one a key.
    fn take(&mut self) -> Vec<(i64, B)> {
        let mut list = std::mem::take(&mut self.rest);
        list.extend(self.ring.iter_mut().filter_map(Option::take));
        list.sort_unstable_by_key(|(key, _)| *key);
        list.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1.merge(&later.1);
            }
            same
        });
        list
    }

    fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.ring.iter().all(Option::is_none)
    }
}

impl<B: Mergeable + Clone> Series<B> {
    /// Most buckets kept: two for every pixel of a chart 1,000 px wide.
    pub const MOST: usize = 2048;
    /// The finest bucket is 2^16 µs, some 66 ms: no limit is drained faster than that.
    const FINEST: u32 = 16;

    /// Adds one event.
    pub fn add(&mut self, at: Time, event: B) {
        if self.loose.add(at.0 >> (Self::FINEST + self.shift), event) {
            self.settle();
        }
    }

    /// Takes in every bucket of `other`.
    pub fn merge(&mut self, mut other: Series<B>) {
        self.settle();
        other.settle();
        self.loose.ring = Vec::new();
        while self.shift < other.shift {
            self.widen();
        }
        while other.shift < self.shift {
            other.widen();
        }
        self.put(other.buckets);
    }

    /// Puts what is loose in its place.
    fn settle(&mut self) {
        if !self.loose.is_empty() {
            let loose = self.loose.take();
            self.put(loose);
        }
    }

    /// Takes in buckets of the same width, in order.
    fn put(&mut self, list: Vec<(i64, B)>) {
        // A few buckets are put where they belong; only many are worth passing through all.
        if list.len() * 8 < self.buckets.len() {
            for (key, bucket) in list {
                match self.buckets.binary_search_by_key(&key, |(known, _)| *known) {
                    Ok(place) => self.buckets[place].1.merge(&bucket),
                    Err(place) => self.buckets.insert(place, (key, bucket)),
                }
            }
            return self.fit();
        }
        if self.buckets.is_empty() {
            self.buckets = list;
            return self.fit();
        }
        let mine = std::mem::take(&mut self.buckets);
        self.buckets.reserve(mine.len() + list.len());
        let (mut left, mut right) = (mine.into_iter().peekable(), list.into_iter().peekable());
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
        self.settle();
        while self.buckets.len() > most.max(1) {
            self.widen();
        }
        self
    }

    /// The same series with buckets of at least `least_us` µs.
    #[must_use]
    pub fn no_finer_than(mut self, least_us: i64) -> Series<B> {
        while self.width_us() < least_us {
            self.widen();
        }
        self
    }

    /// Width of a bucket in µs.
    #[must_use]
    pub fn width_us(&self) -> i64 {
        if self.loose.is_empty() { 1 << (Self::FINEST + self.shift) } else { self.clone().sorted().0 }
    }

    /// Width of a bucket in µs, and all buckets in time order with the moment each starts.
    #[must_use]
    pub fn sorted(mut self) -> (i64, Vec<(Time, B)>) {
        self.settle();
        let width = 1 << (Self::FINEST + self.shift);
        let times = self.buckets.into_iter().map(|(key, bucket)| (Time(key.saturating_mul(width)), bucket));
        (width, times.collect())
    }

    /// What every bucket holds; two may be of one stretch.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut B> {
        let loose = self.loose.ring.iter_mut().flatten().chain(&mut self.loose.rest);
        self.buckets.iter_mut().chain(loose).map(|(_, bucket)| bucket)
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

    /// Makes buckets twice as wide; nothing is loose.
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
