//! Pieces of work: what one worker reads in one go, and how it does.

use super::books::Streams;
use super::chunk::{Chunk, Reading};
use super::format::Decoder;
use super::open::{FRONT, Plan};
use super::reader::{self, Blocks, Bytes};
use super::record::Memory;
use super::{Options, Progress, Source};
use std::cell::RefCell;
use std::io::{self, Cursor};
use std::path::Path;
use std::sync::Arc;

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
    Window { path: &'s Path, file: u32, start: u64, end: u64, plan: Arc<Plan> },
    /// Small files, whole, which were not opened so far. Opening them weighs too.
    Files { files: Vec<Small<'s>>, weight: u64 },
    /// Lines of a stream.
    Block(u32, Vec<u8>, Arc<Plan>),
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
    /// What a worker keeps from one piece of work to the next.
    static WORKER: RefCell<Worker> = RefCell::default();
}

/// A buffer, what was met in records before, and the decoders of formats whose blocks are read in any order, with what
/// they have learnt.
#[derive(Default)]
struct Worker {
    buffer: Vec<u8>,
    memory: Memory,
    decoders: Vec<(&'static str, Box<dyn Decoder>)>,
}

/// The decoder that reads by `plan`.
fn decoder<'d>(decoders: &'d mut Vec<(&'static str, Box<dyn Decoder>)>, plan: &Plan) -> &'d mut dyn Decoder {
    let name = plan.format.name();
    let place = decoders.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        decoders.push((name, plan.decoder()));
        decoders.len() - 1
    });
    &mut *decoders[place].1
}

impl Piece<'_> {
    /// Bytes of the inputs it stands for.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Piece::Window { start, end, .. } => end - start,
            Piece::Files { files, .. } => files.iter().map(|small| small.length).sum(),
            Piece::Block(_, block, _) => block.len() as u64,
        }
    }

    /// Reads it, as far as its inputs can be read.
    pub(super) fn parse(&self, streams: &Streams, options: &Options, progress: Progress<'_>) -> Chunk {
        let of = |file, plan: &Plan| reading(options, file, &streams.names, plan);
        WORKER.with_borrow_mut(|Worker { buffer, memory, decoders }| {
            let mut chunk = Chunk::new(streams.analysis, memory);
            match self {
                Piece::Window { path, file, start, end, plan } => {
                    let bytes = end - start;
                    match reader::window(path, *start, *end, buffer) {
                        Ok(lines) => {
                            progress(bytes);
                            let decoder = decoder(decoders, plan);
                            chunk.read_lines(&buffer[lines], bytes, &of(*file, plan), memory, decoder);
                            chunk.failures.extend(cut_short(buffer, bytes).map(|error| (*file, error)));
                        }
                        Err(error) => chunk.failures.push((*file, error)),
                    }
                }
                Piece::Files { files, .. } => {
                    for small in files {
                        let mut plan = None;
                        let mut take = |text: &[u8], front: &[u8], bytes| {
                            progress(bytes);
                            let plan = plan.get_or_insert_with(|| Plan::of(front, &options.habits()));
                            chunk.read_lines(text, bytes, &of(small.file, plan), memory, decoder(decoders, plan));
                        };
                        let read = small.read(buffer, &mut take);
                        chunk.failures.extend(read.err().map(|error| (small.file, error)));
                        chunk.plans.extend(plan.map(|plan| (small.file, Arc::new(plan))));
                    }
                }
                Piece::Block(file, block, plan) => {
                    progress(block.len() as u64);
                    let bytes = block.len() as u64;
                    chunk.read_lines(block, bytes, &of(*file, plan), memory, decoder(decoders, plan));
                }
            }
            chunk.table.price(&options.dialect.prices);
            memory.end_table(&mut chunk.table);
            chunk
        })
    }
}

/// Takes lines, the front of the file they stand in, and how many bytes of it they stand for.
type TakeLines<'t> = &'t mut dyn FnMut(&[u8], &[u8], u64);

impl Small<'_> {
    /// Hands its lines to `take`, unpacked.
    fn read(&self, buffer: &mut Vec<u8>, take: TakeLines<'_>) -> io::Result<()> {
        let lines = reader::window(self.path, 0, self.length, buffer)?;
        let cut = cut_short(buffer, self.length);
        if reader::is_plain(buffer) {
            take(&buffer[lines], &buffer[..buffer.len().min(FRONT)], self.length);
            return cut.map_or(Ok(()), Err);
        }
        let Bytes::Stream(stream) = reader::stream(Box::new(Cursor::new(std::mem::take(buffer))))? else {
            return Ok(());
        };
        let (front, stream) = reader::front_of(stream, FRONT);
        let mut blocks = Blocks::new(stream, SMALL_BLOCK);
        while let Some(block) = blocks.next_block()? {
            take(&block, &front, block.len() as u64);
        }
        Ok(())
    }
}

/// An error where less was read than the `bytes` that the file had when its reading began.
fn cut_short(read: &[u8], bytes: u64) -> Option<io::Error> {
    let is_short = (read.len() as u64) < bytes;
    is_short.then(|| io::Error::new(io::ErrorKind::UnexpectedEof, "it was cut while it was read"))
}

fn reading<'c>(options: &'c Options, file: u32, streams: &'c [String], plan: &Plan) -> Reading<'c> {
    Reading {
        file,
        stream: &streams[file as usize],
        zone: options.zone,
        filter: None,
        dialect: &options.dialect,
        keep_rejects: options.keep_rejects,
        keep_ids: options.keep_ids,
        conventions: plan.conventions,
    }
}
