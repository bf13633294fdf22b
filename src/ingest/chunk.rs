//! Stretches of whole lines become rows of one table: the unit of parallel work.

use super::block::{Block, Position};
use super::conventions::Conventions;
use super::dialect::Dialect;
use super::feed::Fed;
use super::filter::Filter;
use super::format::Decoder;
use super::misread::Misread;
use super::open::Plan;
use super::record::{Memory, Place, Taken};
use super::sink::{Sink, To};
use super::unwrap::Unwrapped;
use crate::model::Ledger;
use crate::model::{Attempt, AttemptTable, Zone};
use crate::untrusted::mask_keys;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// What some stretches of lines came to: one of a large input, or many small inputs.
#[derive(Default)]
pub(crate) struct Chunk {
    /// Their attempts. Lines are counted from the start of each stretch.
    pub(crate) table: AttemptTable,
    /// One after the other, as their rows stand in the table.
    pub(crate) stretches: Vec<Stretch>,
    /// Inputs that could not be read, or not to their end, and why.
    pub(crate) failures: Vec<(u32, io::Error)>,
    /// How small inputs are read, which were opened here.
    pub(crate) plans: Vec<(u32, Arc<Plan>)>,
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
    /// Its lines are counted from the front of the input already.
    pub(crate) is_placed: bool,
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

impl<'c> Reading<'c> {
    /// The place of a record.
    #[inline]
    pub(in crate::ingest) fn place<'p>(&'p self, at: Position<'p>) -> Place<'p> {
        Place {
            file: self.file,
            line: at.line,
            stream: at.given.and_then(|given| given.source.as_deref()).unwrap_or(self.stream),
            zone: self.zone,
            filter: self.filter,
            dialect: self.dialect,
            keep_ids: self.keep_ids,
            conventions: self.conventions,
            given: at.given,
        }
    }
}

impl Chunk {
    /// A part of the analysis of this number, of no lines yet.
    pub(crate) fn new(analysis: u64, memory: &mut Memory) -> Chunk {
        let mut chunk = Chunk::default();
        memory.start_table(analysis, &mut chunk.table);
        chunk
    }

    /// Has a stretch of an input read.
    pub(crate) fn read(
        &mut self,
        part: &Part<'_>,
        reading: &Reading<'_>,
        memory: &mut Memory,
        decoder: &mut (dyn Decoder + 'static),
    ) {
        let text = part.block.bytes;
        self.table.rows.reserve(text.len() / USUAL_LINE);
        let first = self.table.rows.len();
        let mut stretch =
            Stretch { file: reading.file, bytes: part.bytes, is_placed: part.is_placed, ..Stretch::default() };
        let to = To::Rows { table: &mut self.table, memory };
        let mut sink = Sink { reading, account: &mut stretch.account, to, newlines: None };
        decoder.decode(&part.block, &mut sink);
        if part.is_last {
            decoder.finish(&mut sink);
        }
        let counted = part.newlines.or(sink.newlines);
        stretch.newlines = counted.unwrap_or_else(|| memchr::memchr_iter(b'\n', text).count() as u64);
        stretch.rows = first..self.table.rows.len();
        self.stretches.push(stretch);
    }
}

/// What is read as one stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'b> {
    pub(crate) block: Block<'b>,
    /// Bytes of the input it stands for, and lines, where those of the block are others.
    pub(crate) bytes: u64,
    pub(crate) newlines: Option<u64>,
    /// Its lines are counted from the front of the input, not from its own.
    pub(crate) is_placed: bool,
    /// Nothing comes behind it, as a decoder that reads in order wants to know.
    pub(crate) is_last: bool,
}

impl<'b> Part<'b> {
    /// Lines as they stand in the input.
    pub(crate) fn plain(text: &'b [u8], bytes: u64) -> Part<'b> {
        Part { block: Block::plain(text, 1), bytes, newlines: None, is_placed: false, is_last: false }
    }

    /// The same lines, unwrapped, out of `text`.
    pub(crate) fn unwrapped(lines: &'b Unwrapped, text: &[u8], bytes: u64) -> Part<'b> {
        let newlines = memchr::memchr_iter(b'\n', text).count() as u64;
        Part { block: lines.block(), newlines: Some(newlines), ..Part::plain(b"", bytes) }
    }

    /// A block of an input that is read in order.
    pub(crate) fn fed(fed: &'b Fed) -> Part<'b> {
        let Fed { lines, bytes, newlines, is_last } = fed;
        let newlines = Some(*newlines);
        Part { block: lines.block(), bytes: *bytes, newlines, is_placed: true, is_last: *is_last }
    }
}

impl Stretch {
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
    /// Keeps account of what became of a record.
    pub(in crate::ingest) fn taken(&mut self, taken: Taken, text: &str, at: Position<'_>, reading: &Reading<'_>) {
        match taken {
            Taken::Attempt => {
                self.ledger.lines += 1;
                self.ledger.attempts += 1;
            }
            Taken::Filtered | Taken::NotAnAttempt => self.skip(),
            Taken::Unusable(reason) => self.reject(at, 0, reason, text, reading),
            Taken::Unclear(unclear) => {
                *self.unclear.entry(unclear.key).or_default() += 1;
                self.reject(at, 0, unclear.reason, text, reading);
            }
        }
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
        reading: &Reading<'_>,
    ) {
        self.ledger.lines += 1;
        self.ledger.rejected += 1;
        if reading.keep_rejects || self.rejects.len() < REJECTS_SHOWN {
            let kept = if reading.keep_rejects { &text[..text.floor_char_boundary(REJECT_TEXT)] } else { "" };
            let text = mask_keys(kept).into_owned();
            self.rejects.push(Unread { line: u64::from(at.line), column, reason, text });
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
    sum.filtered += part.filtered;
}
