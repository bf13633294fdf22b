//! Where the scalars of a line stand.

use crate::ingest::record::scan;

/// Where a scalar begins and ends, quotes excluded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: scan::Kind,
}

/// Stands for what a line does not say.
pub(super) const NOTHING: Scalar = Scalar { start: 0, end: 0, kind: scan::Kind::Null };
