//! Reads inputs one after the other, their pieces in parallel, and keeps every attempt.

use super::accumulator::Merger;
use super::error::IngestError;
use super::feed::Feed;
use super::ingested::Ingested;
use super::limits::BATCH;
use super::limits::FRONT;
use super::open::Plan;
use super::options::{Options, Progress};
use super::part::Part;
use super::piece::{self, Piece, Small};
use super::reader::{self, Blocks, Bytes};
use super::source::{Source, bytes_of};
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What was read so far, and the pieces to be read next.
struct InOrder<'s, 'o> {
    merger: Merger,
    pieces: Vec<Piece<'s>>,
    /// Total size of `pieces` in bytes.
    waiting: u64,
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

/// Reads every source as one part of a larger analysis. A source that cannot be read is marked there too.
#[must_use]
pub(crate) fn read_part(sources: &[Source], options: &Options, progress: Progress<'_>) -> Part {
    read_all(sources, options, progress).accumulator.into_part()
}

fn read_all(sources: &[Source], options: &Options, progress: Progress<'_>) -> Merger {
    let window = options.window.max(1);
    let small: Vec<Option<u64>> = sources.par_iter().map(|source| piece::small(source, window)).collect();
    let mut reader = InOrder { merger: Merger::new(sources.len()), pieces: Vec::new(), waiting: 0, options, progress };
    for ((file, source), small) in (0..).zip(sources).zip(small) {
        reader.merger.open(source);
        match (source, small) {
            (Source::File(path), Some(length)) => {
                piece::add_small(&mut reader.pieces, Small { path, file, length }, window);
                reader.added(length);
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
                // If it cannot be read, reading its pieces reports the error.
                let front = reader::front_of_file(path, FRONT).unwrap_or_default();
                let plan = self.plan(file, &front);
                if plan.reads_in_parallel() {
                    self.add_windows(path, file, length, window, &plan);
                } else {
                    match File::open(path) {
                        Ok(input) => self.add_feed(Box::new(input), file, window, &plan),
                        Err(error) => self.merger.accumulator.fail(file, error),
                    }
                }
            }
            (_, Ok(Bytes::Stream(stream))) => {
                let (front, stream) = reader::front_of(stream, FRONT);
                let plan = self.plan(file, &front);
                if plan.reads_in_parallel() {
                    // Earlier pieces are read first, so that rows keep the order of the inputs.
                    self.read_pieces();
                    self.read_blocks(Blocks::new(stream, window as usize), file, &plan);
                } else {
                    self.add_feed(stream, file, window, &plan);
                }
            }
            (Source::Stdin, Ok(Bytes::Plain(_))) => {}
            (_, Err(error)) => self.merger.accumulator.fail(file, error),
        }
    }

    fn add_windows(&mut self, path: &'s Path, file: u32, length: u64, window: u64, plan: &Arc<Plan>) {
        for start in (0..length).step_by(window as usize) {
            let end = (start + window).min(length);
            self.pieces.push(Piece::Window { path, file, start, end, plan: Arc::clone(plan) });
            self.added(end - start);
        }
    }

    /// Adds an input that is read in order as one piece of any length.
    fn add_feed(&mut self, input: Box<dyn Read + Send>, file: u32, window: u64, plan: &Arc<Plan>) {
        let stream = &self.merger.streams.names[file as usize];
        let feed = Feed::new(input, window as usize, plan, stream, self.options.zone);
        self.pieces.push(Piece::Rest(file, Arc::new(Mutex::new(Some(feed)))));
        self.added(window);
    }

    /// Detects and records how the input with this front is read.
    fn plan(&mut self, file: u32, front: &[u8]) -> Arc<Plan> {
        let plan = Plan::of(front, &self.options.settings());
        self.merger.accumulator.read_by(file, &plan);
        Arc::new(plan)
    }

    /// Counts bytes as waiting, and reads the waiting pieces once there are enough.
    fn added(&mut self, bytes: u64) {
        self.waiting += bytes;
        if self.waiting >= BATCH.0 * self.options.window.max(1) || self.pieces.len() >= BATCH.1 {
            self.read_pieces();
        }
    }

    fn read_pieces(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        self.waiting = 0;
        let (streams, accumulator) = (&self.merger.streams, &mut self.merger.accumulator);
        let parse = |piece: &Piece<'_>| piece.parse(streams, self.options, self.progress);
        // The previous batch is merged while this one is read.
        let (chunks, ()) = rayon::join(|| pieces.par_iter().map(parse).collect::<Vec<_>>(), || accumulator.settle());
        accumulator.pending.extend(chunks);
    }

    fn read_blocks(&mut self, mut blocks: Blocks<Box<dyn Read + Send>>, file: u32, plan: &Arc<Plan>) {
        loop {
            while self.pieces.len() < rayon::current_num_threads() * 2 {
                match blocks.next_block() {
                    Ok(Some(block)) => self.pieces.push(Piece::Block(file, block, Arc::clone(plan))),
                    Ok(None) => break,
                    Err(error) => self.merger.accumulator.fail(file, error),
                }
            }
            if self.pieces.is_empty() {
                return;
            }
            self.read_pieces();
        }
    }
}
