//! What became of every line of every input.

use serde::Serialize;

/// `lines = attempts + skipped + rejected + blank + duplicates + views`, always. A line with two records counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Lines read.
    pub lines: u64,
    /// Lines that are attempts and count once.
    pub attempts: u64,
    /// Lines that are no attempts.
    pub skipped: u64,
    /// Lines that could not be read.
    pub rejected: u64,
    /// Empty lines.
    pub blank: u64,
    /// Further deliveries of an attempt already counted.
    pub duplicates: u64,
    /// Other views of an attempt already counted: what another log says of it.
    pub views: u64,
    /// Attempts of calls left out by `--since`, `--run` and their like; part of `skipped`. Of one input it is
    /// not told apart from `attempts`.
    pub filtered: u64,
}

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// As it was named.
    pub path: String,
    /// Format, told by content.
    pub format: &'static str,
    /// What was wrapped around its lines, from the outside in; `None` where nothing was.
    pub envelope: Option<String>,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// What became of its lines.
    pub ledger: Ledger,
    /// Why it could not be read, or not to its end; what was read before that is judged.
    pub failure: Option<String>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reject {
    /// Input.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in bytes, from 1; 0 where the whole line is meant.
    pub column: u64,
    /// What was wrong.
    pub reason: String,
}

/// Values of a field that mean nothing to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The field.
    pub field: &'static str,
    /// How many values.
    pub count: u64,
    /// The first of them, keys masked.
    pub example: String,
    /// The input it stands in.
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
}
