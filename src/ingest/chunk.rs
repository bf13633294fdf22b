//! Stretches of whole lines become rows of one table: the unit of parallel work.

use super::block::Block;
use super::digest::Digest;
use super::feed::Fed;
use super::format::Decoder;
use super::line_counts::{LineCounts, Reading};
use super::open::Plan;
use super::record::Memory;
use super::sink::{Sink, To};
use super::unwrap::Unwrapped;
use crate::model::{Attempt, AttemptTable};
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
    pub(crate) counts: LineCounts,
    /// Lines that ended in it.
    pub(crate) newlines: u64,
    /// Its lines are counted from the front of the input already.
    pub(crate) is_placed: bool,
    /// What its attempts come to, where there are other inputs.
    pub(crate) digest: Digest,
}

/// A usual record, in bytes: what rows are set aside by.
const USUAL_LINE: usize = 512;
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
            stretch.digest = Digest::of(&self.table.rows[first..], &self.table.names);
        }
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
        self.counts.misread.shift_lines(before);
        for unread in &mut self.counts.rejects {
            unread.line += before;
        }
        for start in &mut self.counts.begun {
            start.line += before;
        }
    }
}
