//! Receives what decoders read: rows of a table are made of the records, and every line is counted.

use super::dialect::Dialect;
use super::line_counts::{LineCounts, ReadSettings};
use super::position::Position;
use super::record::{ReadResult, Record, RecordCaches, RecordContext, take};
use super::unended_attempts::LoggedStart;
use crate::model::{AttemptTable, Zone};

/// Receives the units of a format from a decoder and counts them. Every unit is reported exactly once: as a record, as
/// noise, as blank, or as unreadable.
pub(crate) struct Sink<'c> {
    pub(in crate::ingest) reading: &'c ReadSettings<'c>,
    pub(in crate::ingest) counts: &'c mut LineCounts,
    pub(in crate::ingest) to: Destination<'c>,
    /// Number of line ends in the block, if the decoder counted them.
    pub(in crate::ingest) newlines: Option<u64>,
}

/// Where records go.
pub(in crate::ingest) enum Destination<'c> {
    /// Rows of a table.
    Rows {
        table: &'c mut AttemptTable,
        caches: &'c mut RecordCaches,
    },
    Callback(RecordCallback<'c>),
}

/// Called with a record, its text and its context. Returns the result by which the record is counted.
pub(in crate::ingest) type RecordCallback<'c> = &'c mut dyn FnMut(&Record<'_>, &str, &RecordContext<'_>) -> ReadResult;

impl<'c> Sink<'c> {
    /// Returns the user-defined vocabulary.
    pub(crate) fn dialect(&self) -> &'c Dialect {
        self.reading.dialect
    }

    /// Returns the time zone of times that name none.
    pub(crate) fn zone(&self) -> Zone {
        self.reading.zone
    }

    /// Processes one record at position `at`; `raw` is its text.
    pub(crate) fn record(&mut self, record: &Record<'_>, raw: &str, at: Position<'_>) {
        let context = self.reading.record_context(at);
        let result = match &mut self.to {
            Destination::Rows { table, caches } => take(record, raw, &context, caches, table),
            Destination::Callback(callback) => callback(record, raw, &context),
        };
        if matches!(result, ReadResult::Attempt) {
            record.unreadable.iter().for_each(|(field, text)| self.unreadable(field.name(), text, at));
        }
        self.counts.count(result, raw, at, self.reading);
    }

    /// Counts a unit that contains no record of an attempt: other output of a program, or another kind of record.
    pub(crate) fn noise(&mut self) {
        self.counts.skip();
    }

    /// Counts a unit that is the start of an attempt whose end is certainly not logged.
    pub(crate) fn unended(&mut self, at: Position<'_>) {
        self.counts.starts.push(LoggedStart { line: u64::from(at.line), attempt: None });
        self.counts.skip();
    }

    /// Counts a blank unit.
    pub(crate) fn blank(&mut self) {
        self.counts.blank();
    }

    /// Counts a unit that should be a record but cannot be read; `column` counts from 1, or is 0 for the whole unit.
    pub(crate) fn reject(&mut self, reason: &str, column: u64, raw: &str, at: Position<'_>) {
        self.counts.reject(at, column, reason.to_owned(), raw, self.reading);
    }

    /// Counts a value that could not be read as its field; the record itself is reported separately.
    pub(crate) fn unreadable(&mut self, field: &'static str, value: &str, at: Position<'_>) {
        self.counts.unreadable.count(field, value, at.line);
    }
}
