//! Reads inputs into attempts, and accounts for every line.

#[doc(hidden)]
pub mod bench;
mod books;
mod chunk;
mod courses;
mod dialect;
mod excerpt;
mod filter;
pub(crate) mod hint;
mod misread;
mod native;
pub(crate) mod reader;
mod source;
pub(crate) mod timestamp;

pub use courses::{Sink, read_in_time};
pub use dialect::Dialect;
pub(crate) use excerpt::Excerpt;
pub use filter::Filter;
pub use native::{Aside, Diagnosis, Mapping, diagnose, field_names};
pub(crate) use native::{IdField, id_field, ids_of, time_of};
pub(crate) use reader::is_compressed;
pub(crate) use source::looks_like_a_log;
pub use source::{Source, resolve};

use crate::attempt::{AttemptTable, Zone};
use crate::report::{Input, Ledger, Reject, Unreadable};
use books::Merger;
use chunk::{Chunk, Reading};
use native::Lane;
use rayon::prelude::*;
use reader::{Blocks, Bytes};
use std::cell::RefCell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes read and parsed as one piece of work.
const WINDOW: u64 = 4 << 20;
/// Full pieces of work, and pieces of any size, between two merges: bounds what is in memory beside the attempts.
const BATCH: (u64, usize) = (16, 1024);

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Zone of times that name none.
    pub zone: Zone,
    /// What the logs' own words mean.
    pub dialect: Dialect,
    /// Keep every rejected line for [`Ingested::rejected`], not just the first ones.
    pub keep_rejects: bool,
    /// Keep the ids of every attempt, not just of those that findings speak of.
    pub keep_ids: bool,
    /// Bytes read and parsed as one piece of work, 4 MiB; the result does not depend on it.
    pub window: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { zone: Zone::UTC, dialect: Dialect::default(), keep_rejects: false, keep_ids: false, window: WINDOW }
    }
}

/// What the inputs held.
#[derive(Debug, Default)]
pub struct Ingested {
    /// Every attempt.
    pub table: AttemptTable,
    /// Input by input, in the order of their names.
    pub inputs: Vec<Input>,
    /// The first rejected lines.
    pub rejects: Vec<Reject>,
    /// All of them with their text, when asked for.
    pub rejected: Vec<(Reject, String)>,
    /// Values that mean nothing to their field.
    pub unreadable: Vec<Unreadable>,
}

impl Ingested {
    /// What became of all lines together, duplicates not yet known.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        let mut sum = Ledger::default();
        self.inputs.iter().for_each(|input| chunk::add(&mut sum, &input.ledger));
        sum
    }
}

/// Why inputs could not be read.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The system refused.
    #[error("cannot read {name}: {source}")]
    Io {
        /// The input.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// A directory could not be walked.
    #[error("cannot search {path}: {reason}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A directory holds no log.
    #[error("no log in {path}: files ending in .jsonl, .ndjson, .json, .log, .txt, plain, .gz or .zst are looked for")]
    NoLogs {
        /// The directory.
        path: PathBuf,
    },
    /// A pattern is malformed or matches nothing.
    #[error("pattern {pattern}: {reason}")]
    Pattern {
        /// As given.
        pattern: String,
        /// Why.
        reason: String,
    },
}

/// Hears how many bytes were read since the last call.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// Reads every source, in the order given.
///
/// # Errors
/// The first input that cannot be opened or read.
pub fn read(sources: &[Source], options: &Options, progress: Progress<'_>) -> Result<Ingested, IngestError> {
    let mut merger = Merger::default();
    let (mut plain, mut waiting) = (Vec::new(), 0);
    for (file, source) in sources.iter().enumerate() {
        let failed = |error| IngestError::Io { name: source.name(), source: error };
        merger.open(source);
        let file = file as u32;
        match (source, open(source).map_err(failed)?) {
            (Source::File(path), Bytes::Plain(length)) => {
                let window = options.window.max(1);
                for start in (0..length).step_by(window as usize) {
                    let end = (start + window).min(length);
                    plain.push(Window { path, file, start, end });
                    waiting += end - start;
                    if waiting >= BATCH.0 * window || plain.len() >= BATCH.1 {
                        read_windows(&mut plain, &mut merger, options, progress)?;
                        waiting = 0;
                    }
                }
            }
            (_, Bytes::Stream(stream)) => {
                // What stands before it comes first, so that rows keep the order of the inputs.
                read_windows(&mut plain, &mut merger, options, progress)?;
                read_stream(stream, file, &mut merger, options, progress).map_err(failed)?;
            }
            (Source::Stdin, Bytes::Plain(_)) => {}
        }
    }
    read_windows(&mut plain, &mut merger, options, progress)?;
    Ok(merger.finish())
}

/// Reads a log that is already in memory.
#[must_use]
pub fn read_str(text: &str) -> AttemptTable {
    let options = Options::default();
    let reading = Reading {
        file: 0,
        stream: "file:text",
        zone: options.zone,
        filter: None,
        dialect: &options.dialect,
        keep_rejects: false,
        keep_ids: false,
    };
    let mut table = Chunk::read(text.as_bytes(), &reading, &mut Lane::default()).table;
    table.files.push("text".to_owned());
    table
}

fn open(source: &Source) -> io::Result<Bytes> {
    match source {
        Source::Stdin => reader::stream(Box::new(io::stdin())),
        Source::File(path) => reader::open(path),
    }
}

thread_local! {
    /// What a worker keeps from one piece of work to the next: its buffer, and the shapes it has learnt.
    static WORKER: RefCell<(Vec<u8>, Lane)> = RefCell::default();
}

/// A stretch of a plain file.
struct Window<'s> {
    path: &'s Path,
    file: u32,
    start: u64,
    end: u64,
}

fn read_windows(
    windows: &mut Vec<Window<'_>>,
    merger: &mut Merger,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(), IngestError> {
    let (streams, books) = (&merger.streams, &mut merger.books);
    // What was read before is put together while this is read.
    let (chunks, ()) = rayon::join(|| parse_windows(windows, streams, options, progress), || books.settle());
    let sizes = windows.drain(..).map(|window| (window.file, window.end - window.start));
    books.pending.extend(sizes.zip(chunks?).map(|((file, bytes), chunk)| (file, bytes, chunk)));
    Ok(())
}

fn parse_windows(
    windows: &[Window<'_>],
    streams: &[String],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Vec<Chunk>, IngestError> {
    windows.par_iter().map(|window| parse_window(window, streams, options, progress)).collect()
}

fn parse_window(
    window: &Window<'_>,
    streams: &[String],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Chunk, IngestError> {
    WORKER.with_borrow_mut(|(buffer, lane)| {
        let lines = reader::window(window.path, window.start, window.end, buffer)
            .map_err(|source| IngestError::Io { name: window.path.display().to_string(), source })?;
        progress(window.end - window.start);
        Ok(Chunk::read(&buffer[lines], &reading(options, window.file, streams), lane))
    })
}

fn parse_block(block: &[u8], file: u32, streams: &[String], options: &Options) -> Chunk {
    WORKER.with_borrow_mut(|(_, lane)| Chunk::read(block, &reading(options, file, streams), lane))
}

fn read_stream(
    stream: Box<dyn Read + Send>,
    file: u32,
    merger: &mut Merger,
    options: &Options,
    progress: Progress<'_>,
) -> io::Result<()> {
    let mut blocks = Blocks::new(stream, options.window.max(1) as usize);
    loop {
        let mut batch = Vec::new();
        while batch.len() < rayon::current_num_threads() * 2
            && let Some(block) = blocks.next_block()?
        {
            progress(block.len() as u64);
            batch.push(block);
        }
        if batch.is_empty() {
            return Ok(());
        }
        let (streams, books) = (&merger.streams, &mut merger.books);
        let parse = |block: &Vec<u8>| (file, block.len() as u64, parse_block(block, file, streams, options));
        let (chunks, ()) = rayon::join(|| batch.par_iter().map(parse).collect::<Vec<_>>(), || books.settle());
        books.pending.extend(chunks);
    }
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
