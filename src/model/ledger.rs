//! Counts of lines by what they hold, so that every line of every input is accounted for.

use serde::Serialize;

/// Line counts, with `lines = attempts + skipped + rejected + blank + duplicates + views`. A line with two records
/// counts as two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Lines read.
    pub lines: u64,
    /// Lines that are attempts, each counted once.
    pub attempts: u64,
    /// Lines that are not attempts.
    pub skipped: u64,
    /// Lines that could not be parsed.
    pub rejected: u64,
    /// Empty lines.
    pub blank: u64,
    /// Repeated deliveries of an attempt already counted.
    pub duplicates: u64,
    /// Further views of an attempt already counted, from another log.
    pub views: u64,
    /// Attempts of calls excluded by `--since`, `--run` and similar options; included in `skipped`. In the ledger of a
    /// single input this is 0, and they are included in `attempts`.
    pub filtered: u64,
}

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// Path as given by the user.
    pub path: String,
    /// Format, detected from the content.
    pub format: &'static str,
    /// Envelopes around its lines, outermost first; `None` if there are none.
    pub envelope: Option<String>,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// Line counts.
    pub ledger: Ledger,
    /// Reason the input could not be read, or not to its end; what was read before that is analysed.
    pub failure: Option<String>,
}

/// A line that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reject {
    /// Path of the input.
    pub file: String,
    /// Line number, from 1.
    pub line: u64,
    /// Column in bytes, from 1; 0 for the whole line.
    pub column: u64,
    /// Reason.
    pub reason: String,
}

/// Values of one field that could not be interpreted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Name of the field.
    pub field: &'static str,
    /// Number of such values.
    pub count: u64,
    /// The first such value, with keys masked.
    pub example: String,
    /// Path of the input with the first such value.
    pub file: String,
    /// Line number of the first such value, from 1.
    pub line: u64,
}
