//! Why inputs cannot be read.

use std::io;
use std::path::PathBuf;

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
