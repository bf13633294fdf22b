//! Entry points for benchmarks and fuzz targets; not part of the crate's public API.

use super::formats::native::NativeDecoder;
use super::record::{Mapping, whole_record};
use super::text::read_with;
use crate::model::AttemptTable;
use std::hint::black_box;

/// Reads one record with the strict parser, and returns whether it has an outcome.
#[must_use]
pub fn has_outcome(line: &str) -> bool {
    whole_record(line, &Mapping::NONE).is_ok_and(|record| black_box(&record).has_outcome())
}

/// Reads native lines with the strict reader only, as the reference for the fast path.
#[must_use]
pub fn read_strictly(text: &str) -> AttemptTable {
    read_with(text, NativeDecoder::strict())
}
