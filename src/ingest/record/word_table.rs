//! Lookup tables of known words. Only the length and both ends of a word are hashed, which is faster than hashing all
//! of it.

use super::scan;
use hashbrown::HashTable;
use std::borrow::Cow;

/// Words, each with a value.
pub(in crate::ingest) struct WordTable<V> {
    table: HashTable<(Cow<'static, str>, V)>,
}

impl<V: Copy> WordTable<V> {
    /// Creates a table; of duplicate words the first one is used.
    pub(in crate::ingest) fn new(words: Vec<(Cow<'static, str>, V)>) -> WordTable<V> {
        let mut all = WordTable { table: HashTable::new() };
        for (word, value) in words {
            if all.get(&word).is_none() {
                all.table.insert_unique(hash(word.as_bytes()), (word, value), |(word, _)| hash(word.as_bytes()));
            }
        }
        all
    }

    #[inline]
    pub(in crate::ingest) fn get(&self, word: &str) -> Option<V> {
        let word = word.as_bytes();
        self.table.find(hash(word), |(known, _)| scan::same(known.as_bytes(), word)).map(|(_, value)| *value)
    }

    /// Like [`WordTable::get`], ignoring case.
    #[inline]
    pub(in crate::ingest) fn get_in_any_case(&self, word: &str) -> Option<V> {
        let same = |known: &str| scan::same(known.as_bytes(), word.as_bytes()) || known.eq_ignore_ascii_case(word);
        self.table.find(hash(word.as_bytes()), |(known, _)| same(known)).map(|(_, value)| *value)
    }
}

/// Hashes the length and both ends of a word, in lower case.
#[inline]
fn hash(word: &[u8]) -> u64 {
    // This bit distinguishes capital from small letters. Other bytes that it makes equal are distinguished when words
    // are compared.
    const LOWER_CASE: u64 = 0x2020_2020_2020_2020;
    // 2^64 divided by the golden ratio, the multiplier of Fibonacci hashing (Knuth, TAOCP 3, 6.4).
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let ends = if let (Some(first), Some(last)) = (word.first_chunk::<8>(), word.last_chunk::<8>()) {
        (u64::from_le_bytes(*first) | LOWER_CASE) ^ (u64::from_le_bytes(*last) | LOWER_CASE).rotate_left(31)
    } else if let (Some(first), Some(last)) = (word.first_chunk::<4>(), word.last_chunk::<4>()) {
        (u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32) | LOWER_CASE
    } else {
        // At most three bytes: first, middle and last cover all of them.
        let byte = |at: usize| u64::from(word.get(at).copied().unwrap_or(0));
        (byte(0) | byte(word.len() / 2) << 8 | byte(word.len().saturating_sub(1)) << 16) | LOWER_CASE
    };
    let product = u128::from(ends ^ (word.len() as u64) << 56) * u128::from(MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_length_are_found() {
        let text = "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz";
        let words = WordTable::new((0..=text.len()).map(|length| (text[..length].into(), length)).collect());
        for length in 0..=text.len() {
            let word = &text[..length];
            assert_eq!(words.get(word), Some(length));
            assert_eq!(words.get_in_any_case(&word.to_uppercase()), Some(length));
            for index in 0..length {
                let mut other = word.to_owned();
                other.replace_range(index..=index, "_");
                assert_eq!(words.get(&other), None, "{other}");
                assert_eq!(words.get_in_any_case(&other), None, "{other}");
            }
            if length > 0 {
                assert_eq!(words.get(&word.to_uppercase()), None);
            }
        }
    }
}
