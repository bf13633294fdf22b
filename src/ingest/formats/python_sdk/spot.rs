//! Where a message of a log stands.

use crate::ingest::formats::text::clock::Moment;
use crate::ingest::position::Position;

/// A line, where it stands and when it was written.
pub(super) struct Spot<'l> {
    pub(super) line: &'l str,
    pub(super) at: Position<'l>,
    pub(super) moment: Moment,
    /// Whose SDK the logger is, where it says so.
    pub(super) provider: Option<&'static str>,
}
