//! What formats of plain text have in common: times in front of lines, literals, and attempts that are put together from
//! several lines.

pub(super) mod attempt;
pub(super) mod clock;
pub(super) mod literal;
