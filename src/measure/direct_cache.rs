//! Cache of recent look-ups: neighbouring records belong to the same few runs and accounts.

/// Number of slots.
const SLOTS: usize = 512;

/// Direct-mapped cache of values by key. The number of a key, modulo the number of slots, selects its slot.
#[derive(Debug)]
pub(super) struct DirectCache<K, V>(Vec<Option<(K, V)>>);

impl<K, V> Default for DirectCache<K, V> {
    fn default() -> Self {
        DirectCache(Vec::new())
    }
}

impl<K: Copy + PartialEq, V: Copy> DirectCache<K, V> {
    /// Returns the value of `key`, whose number is `number`; calls `find` if it is not cached.
    #[inline]
    pub(super) fn get(&mut self, key: K, number: usize, find: impl FnOnce() -> V) -> V {
        match self.find(key, number) {
            Some(value) => value,
            None => self.insert(key, number, find()),
        }
    }

    /// Returns the value of `key`, if it is cached.
    #[inline]
    pub(super) fn find(&self, key: K, number: usize) -> Option<V> {
        match self.0.get(number % SLOTS) {
            Some(Some((known, value))) if *known == key => Some(*value),
            _ => None,
        }
    }

    pub(super) fn insert(&mut self, key: K, number: usize, value: V) -> V {
        self.0.resize(SLOTS, None);
        self.0[number % SLOTS] = Some((key, value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_the_same_slot_are_distinguished() {
        let mut cache = DirectCache::default();
        let mut misses = 0;
        for number in [1, 1, 1 + SLOTS, 1 + SLOTS, 1] {
            let found = cache.get(number, number, || {
                misses += 1;
                number * 10
            });
            assert_eq!(found, number * 10);
        }
        assert_eq!(misses, 3);
    }
}
