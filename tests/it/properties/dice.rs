//! Chance that repeats: the same seed, the same throws, on every machine.

/// A SplitMix64 generator.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Dice of their own for a part of the whole, which then does not change when another part throws more often.
    pub(crate) fn fork(&mut self) -> Dice {
        Dice(self.word())
    }

    /// From 0 up to, but not, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// A whole number, both ends included.
    pub(crate) fn whole(&mut self, least: usize, most: usize) -> usize {
        least + (self.word() % (most - least + 1) as u64) as usize
    }

    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.whole(0, list.len() - 1)]
    }

    /// A time between events that come independently, this long apart on average.
    pub(crate) fn gap(&mut self, mean: f64) -> f64 {
        -(1.0 - self.unit()).ln() * mean
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.whole(0, place));
        }
    }
}
