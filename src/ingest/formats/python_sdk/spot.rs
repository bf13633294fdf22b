//! Position of a log message.

use crate::ingest::formats::text::clock::Moment;
use crate::ingest::position::Position;

/// A line with its position and time.
pub(super) struct Spot<'l> {
    pub(super) line: &'l str,
    pub(super) at: Position<'l>,
    pub(super) moment: Moment,
    /// Provider whose SDK wrote the line, if the logger's name tells.
    pub(super) provider: Option<&'static str>,
}
