//! What benchmarks and fuzz targets need besides; no part of the crate's interface.

use super::formats::native::NativeDecoder;
use super::record::{Mapping, whole_record};
use super::text::read_with;
use crate::model::AttemptTable;
use std::hint::black_box;

/// Reads one record by the strict parser; whether it is one that tells an outcome.
#[must_use]
pub fn tells_an_outcome(line: &str) -> bool {
    whole_record(line, &Mapping::NONE).is_ok_and(|record| black_box(&record).tells_an_outcome())
}

/// Reads native lines by the strict reader alone: what the fast path is compared with.
#[must_use]
pub fn read_strictly(text: &str) -> AttemptTable {
    read_with(text, NativeDecoder::strict())
}
