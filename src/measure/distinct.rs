//! Counts distinct names in bounded memory.
//!
//! Keeps the smallest hashes of a set, which merge into those of the union (Bar-Yossef et al., Counting Distinct
//! Elements in a Data Stream, 2002): exact up to [`Distinct::EXACT`] names, an estimate within some 20% beyond.

use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// Smallest hashes of the names seen, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Distinct {
    smallest: SmallVec<[u32; 4]>,
}

impl Distinct {
    /// Largest number of names for which the count is exact.
    pub(super) const EXACT: usize = 32;

    /// Creates the set of one name.
    #[must_use]
    pub(super) fn one(name: &str) -> Distinct {
        let hash = FixedState::with_seed(0).hash_one(name);
        Distinct { smallest: SmallVec::from_slice(&[(hash >> 32) as u32]) }
    }

    pub(super) fn merge(&mut self, other: &Distinct) {
        for hash in &other.smallest {
            if let Err(index) = self.smallest.binary_search(hash)
                && index <= Self::EXACT
            {
                self.smallest.insert(index, *hash);
                self.smallest.truncate(Self::EXACT + 1);
            }
        }
    }

    /// Returns the number of names, and whether it is exact.
    #[must_use]
    pub(super) fn count(&self) -> (u64, bool) {
        match self.smallest.get(Self::EXACT) {
            None => (self.smallest.len() as u64, true),
            Some(last) => {
                let share = (f64::from(*last) + 1.0) / 2_f64.powi(32);
                ((Self::EXACT as f64 / share).round() as u64, false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: std::ops::Range<u32>) -> Distinct {
        let mut set = Distinct::default();
        names.for_each(|name| set.merge(&Distinct::one(&format!("run-{name}"))));
        set
    }

    #[test]
    fn few_names_are_counted_exactly() {
        let mut set = of(0..20);
        set.merge(&of(10..32));
        assert_eq!(set.count(), (32, true));
    }

    #[test]
    fn many_names_are_estimated_regardless_of_order() {
        let (mut left, mut right) = (of(0..700), of(600..2000));
        let original = right.clone();
        right.merge(&left);
        left.merge(&original);
        assert_eq!(left, right);
        let (count, exact) = left.count();
        assert!(!exact && (1_400..2_800).contains(&count), "{count}");
    }
}
