//! Reads inputs into attempts, and accounts for every line.

mod ansi;
#[doc(hidden)]
pub mod bench;
mod block;
mod books;
mod canonical;
mod chunk;
mod conventions;
mod courses;
mod dialect;
mod envelope;
mod excerpt;
mod feed;
mod filter;
mod format;
mod formats;
pub(crate) mod hint;
mod in_order;
mod json_documents;
mod look;
mod misread;
mod open;
mod piece;
pub(crate) mod reader;
mod record;
mod sink;
mod source;
pub(crate) mod timestamp;
mod unwrap;
pub(crate) mod windows;

pub(crate) use canonical::write as write_canonical;
pub use courses::{Sink, read_in_time};
pub use dialect::Dialect;
pub(crate) use excerpt::Excerpt;
pub use filter::{Filter, Names};
pub use formats::{Described, FormatName, described, envelopes};
pub use in_order::read;
pub(crate) use open::{FRONT, Habits, Plan};
pub(crate) use reader::is_compressed;
pub use record::{Aside, Diagnosis, Mapping, diagnose, field_names};
pub(crate) use record::{IdField, id_field, ids_of, time_of};
pub(crate) use source::looks_like_a_log;
pub use source::{Source, packing, resolve};

use crate::model::{AttemptTable, Input, Ledger, Reject, Unreadable, Zone};
use chunk::{Chunk, Part, Reading};
use conventions::Conventions;
use formats::native::NativeDecoder;
use reader::Bytes;
use record::Memory;
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
    /// The format that all inputs are read in; `None`: each in the one its front fits.
    pub format: Option<FormatName>,
    /// Bytes read and parsed as one piece of work, 4 MiB; the result does not depend on it.
    pub window: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            zone: Zone::UTC,
            dialect: Dialect::default(),
            keep_rejects: false,
            keep_ids: false,
            format: None,
            window: WINDOW,
        }
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
    /// How each input is read, by its number: what was around its lines, the format, and what it was told by.
    pub how: Vec<String>,
    /// How inputs are read where that does not go without saying, in sentences.
    pub notes: Vec<String>,
}

impl Options {
    pub(crate) fn habits(&self) -> Habits<'_> {
        Habits { dialect: &self.dialect, zone: self.zone, format: self.format.map(|format| format.0) }
    }
}

impl Ingested {
    /// Whether a note tells of an input that does not fit the format the user named.
    pub(crate) fn misfit(&self) -> Option<&str> {
        self.notes.iter().map(String::as_str).find(|note| note.contains(open::MISFIT))
    }

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
    #[error(
        "no log in {path}: files ending in .jsonl, .ndjson, .json, .log, .txt, .csv, .tsv, plain, .gz or .zst are looked for"
    )]
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
    let (mut memory, mut decoder) = (Memory::default(), NativeDecoder::default());
    let mut chunk = Chunk::new(0, &mut memory);
    chunk.read(&Part::plain(text.as_bytes(), text.len() as u64), &reading, &mut memory, &mut decoder);
    let mut table = chunk.table;
    table.files.push("text".to_owned());
    table
}

fn bytes_of(source: &Source) -> io::Result<Bytes> {
    match source {
        Source::Stdin => reader::stream(Box::new(io::stdin())),
        Source::File(path) => reader::open(path),
    }
}
