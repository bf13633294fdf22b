//! Reads inputs into attempts, and accounts for every line.

#[doc(hidden)]
pub mod bench;
mod books;
mod chunk;
mod conventions;
mod courses;
mod dialect;
mod excerpt;
mod filter;
pub(crate) mod hint;
mod in_order;
mod look;
mod misread;
mod native;
mod piece;
pub(crate) mod reader;
mod source;
pub(crate) mod timestamp;

pub(crate) use conventions::Conventions;
pub use courses::{Sink, read_in_time};
pub use dialect::Dialect;
pub(crate) use excerpt::Excerpt;
pub use filter::{Filter, Names};
pub use in_order::read;
pub(crate) use look::{FRONT, look};
pub use native::{Aside, Diagnosis, Mapping, diagnose, field_names};
pub(crate) use native::{IdField, id_field, ids_of, time_of};
pub(crate) use reader::is_compressed;
pub(crate) use source::looks_like_a_log;
pub use source::{Source, resolve};

use crate::model::{AttemptTable, Input, Ledger, Reject, Unreadable, Zone};
use chunk::{Chunk, Reading};
use native::Lane;
use reader::Bytes;
use std::io;
use std::path::PathBuf;

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
    /// How inputs are read where that does not go without saying, in sentences.
    pub notes: Vec<String>,
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
        conventions: Conventions::default(),
    };
    let mut lane = Lane::default();
    let mut chunk = Chunk::new(reading.dialect, 0, &mut lane);
    chunk.read(text.as_bytes(), text.len() as u64, &reading, &mut lane);
    let mut table = chunk.table;
    table.files.push("text".to_owned());
    table
}

fn open(source: &Source) -> io::Result<Bytes> {
    match source {
        Source::Stdin => reader::stream(Box::new(io::stdin())),
        Source::File(path) => reader::open(path),
    }
}
