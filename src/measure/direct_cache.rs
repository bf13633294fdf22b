//! Cache of recent look-ups: neighbouring records belong to the same few runs and accounts.

/// Number of entries; the index is a key's number modulo this.
const PLACES: usize = 512;

/// Direct-mapped cache of values by key, indexed by a small number of the key. Its size is fixed.
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
            None => self.note(key, number, find()),
        }
    }

    /// Returns the value of `key`, if it is cached.
    #[inline]
    pub(super) fn find(&self, key: K, number: usize) -> Option<V> {
        match self.0.get(number % PLACES) {
            Some(Some((known, value))) if *known == key => Some(*value),
            _ => None,
        }
    }

    pub(super) fn note(&mut self, key: K, number: usize, value: V) -> V {
        self.0.resize(PLACES, None);
        self.0[number % PLACES] = Some((key, value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_share_a_place_are_told_apart() {
        let mut lately = DirectCache::default();
        let mut asked = 0;
        for number in [1, 1, 1 + PLACES, 1 + PLACES, 1] {
            let found = lately.get(number, number, || {
                asked += 1;
                number * 10
            });
            assert_eq!(found, number * 10);
        }
        assert_eq!(asked, 3);
    }
}
