//! Turns records into attempts and reports the outcome.

use crate::ingest::record::{ReadResult, Record, RecordCaches, RecordContext, take};
use crate::model::AttemptTable;

/// Outcome for one record of a line. Nearly every line contains exactly one record.
pub(in crate::ingest) enum Outcome {
    /// See [`ReadResult`].
    Read(ReadResult),
    /// A value of an attempt that is not valid for its field: the field and the value.
    UnreadableValue(&'static str, String),
    /// A part of the line that cannot be read: column from 1, and the reason.
    Unreadable(u64, String),
}

/// Turns a record into an attempt. Returns whether it is one.
pub(super) fn give(
    record: &Record<'_>,
    line: &str,
    place: &RecordContext<'_>,
    memory: &mut RecordCaches,
    table: &mut AttemptTable,
    done: &mut impl FnMut(Outcome),
) -> bool {
    let taken = take(record, line, place, memory, table);
    let is_attempt = matches!(taken, ReadResult::Attempt);
    if is_attempt {
        record.unreadable.iter().for_each(|(field, text)| done(Outcome::UnreadableValue(field.name(), text.clone())));
    }
    done(Outcome::Read(taken));
    is_attempt
}
