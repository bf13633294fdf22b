//! The door benchmarks come in by; no part of the crate's interface.

use super::record::{Mapping, whole_record};
use std::hint::black_box;

/// Reads one record by the strict parser; whether it is one that tells an outcome.
#[must_use]
pub fn tells_an_outcome(line: &str) -> bool {
    whole_record(line, &Mapping::NONE).is_ok_and(|record| black_box(&record).tells_an_outcome())
}
