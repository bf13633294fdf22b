//! Turns records into attempts and reports the outcome.

use crate::ingest::record::{Memory, Place, Record, Taken, take};
use crate::model::AttemptTable;

/// Outcome for one record of a line. Nearly every line contains exactly one record.
pub(in crate::ingest) enum Outcome {
    /// See [`Taken`].
    Taken(Taken),
    /// A value of an attempt that is not valid for its field: the field and the value.
    Misread(&'static str, String),
    /// A part of the line that cannot be read: column from 1, and the reason.
    Unreadable(u64, String),
}

/// Turns a record into an attempt. Returns whether it is one.
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
