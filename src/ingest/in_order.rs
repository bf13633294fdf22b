//! Inputs read one after the other, their pieces side by side; every attempt is kept.

use super::books::Merger;
use super::piece::{self, Piece, Small};
use super::reader::{Blocks, Bytes};
use super::{BATCH, IngestError, Ingested, Options, Progress, Source, failed, open};
use rayon::prelude::*;
use std::io::Read;

/// What was read so far, and the pieces that are read next.
struct InOrder<'s, 'o> {
    merger: Merger,
    pieces: Vec<Piece<'s>>,
    /// Bytes of those.
    waiting: u64,
    options: &'o Options,
    progress: Progress<'o>,
}

/// Reads every source, in the order given.
///
/// # Errors
/// The first input that cannot be opened or read.
pub fn read(sources: &[Source], options: &Options, progress: Progress<'_>) -> Result<Ingested, IngestError> {
    let window = options.window.max(1);
    let small: Vec<Option<u64>> = sources.par_iter().map(|source| piece::small(source, window)).collect();
    let mut reader = InOrder { merger: Merger::new(), pieces: Vec::new(), waiting: 0, options, progress };
    for ((file, source), small) in (0..).zip(sources).zip(small) {
        reader.merger.open(source);
        match (source, small) {
            (Source::File(path), Some(length)) => {
                piece::add_small(&mut reader.pieces, Small { path, file, length }, window);
                reader.added(length)?;
            }
            _ => reader.add(source, file, window)?,
        }
    }
    reader.read_pieces()?;
    Ok(reader.merger.finish())
}

impl<'s> InOrder<'s, '_> {
    fn add(&mut self, source: &'s Source, file: u32, window: u64) -> Result<(), IngestError> {
        match (source, open(source)) {
            (Source::File(path), Ok(Bytes::Plain(length))) => {
                for start in (0..length).step_by(window as usize) {
                    let end = (start + window).min(length);
                    self.pieces.push(Piece::Window { path, file, start, end });
                    self.added(end - start)?;
                }
                Ok(())
            }
            // What stands before it comes first, so that rows keep the order of the inputs; and its failure, if any.
            (_, opened) => {
                self.read_pieces()?;
                match opened.map_err(|error| failed(source, error))? {
                    Bytes::Stream(stream) => self.read_blocks(Blocks::new(stream, window as usize), source, file),
                    Bytes::Plain(_) => Ok(()),
                }
            }
        }
    }

    /// Takes note of bytes that wait, and reads what waits where it is enough.
    fn added(&mut self, bytes: u64) -> Result<(), IngestError> {
        self.waiting += bytes;
        let is_enough = self.waiting >= BATCH.0 * self.options.window.max(1) || self.pieces.len() >= BATCH.1;
        if is_enough { self.read_pieces() } else { Ok(()) }
    }

    fn read_pieces(&mut self) -> Result<(), IngestError> {
        let pieces = std::mem::take(&mut self.pieces);
        self.waiting = 0;
        let (streams, books) = (&self.merger.streams, &mut self.merger.books);
        let parse = |piece: &Piece<'_>| piece.parse(streams, self.options, self.progress);
        // What was read before is put together while this is read.
        let (chunks, ()) = rayon::join(|| pieces.par_iter().map(parse).collect::<Vec<_>>(), || books.settle());
        for chunk in chunks {
            books.pending.push(chunk?);
        }
        Ok(())
    }

    fn read_blocks(
        &mut self,
        mut blocks: Blocks<Box<dyn Read + Send>>,
        source: &Source,
        file: u32,
    ) -> Result<(), IngestError> {
        loop {
            while self.pieces.len() < rayon::current_num_threads() * 2
                && let Some(block) = blocks.next_block().map_err(|error| failed(source, error))?
            {
                self.pieces.push(Piece::Block(file, block));
            }
            if self.pieces.is_empty() {
                return Ok(());
            }
            self.read_pieces()?;
        }
    }
}
