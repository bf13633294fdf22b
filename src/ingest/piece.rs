//! Pieces of work: what one worker reads in one go, and how it does.

use super::books::Streams;
use super::chunk::{Chunk, Reading};
use super::native::Lane;
use super::reader::{self, Blocks, Bytes};
use super::{IngestError, Options, Progress, Source};
use std::cell::RefCell;
use std::io::{self, Cursor};
use std::path::Path;

/// Files of up to this part of a window are small: read whole, several of them as one piece.
const SMALL: u64 = 16;
/// What the small files of one piece are at most, as a part of a window: enough that a table of their own costs
/// nothing, few enough that every thread gets some.
const TOGETHER: u64 = 4;
/// To open a file takes as long as to read so many bytes.
const OPENING: u64 = 4 << 10;

/// Bytes that a small compressed file is unpacked to at once.
const SMALL_BLOCK: usize = 256 << 10;

/// A piece of work.
pub(super) enum Piece<'s> {
    /// A stretch of a plain file.
    Window { path: &'s Path, file: u32, start: u64, end: u64 },
    /// Small files, whole, which were not opened so far. Opening them weighs too.
    Files { files: Vec<Small<'s>>, weight: u64 },
    /// Lines of a stream.
    Block(u32, Vec<u8>),
}

/// A small file: its number, and its bytes as they are stored.
pub(super) struct Small<'s> {
    pub(super) path: &'s Path,
    pub(super) file: u32,
    pub(super) length: u64,
}

/// The bytes of a small file; `None` for everything else.
pub(super) fn small(source: &Source, window: u64) -> Option<u64> {
    let Source::File(path) = source else { return None };
    // What cannot be seen is reported when it is opened.
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    (metadata.len() <= window / SMALL).then_some(metadata.len())
}

/// Adds a small file to the last of `pieces`, where there is room for it.
pub(super) fn add_small<'s>(pieces: &mut Vec<Piece<'s>>, small: Small<'s>, window: u64) {
    let weight = small.length.max(OPENING);
    match pieces.last_mut() {
        Some(Piece::Files { files, weight: known }) if *known + weight <= window / TOGETHER => {
            files.push(small);
            *known += weight;
        }
        _ => pieces.push(Piece::Files { files: vec![small], weight }),
    }
}

thread_local! {
    /// What a worker keeps from one piece of work to the next: its buffer, and the shapes it has learnt.
    static WORKER: RefCell<(Vec<u8>, Lane)> = RefCell::default();
}

impl Piece<'_> {
    /// Bytes of the inputs it stands for.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Piece::Window { start, end, .. } => end - start,
            Piece::Files { files, .. } => files.iter().map(|small| small.length).sum(),
            Piece::Block(_, block) => block.len() as u64,
        }
    }

    /// Reads it.
    pub(super) fn parse(
        &self,
        streams: &Streams,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Chunk, IngestError> {
        let of = |file| reading(options, file, &streams.names);
        WORKER.with_borrow_mut(|(buffer, lane)| {
            let mut chunk = Chunk::new(&options.dialect, streams.analysis, lane);
            match self {
                Piece::Window { path, file, start, end } => {
                    let lines = reader::window(path, *start, *end, buffer).map_err(|error| failed(path, error))?;
                    progress(end - start);
                    chunk.read(&buffer[lines], end - start, &of(*file), lane);
                }
                Piece::Files { files, .. } => {
                    for small in files {
                        let mut take = |text: &[u8], bytes| {
                            progress(bytes);
                            chunk.read(text, bytes, &of(small.file), lane);
                        };
                        small.read(buffer, &mut take).map_err(|error| failed(small.path, error))?;
                    }
                }
                Piece::Block(file, block) => {
                    progress(block.len() as u64);
                    chunk.read(block, block.len() as u64, &of(*file), lane);
                }
            }
            lane.end_table(&mut chunk.table);
            Ok(chunk)
        })
    }
}

impl Small<'_> {
    /// Hands its lines to `take`, unpacked, and how many bytes they stand for.
    fn read(&self, buffer: &mut Vec<u8>, take: &mut dyn FnMut(&[u8], u64)) -> io::Result<()> {
        let lines = reader::window(self.path, 0, self.length, buffer)?;
        if reader::is_plain(buffer) {
            take(&buffer[lines], self.length);
            return Ok(());
        }
        let Bytes::Stream(stream) = reader::stream(Box::new(Cursor::new(std::mem::take(buffer))))? else {
            return Ok(());
        };
        let mut blocks = Blocks::new(stream, SMALL_BLOCK);
        while let Some(block) = blocks.next_block()? {
            take(&block, block.len() as u64);
        }
        Ok(())
    }
}

fn failed(path: &Path, source: io::Error) -> IngestError {
    IngestError::Io { name: path.display().to_string(), source }
}

fn reading<'c>(options: &'c Options, file: u32, streams: &'c [String]) -> Reading<'c> {
    Reading {
        file,
        stream: &streams[file as usize],
        zone: options.zone,
        filter: None,
        dialect: &options.dialect,
        keep_rejects: options.keep_rejects,
        keep_ids: options.keep_ids,
    }
}
