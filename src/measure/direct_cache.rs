//! What was looked up lately: neighbours in a log are of the same few runs and accounts.

/// Places, by the last bits of a number.
const PLACES: usize = 512;

/// What was found lately under a key, by a small number of the key's. It takes the same room however many there are.
#[derive(Debug)]
pub(super) struct DirectCache<K, V>(Vec<Option<(K, V)>>);

impl<K, V> Default for DirectCache<K, V> {
    fn default() -> Self {
        DirectCache(Vec::new())
    }
}

impl<K: Copy + PartialEq, V: Copy> DirectCache<K, V> {
    /// What is under `key`, whose number is `number`; `find` is asked where that was not looked up lately.
    #[inline]
    pub(super) fn get(&mut self, key: K, number: usize, find: impl FnOnce() -> V) -> V {
        match self.0.get(number % PLACES) {
            Some(Some((known, value))) if *known == key => *value,
            _ => self.note(key, number, find()),
        }
    }

    fn note(&mut self, key: K, number: usize, value: V) -> V {
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
