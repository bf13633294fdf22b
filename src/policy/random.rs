//! Random numbers as in Python, so that a simulation can be repeated there.

use rand_mt::Mt;

/// CPython's `random.Random`: MT19937 seeded by `init_by_array`, and floats of 53 bits.
pub struct Random(Mt);

impl Random {
    /// Equivalent of `random.Random(seed)`.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        // The key is the seed in 32-bit words, the low one first, without leading zeros.
        let words = [seed as u32, (seed >> 32) as u32];
        let key = if words[1] == 0 { &words[..1] } else { &words[..] };
        Random(Mt::new_with_key(key.iter().copied()))
    }

    /// Equivalent of `random()`: at least 0 and less than 1.
    pub fn unit(&mut self) -> f64 {
        // 53 bits as in CPython: 27 high bits times 2^26, plus 26 low bits, divided by 2^53.
        let (high, low) = (self.0.next_u32() >> 5, self.0.next_u32() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// Equivalent of `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Equivalent of `expovariate(1 / mean)`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.unit()) * mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of CPython 3 for `r = random.Random(seed); [r.random() for _ in range(3)]`.
    #[test]
    fn numbers_are_those_of_cpython() {
        for (seed, numbers) in [
            (0, [0.8444218515250481, 0.7579544029403025, 0.420571580830845]),
            (1729, [0.9963723767827669, 0.8848200965298146, 0.4107983745731689]),
            (4294967296, [0.11299430095636409, 0.41782886486292836, 0.0166763664992291]),
            (1099511627783, [0.6137037779936511, 0.8149162973309487, 0.9450115087592873]),
            (18446744073709551615, [0.021825695401270107, 0.3380953268613758, 0.21196748656082065]),
        ] {
            let mut random = Random::new(seed);
            assert_eq!([random.unit(), random.unit(), random.unit()], numbers, "{seed}");
        }
    }
}
