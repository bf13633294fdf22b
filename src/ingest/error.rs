//! Errors of reading inputs.

use std::io;
use std::path::PathBuf;

/// Error of finding or reading inputs.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// An input could not be opened or read.
    #[error("cannot read {name}: {source}")]
    Io {
        /// Name of the input.
        name: String,
        /// The I/O error.
        source: io::Error,
    },
    /// A directory could not be walked.
    #[error("cannot search {path}: {reason}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Reason given by the walker.
        reason: String,
    },
    /// A directory contains no log.
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
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}
