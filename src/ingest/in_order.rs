//! Reads inputs one after the other, their pieces in parallel, and keeps every attempt.

use super::accumulator::Merger;
use super::error::IngestError;
use super::ingested::Ingested;
use super::limits::{BATCH_PIECES, BATCH_WINDOWS, DETECTION_BYTES};
use super::open::ReadPlan;
use super::options::{Options, Progress};
use super::part::Part;
use super::piece::{self, Piece, Small};
use super::reader::{self, Blocks, Bytes};
use super::sequential::SequentialInput;
use super::source::{Source, bytes_of};
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The results so far, and the pieces to be read next.
struct InOrder<'s, 'o> {
    merger: Merger,
    pieces: Vec<Piece<'s>>,
    /// Total size of `pieces` in bytes.
    bytes: u64,
    options: &'o Options,
    progress: Progress<'o>,
}

/// Reads every source, in the order given. A source that cannot be read, or not to its end, is marked in
/// [`Ingested::inputs`].
///
/// # Errors
/// When none of them can be read, with the reason for the first.
pub fn read(sources: &[Source], options: &Options, progress: Progress<'_>) -> Result<Ingested, IngestError> {
    read_all(sources, options, progress).finish_whole()
}

/// Reads every source as one part of a larger analysis. A source that cannot be read is marked in the part.
#[must_use]
pub(crate) fn read_part(sources: &[Source], options: &Options, progress: Progress<'_>) -> Part {
    read_all(sources, options, progress).accumulator.into_part()
}

fn read_all(sources: &[Source], options: &Options, progress: Progress<'_>) -> Merger {
    let window = options.window.max(1);
    let small: Vec<Option<u64>> = sources.par_iter().map(|source| piece::small_size(source, window)).collect();
    let mut reader = InOrder { merger: Merger::new(sources.len()), pieces: Vec::new(), bytes: 0, options, progress };
    for ((file, source), small) in (0..).zip(sources).zip(small) {
        reader.merger.open(source);
        match (source, small) {
            (Source::File(path), Some(length)) => {
                piece::add_small(&mut reader.pieces, Small { path, file, length }, window);
                reader.count_added(length);
            }
            _ => reader.add(source, file, window),
        }
    }
    reader.read_pieces();
    reader.merger
}

impl<'s> InOrder<'s, '_> {
    fn add(&mut self, source: &'s Source, file: u32, window: u64) {
        match (source, bytes_of(source)) {
            (Source::File(path), Ok(Bytes::Plain(length))) => {
                // If the start cannot be read, reading the pieces reports the error.
                let front = reader::front_of_file(path, DETECTION_BYTES).unwrap_or_default();
                let plan = self.plan(file, &front);
                if plan.reads_in_parallel() {
                    self.add_windows(path, file, length, window, &plan);
                } else {
                    match File::open(path) {
                        Ok(input) => self.add_sequential(Box::new(input), file, window, &plan),
                        Err(error) => self.merger.accumulator.record_failure(file, error),
                    }
                }
            }
            (_, Ok(Bytes::Stream(stream))) => {
                let (front, stream) = reader::front_of(stream, DETECTION_BYTES);
                let plan = self.plan(file, &front);
                if plan.reads_in_parallel() {
                    // Pieces of earlier inputs are read first, so that rows keep the order of the inputs.
                    self.read_pieces();
                    self.read_blocks(Blocks::new(stream, window as usize), file, &plan);
                } else {
                    self.add_sequential(stream, file, window, &plan);
                }
            }
            (Source::Stdin, Ok(Bytes::Plain(_))) => {}
            (_, Err(error)) => self.merger.accumulator.record_failure(file, error),
        }
    }

    fn add_windows(&mut self, path: &'s Path, file: u32, length: u64, window: u64, plan: &Arc<ReadPlan>) {
        for start in (0..length).step_by(window as usize) {
            let end = (start + window).min(length);
            self.pieces.push(Piece::Window { path, file, start, end, plan: Arc::clone(plan) });
            self.count_added(end - start);
        }
    }

    /// Adds an input that is read in order as one piece of any length.
    fn add_sequential(&mut self, input: Box<dyn Read + Send>, file: u32, window: u64, plan: &Arc<ReadPlan>) {
        let default_run = &self.merger.context.default_runs[file as usize];
        let input = SequentialInput::new(input, window as usize, plan, default_run, self.options.zone);
        self.pieces.push(Piece::Rest(file, Arc::new(Mutex::new(Some(input)))));
        self.count_added(window);
    }

    /// Detects and records how the input with this front is read.
    fn plan(&mut self, file: u32, front: &[u8]) -> Arc<ReadPlan> {
        let plan = ReadPlan::of(front, &self.options.settings());
        self.merger.accumulator.set_plan(file, &plan);
        Arc::new(plan)
    }

    /// Counts the bytes of a piece that was added, and reads the pieces once there are enough.
    fn count_added(&mut self, bytes: u64) {
        self.bytes += bytes;
        if self.bytes >= BATCH_WINDOWS * self.options.window.max(1) || self.pieces.len() >= BATCH_PIECES {
            self.read_pieces();
        }
    }

    fn read_pieces(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        self.bytes = 0;
        let (context, accumulator) = (&self.merger.context, &mut self.merger.accumulator);
        let parse = |piece: &Piece<'_>| piece.parse(context, self.options, self.progress);
        // The previous batch is merged while this one is read.
        let (chunks, ()) =
            rayon::join(|| pieces.par_iter().map(parse).collect::<Vec<_>>(), || accumulator.merge_pending());
        accumulator.pending.extend(chunks);
    }

    /// Reads a stream whose blocks may be read in any order.
    fn read_blocks(&mut self, mut blocks: Blocks<Box<dyn Read + Send>>, file: u32, plan: &Arc<ReadPlan>) {
        loop {
            while self.pieces.len() < rayon::current_num_threads() * 2 {
                match blocks.next_block() {
                    Ok(Some(block)) => self.pieces.push(Piece::Block(file, block, Arc::clone(plan))),
                    Ok(None) => break,
                    Err(error) => self.merger.accumulator.record_failure(file, error),
                }
            }
            if self.pieces.is_empty() {
                return;
            }
            self.read_pieces();
        }
    }
}
