//! What becomes of the records of a line.

use crate::ingest::record::{Memory, Place, Record, Taken, take};
use crate::model::AttemptTable;

/// What became of the records of one line, in order. A line nearly always holds one.
pub(in crate::ingest) enum Outcome {
    /// See [`Taken`].
    Taken(Taken),
    /// A value of an attempt that means nothing to its field: the field, and the value.
    Misread(&'static str, String),
    /// A piece of the line that cannot be read: column from 1, and why.
    Unreadable(u64, String),
}

/// Makes an attempt of a record; whether it is one.
pub(super) fn give(
    record: &Record<'_>,
    line: &str,
    place: &Place<'_>,
    memory: &mut Memory,
    table: &mut AttemptTable,
    done: &mut impl FnMut(Outcome),
) -> bool {
    let taken = take(record, line, place, memory, table);
    let is_attempt = matches!(taken, Taken::Attempt);
    if is_attempt {
        record.misread.iter().for_each(|(field, text)| done(Outcome::Misread(field.name(), text.clone())));
    }
    done(Outcome::Taken(taken));
    is_attempt
}
