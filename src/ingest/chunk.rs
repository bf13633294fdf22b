//! Stretches of whole lines become rows of one table: the unit of parallel work.

use super::conventions::Conventions;
use super::dialect::Dialect;
use super::filter::Filter;
use super::misread::Misread;
use super::native::{self, Lane, Outcome, Place, Taken};
use crate::model::{Attempt, AttemptTable, Ledger, Zone};
use crate::untrusted::mask_keys;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// What some stretches of lines came to: one of a large input, or many small inputs.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Their attempts. Lines are counted from the start of each stretch.
    pub(crate) table: AttemptTable,
    /// One after the other, as their rows stand in the table.
    pub(crate) stretches: Vec<Stretch>,
    /// Inputs that could not be read, or not to their end, and why.
    pub(crate) failures: Vec<(u32, io::Error)>,
    /// How small inputs are read, in sentences, each with its input.
    pub(crate) notes: Vec<(u32, String)>,
}

/// What one stretch of lines of one input came to.
#[derive(Debug, Default)]
pub(crate) struct Stretch {
    /// The input.
    pub(crate) file: u32,
    /// Bytes of the input it stands for.
    pub(crate) bytes: u64,
    /// Its attempts.
    pub(crate) rows: Range<usize>,
    /// What became of its lines.
    pub(crate) account: Account,
    /// Lines that ended in it.
    pub(crate) newlines: u64,
}

/// The books of one stretch.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) ledger: Ledger,
    /// Lines that could not be read, counted from the start of the stretch.
    pub(crate) rejects: Vec<Unread>,
    /// Values that mean nothing to their field.
    pub(crate) misread: Misread,
    /// Rejected lines that look like attempts, by the key that seems to say how they went.
    pub(crate) unclear: BTreeMap<Option<(String, &'static str)>, u64>,
}

/// A line that could not be read.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) reason: String,
    /// Its text, as far as it is kept for `--rejects`.
    pub(crate) text: String,
}

/// How lines of one input are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'c> {
    pub(crate) file: u32,
    pub(crate) stream: &'c str,
    pub(crate) zone: Zone,
    /// Attempts wanted; `None` for all.
    pub(crate) filter: Option<&'c Filter>,
    pub(crate) dialect: &'c Dialect,
    /// Keep the text of every rejected line.
    pub(crate) keep_rejects: bool,
    /// Keep the ids of every attempt.
    pub(crate) keep_ids: bool,
    /// What times and durations mean.
    pub(crate) conventions: Conventions,
}

/// A usual record, in bytes: what rows are set aside by.
const USUAL_LINE: usize = 512;
/// Rejected lines kept of one stretch when nobody asked for all of them.
const REJECTS_SHOWN: usize = 10;
/// The text of a rejected line is kept up to this length.
const REJECT_TEXT: usize = 4096;
/// Longest line read, in bytes: twice the largest request body a provider accepts (32 MB).
pub(crate) const LONGEST_LINE: usize = 64 << 20;

impl Chunk {
    /// A part of the analysis of this number, of no lines yet; `lane` takes those to come.
    pub(crate) fn new(dialect: &Dialect, analysis: u64, lane: &mut Lane) -> Chunk {
        let mut chunk = Chunk::default();
        lane.start_table(&dialect.fields, analysis, &mut chunk.table);
        chunk
    }

    /// Reads all lines of `text`, a stretch that stands for `bytes` of its input.
    pub(crate) fn read(&mut self, text: &[u8], bytes: u64, reading: &Reading<'_>, lane: &mut Lane) {
        let table = &mut self.table;
        table.rows.reserve(text.len() / USUAL_LINE);
        let first = table.rows.len();
        let mut stretch = Stretch { file: reading.file, bytes, ..Stretch::default() };
        stretch.read(text, reading, lane, table);
        stretch.rows = first..table.rows.len();
        self.stretches.push(stretch);
    }
}

impl Stretch {
    fn read(&mut self, bytes: &[u8], reading: &Reading<'_>, lane: &mut Lane, table: &mut AttemptTable) {
        // Checked once a block; a block with a broken byte is checked line by line.
        let valid = simdutf8::basic::from_utf8(bytes).ok();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len())) {
            let last = end == bytes.len();
            if last && start == end {
                break;
            }
            let number = u32::try_from(self.newlines + 1).unwrap_or(u32::MAX);
            self.newlines += u64::from(!last);
            let line = match valid {
                Some(text) => Cow::Borrowed(&text[start..end]),
                None => String::from_utf8_lossy(&bytes[start..end]),
            };
            self.account.line(line.trim_ascii_end(), number, reading, lane, table);
            start = end + 1;
        }
    }

    /// Moves the line numbers to where the stretch stands in its input; `rows` are its own.
    pub(crate) fn shift_lines(&mut self, rows: &mut [Attempt], before: u64) {
        let base = u32::try_from(before).unwrap_or(u32::MAX);
        for row in rows {
            row.line = row.line.saturating_add(base);
        }
        self.account.misread.shift_lines(before);
        for unread in &mut self.account.rejects {
            unread.line += before;
        }
    }
}

impl Account {
    /// Reads one line, without what ends it.
    pub(crate) fn line(
        &mut self,
        line: &str,
        number: u32,
        reading: &Reading<'_>,
        lane: &mut Lane,
        table: &mut AttemptTable,
    ) {
        if !line.starts_with('{') && is_blank(line) {
            self.ledger.lines += 1;
            self.ledger.blank += 1;
            return;
        }
        if line.len() > LONGEST_LINE {
            let reason = format!("longer than {} MiB", LONGEST_LINE >> 20);
            return self.reject(number, 0, reason, line, reading);
        }
        let place = Place {
            file: reading.file,
            line: number,
            stream: reading.stream,
            zone: reading.zone,
            filter: reading.filter,
            dialect: reading.dialect,
            keep_ids: reading.keep_ids,
            conventions: reading.conventions,
        };
        native::read_line(line, &place, lane, table, |outcome| match outcome {
            Outcome::Taken(Taken::Unusable(reason)) => self.reject(number, 0, reason, line, reading),
            Outcome::Taken(Taken::Unclear(unclear)) => {
                *self.unclear.entry(unclear.key).or_default() += 1;
                self.reject(number, 0, unclear.reason, line, reading);
            }
            Outcome::Misread(field, text) => self.misread.count(field, &text, number),
            Outcome::Unreadable(column, reason) => self.reject(number, column, reason, line, reading),
            Outcome::Taken(taken) => self.count(&taken),
        });
    }

    fn count(&mut self, taken: &Taken) {
        self.ledger.lines += 1;
        match taken {
            Taken::Attempt => self.ledger.attempts += 1,
            Taken::Filtered | Taken::NotAnAttempt | Taken::Unusable(_) | Taken::Unclear(_) => self.ledger.skipped += 1,
        }
    }

    fn reject(&mut self, line: u32, column: u64, reason: String, text: &str, reading: &Reading<'_>) {
        self.ledger.lines += 1;
        self.ledger.rejected += 1;
        if reading.keep_rejects || self.rejects.len() < REJECTS_SHOWN {
            let kept = if reading.keep_rejects { &text[..text.floor_char_boundary(REJECT_TEXT)] } else { "" };
            let text = mask_keys(kept).into_owned();
            self.rejects.push(Unread { line: u64::from(line), column, reason, text });
        }
    }
}

fn is_blank(line: &str) -> bool {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}')).is_empty()
}

/// Adds the counts of one ledger to another.
pub(crate) fn add(sum: &mut Ledger, part: &Ledger) {
    sum.lines += part.lines;
    sum.attempts += part.attempts;
    sum.skipped += part.skipped;
    sum.rejected += part.rejected;
    sum.blank += part.blank;
    sum.duplicates += part.duplicates;
    sum.filtered += part.filtered;
}
