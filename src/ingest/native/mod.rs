//! Native attempt logs: one JSON object a line, in whatever spelling the logger chose.

mod attempt;
mod error_body;
pub(crate) mod fields;
mod headers;
mod lane;
mod record;
mod repair;
mod scalar;
mod scan;
mod shape;

pub(crate) use attempt::{Place, Taken};
pub(crate) use lane::Lane;
pub(crate) use record::Record;

use crate::attempt::AttemptTable;
use lane::Answer;
use repair::Piece;

/// What became of the records of one line, in order. A line nearly always holds one.
pub(crate) enum Outcome {
    /// See [`Taken`].
    Taken(Taken),
    /// A piece of the line that cannot be read: column from 1, and why.
    Unreadable(u64, String),
}

/// Reads one line, neither empty nor blank: in the fast lane where it fits, else by a strict parse into a
/// borrowed record; whatever that refuses is repaired and read again, piece by piece.
pub(crate) fn read_line(
    line: &str,
    place: &Place<'_>,
    lane: &mut Lane,
    table: &mut AttemptTable,
    mut done: impl FnMut(Outcome),
) {
    let answer = lane.take(line, place, table);
    if answer == Answer::Taken {
        return done(Outcome::Taken(Taken::Attempt));
    }
    if line.as_bytes()[0] == b'{'
        && !is_deep(line)
        && let Ok(record) = sonic_rs::from_str::<Record<'_>>(line)
    {
        if answer == Answer::Unknown {
            lane.learn(line);
        }
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

/// Whether brackets nest deeper than any logger writes: the strict parser would follow them down the stack to
/// its end, the tolerant one stops.
fn is_deep(line: &str) -> bool {
    const DEEPEST: usize = 1000;
    let bytes = line.as_bytes();
    if bytes.len() <= DEEPEST || memchr::memchr2_iter(b'[', b'{', bytes).nth(DEEPEST).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
