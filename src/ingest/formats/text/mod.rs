//! Shared code of plain text formats: timestamps of lines, literals, and attempts assembled from several lines.

pub(super) mod attempt;
pub(super) mod clock;
pub(super) mod literal;
