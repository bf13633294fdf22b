//! The door benchmarks come in by; no part of the crate's interface.

use super::native::Record;
use serde::{Deserialize, Deserializer};
use std::hint::black_box;

/// Reads one record by whatever parser drives `deserializer`; whether it is one that tells an outcome.
pub fn tells_an_outcome<'de, D: Deserializer<'de>>(deserializer: D) -> bool {
    Record::deserialize(deserializer).is_ok_and(|record| black_box(&record).tells_an_outcome())
}
