//! A line of the log with its position and time.

use crate::ingest::formats::text::clock::LineTime;
use crate::ingest::position::Position;

/// A line of the log.
pub(super) struct LogLine<'l> {
    pub(super) text: &'l str,
    pub(super) at: Position<'l>,
    pub(super) time: LineTime,
    /// Provider whose SDK wrote the line, if known from the name of the logger.
    pub(super) provider: Option<&'static str>,
}
