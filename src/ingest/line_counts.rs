//! Counts of the lines of an input by what became of them, and the settings they are read with.

use super::conventions::Conventions;
use super::dialect::Dialect;
use super::filter::Filter;
use super::position::Position;
use super::record::{Place, Taken};
use super::unended_attempts::LoggedStart;
use super::unreadable_values::UnreadableValues;
use crate::model::{Ledger, Zone};
use crate::untrusted::mask_keys;
use std::collections::BTreeMap;

/// Number of rejected lines kept per stretch unless all of them are requested.
const MAX_REJECTS: usize = 10;
/// Length in bytes to which the text of a rejected line is kept.
const MAX_REJECT_TEXT: usize = 4096;

/// Settings for reading the lines of one input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSettings<'c> {
    pub(crate) file: u32,
    pub(crate) stream: &'c str,
    pub(crate) zone: Zone,
    /// Selects attempts; `None` for all.
    pub(crate) filter: Option<&'c Filter>,
    pub(crate) dialect: &'c Dialect,
    /// Whether to keep the text of every rejected line.
    pub(crate) keep_rejects: bool,
    /// Whether to keep the ids of every attempt.
    pub(crate) keep_ids: bool,
    /// Whether there are other inputs.
    pub(crate) has_other_inputs: bool,
    /// Meaning of times and durations.
    pub(crate) conventions: Conventions,
}

impl<'c> ReadSettings<'c> {
    /// Returns the context of the record at `at`.
    #[inline]
    pub(in crate::ingest) fn place<'p>(&'p self, at: Position<'p>) -> Place<'p> {
        Place {
            file: self.file,
            line: at.line,
            record: at.record,
            stream: at.defaults.and_then(|defaults| defaults.source.as_deref()).unwrap_or(self.stream),
            zone: self.zone,
            filter: self.filter,
            dialect: self.dialect,
            keep_ids: self.keep_ids,
            conventions: self.conventions,
            defaults: at.defaults,
        }
    }
}

/// Counts of one stretch of lines.
#[derive(Debug, Default)]
pub(crate) struct LineCounts {
    pub(crate) ledger: Ledger,
    /// Lines that could not be read, numbered from the start of the stretch.
    pub(crate) rejects: Vec<RejectedLine>,
    /// Values that their field could not be read from.
    pub(crate) misread: UnreadableValues,
    /// Number of rejected lines that look like attempts, by the unknown key that seems to give the outcome and its
    /// probable field.
    pub(crate) unknown_outcomes: BTreeMap<Option<(String, &'static str)>, u64>,
    /// Logged starts of attempts, with lines numbered from the start of the stretch.
    pub(super) starts: Vec<LoggedStart>,
}

/// A line that could not be read.
#[derive(Clone, Debug)]
pub(crate) struct RejectedLine {
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) reason: String,
    /// Its text, as far as it is kept for `--rejects`; else empty.
    pub(crate) text: String,
}

impl LineCounts {
    /// Counts a line by the result of reading its record.
    #[inline]
    pub(in crate::ingest) fn taken(&mut self, taken: Taken, text: &str, at: Position<'_>, reading: &ReadSettings<'_>) {
        match taken {
            Taken::Attempt => self.attempt(),
            Taken::Filtered | Taken::NotAnAttempt => self.skip(),
            Taken::Unusable(reason) => self.reject(at, 0, reason, text, reading),
            Taken::Begun(begun) => {
                self.starts.push(LoggedStart { line: u64::from(at.line), attempt: Some(begun) });
                self.skip();
            }
            Taken::Unclear(unknown) => {
                *self.unknown_outcomes.entry(unknown.key).or_default() += 1;
                self.reject(at, 0, unknown.reason, text, reading);
            }
        }
    }

    /// Counts a line that is an attempt.
    #[inline]
    pub(in crate::ingest) fn attempt(&mut self) {
        self.ledger.lines += 1;
        self.ledger.attempts += 1;
    }

    pub(in crate::ingest) fn skip(&mut self) {
        self.ledger.lines += 1;
        self.ledger.skipped += 1;
    }

    pub(in crate::ingest) fn blank(&mut self) {
        self.ledger.lines += 1;
        self.ledger.blank += 1;
    }

    pub(in crate::ingest) fn reject(
        &mut self,
        at: Position<'_>,
        column: u64,
        reason: String,
        text: &str,
        reading: &ReadSettings<'_>,
    ) {
        self.ledger.lines += 1;
        self.ledger.rejected += 1;
        if reading.keep_rejects || self.rejects.len() < MAX_REJECTS {
            let kept = if reading.keep_rejects { &text[..text.floor_char_boundary(MAX_REJECT_TEXT)] } else { "" };
            let text = mask_keys(kept).into_owned();
            // The reason may quote the value that could not be read.
            let reason = mask_keys(&reason).into_owned();
            self.rejects.push(RejectedLine { line: u64::from(at.line), column, reason, text });
        }
    }
}

/// Adds the counts of one ledger to another.
pub(crate) fn add(sum: &mut Ledger, part: &Ledger) {
    sum.lines += part.lines;
    sum.attempts += part.attempts;
    sum.skipped += part.skipped;
    sum.rejected += part.rejected;
    sum.blank += part.blank;
    sum.duplicates += part.duplicates;
    sum.views += part.views;
    sum.filtered += part.filtered;
}
