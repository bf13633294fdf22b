//! Parses blocks of whole lines into the rows of one table, the unit of parallel work.

use super::block::Block;
use super::digest::Digest;
use super::feed::Fed;
use super::format::Decoder;
use super::line_counts::{LineCounts, ReadSettings};
use super::open::Plan;
use super::record::Memory;
use super::sink::{Sink, To};
use super::unwrap::Unwrapped;
use crate::model::{Attempt, AttemptTable};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Result of reading some stretches of lines: one of a large input, or many small inputs.
#[derive(Default)]
pub(crate) struct Chunk {
    /// Attempts of all stretches. Their line numbers count from the start of their stretch.
    pub(crate) table: AttemptTable,
    /// The stretches, in the order of their rows in the table.
    pub(crate) stretches: Vec<Stretch>,
    /// Inputs that could not be read, or not to their end, with the error.
    pub(crate) failures: Vec<(u32, io::Error)>,
    /// Plans of the small inputs that were opened while reading this chunk.
    pub(crate) plans: Vec<(u32, Arc<Plan>)>,
}

/// Result of reading one stretch of lines of one input.
#[derive(Debug, Default)]
pub(crate) struct Stretch {
    /// Index of the input.
    pub(crate) file: u32,
    /// Number of bytes of the input it covers.
    pub(crate) bytes: u64,
    /// Rows of its attempts in the table.
    pub(crate) rows: Range<usize>,
    /// Counts of its lines by what became of them.
    pub(crate) counts: LineCounts,
    /// Number of line ends in it.
    pub(crate) newlines: u64,
    /// Whether its line numbers already count from the start of the input.
    pub(crate) is_placed: bool,
    /// Digest of its attempts; computed only if there are other inputs.
    pub(crate) digest: Digest,
}

/// Size of a typical record in bytes, used to reserve rows.
const USUAL_LINE: usize = 512;
impl Chunk {
    /// Creates an empty chunk of the analysis with this number.
    pub(crate) fn new(analysis: u64, memory: &mut Memory) -> Chunk {
        let mut chunk = Chunk::default();
        memory.start_table(analysis, &mut chunk.table);
        chunk
    }

    /// Reads a stretch of an input.
    pub(crate) fn read(
        &mut self,
        part: &Part<'_>,
        reading: &ReadSettings<'_>,
        memory: &mut Memory,
        decoder: &mut (dyn Decoder + 'static),
    ) {
        let text = part.block.bytes;
        self.table.reserve(text.len() / USUAL_LINE);
        let first = self.table.rows.len();
        let mut stretch =
            Stretch { file: reading.file, bytes: part.bytes, is_placed: part.is_placed, ..Stretch::default() };
        let to = To::Rows { table: &mut self.table, memory };
        let mut sink = Sink { reading, counts: &mut stretch.counts, to, newlines: None };
        decoder.decode(&part.block, &mut sink);
        if part.is_last {
            decoder.finish(&mut sink);
        }
        let counted = part.newlines.or(sink.newlines);
        stretch.newlines = counted.unwrap_or_else(|| memchr::memchr_iter(b'\n', text).count() as u64);
        stretch.rows = first..self.table.rows.len();
        if reading.beside_others {
            stretch.digest = Digest::of(&self.table.rows[first..], &self.table);
        }
        self.stretches.push(stretch);
    }
}

/// Lines that are read as one stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'b> {
    pub(crate) block: Block<'b>,
    /// Number of bytes of the input it covers, and of lines if they differ from those of the block.
    pub(crate) bytes: u64,
    pub(crate) newlines: Option<u64>,
    /// Whether its line numbers count from the start of the input rather than of the block.
    pub(crate) is_placed: bool,
    /// Whether it is the last of the input, so that a decoder that reads in order finishes.
    pub(crate) is_last: bool,
}

impl<'b> Part<'b> {
    /// Creates a part of lines as they are in the input.
    pub(crate) fn plain(text: &'b [u8], bytes: u64) -> Part<'b> {
        Part { block: Block::plain(text, 1), bytes, newlines: None, is_placed: false, is_last: false }
    }

    /// Creates a part of `lines`, which were unwrapped from `text`.
    pub(crate) fn unwrapped(lines: &'b Unwrapped, text: &[u8], bytes: u64) -> Part<'b> {
        let newlines = memchr::memchr_iter(b'\n', text).count() as u64;
        Part { block: lines.block(), newlines: Some(newlines), ..Part::plain(b"", bytes) }
    }

    /// Creates a part of a block of an input that is read in order.
    pub(crate) fn fed(fed: &'b Fed) -> Part<'b> {
        let Fed { lines, bytes, newlines, is_last } = fed;
        let newlines = Some(*newlines);
        Part { block: lines.block(), bytes: *bytes, newlines, is_placed: true, is_last: *is_last }
    }
}

impl Stretch {
    /// Shifts line numbers by the number of lines before the stretch in its input; `rows` are those of the stretch.
    pub(crate) fn shift_lines(&mut self, rows: &mut [Attempt], before: u64) {
        let base = u32::try_from(before).unwrap_or(u32::MAX);
        for row in rows {
            row.line = row.line.saturating_add(base);
        }
        self.counts.misread.shift_lines(before);
        for unread in &mut self.counts.rejects {
            unread.line += before;
        }
        for start in &mut self.counts.begun {
            start.line += before;
        }
    }
}
