//! Columns of numbers, stored as planes: the lowest bytes of all numbers, then the next ones. Each plane has a
//! distribution of its own, which packs better than numbers one after the other.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Bytes, which serde would otherwise handle one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Bytes;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes(bytes.to_vec()))
    }
}

/// A column of numbers: as many planes as the largest of them has bytes, so none if all are 0.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Numbers(Vec<Bytes>);

impl Numbers {
    pub(super) fn of(numbers: &[u64]) -> Numbers {
        let all = numbers.iter().fold(0, |all, number| all | number);
        let width = u64::BITS.div_ceil(8) - all.leading_zeros() / 8;
        Numbers(
            (0..width).map(|nth| Bytes(numbers.iter().map(|number| (number >> (8 * nth)) as u8).collect())).collect(),
        )
    }

    /// Like [`Numbers::of`], with a plane even if all numbers are 0, so that [`Numbers::len`] is their count.
    pub(super) fn counted(numbers: &[u64]) -> Numbers {
        let mut column = Numbers::of(numbers);
        if column.0.is_empty() {
            column.0.push(Bytes(vec![0; numbers.len()]));
        }
        column
    }

    /// Count of the numbers; 0 if there is no plane.
    pub(super) fn len(&self) -> usize {
        self.0.first().map_or(0, |plane| plane.0.len())
    }

    /// Returns the number at `nth`; `None` if a plane is too short.
    #[inline]
    pub(super) fn get(&self, nth: usize) -> Option<u64> {
        self.0.iter().rev().try_fold(0, |number, plane| Some(number << 8 | u64::from(*plane.0.get(nth)?)))
    }

    /// Returns the number at `nth`, if it is small enough for `T`.
    #[inline]
    pub(super) fn get_as<T: TryFrom<u64>>(&self, nth: usize) -> Option<T> {
        self.get(nth).and_then(|number| T::try_from(number).ok())
    }
}

/// A column of numbers of either sign that are close to their predecessors.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct DeltaColumn {
    /// What the first number is stored relative to, as if it were its predecessor.
    pub(super) first: i64,
    /// Difference of each number to its predecessor plus the expected step, in ZigZag encoding.
    steps: Numbers,
    /// Sum of the steps.
    #[serde(skip)]
    pub(super) total: u64,
}

impl DeltaColumn {
    /// Returns the column of `numbers`, each of which is usually its predecessor plus `expected_step`.
    pub(super) fn of(numbers: impl Iterator<Item = i64>, expected_step: i64) -> DeltaColumn {
        let mut numbers = numbers.peekable();
        let first = numbers.peek().map_or(0, |number| number.wrapping_sub(expected_step));
        let mut previous = first;
        let step = |number: i64| {
            let expected = std::mem::replace(&mut previous, number).wrapping_add(expected_step);
            zigzag(number.wrapping_sub(expected))
        };
        let steps: Vec<u64> = numbers.map(step).collect();
        let total = steps.iter().fold(0, |sum: u64, step| sum.saturating_add(*step));
        DeltaColumn { first, steps: Numbers::of(&steps), total }
    }

    /// Returns the number at `nth`, given the one before; `None` if the column is too short.
    #[inline]
    pub(super) fn after(&self, previous: i64, nth: usize, expected_step: i64) -> Option<i64> {
        Some(previous.wrapping_add(expected_step).wrapping_add(unzigzag(self.steps.get(nth)?)))
    }
}

/// Maps signed numbers to unsigned ones, small magnitudes to small numbers: the ZigZag encoding of Protocol Buffers.
pub(super) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Reverses [`zigzag`].
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
