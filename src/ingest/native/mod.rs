//! Native attempt logs: one JSON object a line, in whatever spelling the logger chose.

mod attempt;
mod error_body;
pub(crate) mod fields;
mod headers;
mod record;
mod repair;
mod scalar;

pub(crate) use attempt::{Place, Taken};
pub(crate) use record::Record;

use crate::attempt::AttemptTable;
use repair::Piece;

/// What became of the records of one line, in order. A line nearly always holds one.
pub(crate) enum Outcome {
    /// See [`Taken`].
    Taken(Taken),
    /// A piece of the line that cannot be read: column from 1, and why.
    Unreadable(u64, String),
}

/// Reads one line, neither empty nor blank. The fast path is a strict parse into a borrowed record; whatever
/// that refuses is repaired and read again, piece by piece.
pub(crate) fn read_line(line: &str, place: &Place<'_>, table: &mut AttemptTable, mut done: impl FnMut(Outcome)) {
    if line.as_bytes()[0] == b'{'
        && let Ok(record) = sonic_rs::from_str::<Record<'_>>(line)
    {
        return done(Outcome::Taken(attempt::take(record, line, place, table)));
    }
    for piece in repair::pieces(line) {
        match piece {
            Piece::Noise => done(Outcome::Taken(Taken::NotAnAttempt)),
            Piece::Broken { column, reason } => done(Outcome::Unreadable(column, reason)),
            Piece::Object(text) => match serde_json::from_str::<Record<'_>>(&text) {
                Ok(record) => done(Outcome::Taken(attempt::take(record, &text, place, table))),
                Err(error) => done(Outcome::Unreadable(error.column() as u64, repair::reason(&error))),
            },
        }
    }
}
