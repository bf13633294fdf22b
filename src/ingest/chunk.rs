//! Parses blocks of whole lines into the rows of one table. One chunk is what a worker reads at a time.

use super::block::Block;
use super::digest::Digest;
use super::format::Decoder;
use super::line_counts::{LineCounts, ReadSettings};
use super::open::ReadPlan;
use super::record::RecordCaches;
use super::sequential::SequentialBlock;
use super::sink::{Destination, Sink};
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
    pub(crate) plans: Vec<(u32, Arc<ReadPlan>)>,
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
    /// Whether its line numbers already count from the start of the input, not of the stretch.
    pub(crate) has_input_lines: bool,
    /// Digest of its attempts; computed only if there are other inputs.
    pub(crate) digest: Digest,
}

/// Assumed size of a record in bytes, by which rows are reserved; tables grow if records are shorter.
const TYPICAL_RECORD: usize = 512;

impl Chunk {
    /// Creates an empty chunk of the analysis with this number.
    pub(crate) fn new(analysis: u64, caches: &mut RecordCaches) -> Chunk {
        let mut chunk = Chunk::default();
        caches.start_table(analysis, &mut chunk.table);
        chunk
    }

    /// Reads a stretch of an input.
    pub(crate) fn read(
        &mut self,
        source: &StretchSource<'_>,
        reading: &ReadSettings<'_>,
        caches: &mut RecordCaches,
        decoder: &mut (dyn Decoder + 'static),
    ) {
        let text = source.block.bytes;
        self.table.reserve(text.len() / TYPICAL_RECORD);
        let first = self.table.rows.len();
        let mut stretch = Stretch {
            file: reading.file,
            bytes: source.bytes,
            has_input_lines: source.has_input_lines,
            ..Stretch::default()
        };
        let to = Destination::Rows { table: &mut self.table, caches };
        let mut sink = Sink { reading, counts: &mut stretch.counts, to, newlines: None };
        decoder.decode(&source.block, &mut sink);
        if source.is_last {
            decoder.finish(&mut sink);
        }
        let counted = source.newlines.or(sink.newlines);
        stretch.newlines = counted.unwrap_or_else(|| memchr::memchr_iter(b'\n', text).count() as u64);
        stretch.rows = first..self.table.rows.len();
        if reading.has_other_inputs {
            stretch.digest = Digest::of(&self.table.rows[first..], &self.table);
        }
        self.stretches.push(stretch);
    }
}

/// Lines to be read as one stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StretchSource<'b> {
    pub(crate) block: Block<'b>,
    /// Number of bytes of the input it covers.
    pub(crate) bytes: u64,
    /// Number of line ends of the input it covers; `None` if they are those of the block.
    pub(crate) newlines: Option<u64>,
    /// Whether its line numbers count from the start of the input, not of the block.
    pub(crate) has_input_lines: bool,
    /// Whether it is the last of the input, after which a decoder that reads in order is finished.
    pub(crate) is_last: bool,
}

impl<'b> StretchSource<'b> {
    /// Lines as they are in the input.
    pub(crate) fn plain(text: &'b [u8], bytes: u64) -> StretchSource<'b> {
        StretchSource { block: Block::plain(text, 1), bytes, newlines: None, has_input_lines: false, is_last: false }
    }

    /// `lines`, which were unwrapped from `text`.
    pub(crate) fn unwrapped(lines: &'b Unwrapped, text: &[u8], bytes: u64) -> StretchSource<'b> {
        let newlines = memchr::memchr_iter(b'\n', text).count() as u64;
        StretchSource { block: lines.block(), newlines: Some(newlines), ..StretchSource::plain(b"", bytes) }
    }

    /// A block of an input that is read in order.
    pub(crate) fn sequential(block: &'b SequentialBlock) -> StretchSource<'b> {
        let SequentialBlock { lines, bytes, newlines, is_last } = block;
        let newlines = Some(*newlines);
        StretchSource { block: lines.block(), bytes: *bytes, newlines, has_input_lines: true, is_last: *is_last }
    }
}

impl Stretch {
    /// Shifts line numbers by the number of lines before the stretch in its input; `rows` are those of the stretch.
    pub(crate) fn shift_lines(&mut self, rows: &mut [Attempt], before: u64) {
        let base = u32::try_from(before).unwrap_or(u32::MAX);
        for row in rows {
            row.line = row.line.saturating_add(base);
        }
        self.counts.unreadable.shift_lines(before);
        for rejected in &mut self.counts.rejects {
            rejected.line += before;
        }
        for start in &mut self.counts.starts {
            start.line += before;
        }
    }
}
