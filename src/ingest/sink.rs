//! Where decoders put what they read.

use super::dialect::Dialect;
use super::line_counts::{LineCounts, Reading};
use super::position::Position;
use super::record::{Memory, Place, Record, Taken, take};
use super::unended::Start;
use crate::model::{AttemptTable, Zone};

/// Takes what a decoder reads, and keeps counts of it: every unit of a format is told once, as a record, as noise, as
/// blank or as one that cannot be read.
pub(crate) struct Sink<'c> {
    pub(in crate::ingest) reading: &'c Reading<'c>,
    pub(in crate::ingest) counts: &'c mut LineCounts,
    pub(in crate::ingest) to: To<'c>,
    /// How many lines of the block ended, where that was counted on the way.
    pub(in crate::ingest) newlines: Option<u64>,
}

/// What records become.
pub(in crate::ingest) enum To<'c> {
    /// Rows of a table.
    Rows { table: &'c mut AttemptTable, memory: &'c mut Memory },
    /// What someone else makes of them.
    Look(Look<'c>),
}

/// Looks at a record, its text, and where it stands, and says what becomes of it.
pub(in crate::ingest) type Look<'c> = &'c mut dyn FnMut(&Record<'_>, &str, &Place<'_>) -> Taken;

impl<'c> Sink<'c> {
    /// What the user's own words mean.
    pub(crate) fn dialect(&self) -> &'c Dialect {
        self.reading.dialect
    }

    /// Zone of times that name none.
    pub(crate) fn zone(&self) -> Zone {
        self.reading.zone
    }

    /// Takes one record, whose text is `raw` and which stands at `at`.
    pub(crate) fn record(&mut self, record: &Record<'_>, raw: &str, at: Position<'_>) {
        let place = self.reading.place(at);
        let taken = match &mut self.to {
            To::Rows { table, memory } => take(record, raw, &place, memory, table),
            To::Look(look) => look(record, raw, &place),
        };
        if matches!(taken, Taken::Attempt) {
            record.misread.iter().for_each(|(field, text)| self.misread(field.name(), text, at));
        }
        self.counts.taken(taken, raw, at, self.reading);
    }

    /// Counts a unit that holds no record of an attempt: words of a program, another kind of record.
    pub(crate) fn noise(&mut self) {
        self.counts.skip();
    }

    /// Counts a unit with which an attempt begins that has no end.
    pub(crate) fn unended(&mut self, at: Position<'_>) {
        self.counts.begun.push(Start { line: u64::from(at.line), begun: None });
        self.counts.skip();
    }

    /// Counts a unit in which nothing stands.
    pub(crate) fn blank(&mut self) {
        self.counts.blank();
    }

    /// Counts a unit that should hold a record and cannot be read; `column` from 1, 0 where the whole is meant.
    pub(crate) fn reject(&mut self, reason: &str, column: u64, raw: &str, at: Position<'_>) {
        self.counts.reject(at, column, reason.to_owned(), raw, self.reading);
    }

    /// Counts a value that means nothing to its field; the record is told besides.
    pub(crate) fn misread(&mut self, field: &'static str, value: &str, at: Position<'_>) {
        self.counts.misread.count(field, value, at.line);
    }
}
