//! The table of attempts that this program writes: how it is recognized, and how it is read back from Parquet.
//!
//! Each row of a Parquet file is rewritten as a line of JSON, which the native format reads, so that line numbers are
//! row numbers.

#[cfg(feature = "frames")]
mod columns;
#[cfg(feature = "frames")]
mod footer;
#[cfg(feature = "frames")]
mod pages;
#[cfg(feature = "frames")]
mod rows;
#[cfg(feature = "frames")]
mod thrift;

use std::fs::File;
use std::io::{self, Read};

/// First and last bytes of a Parquet file.
pub(super) const PARQUET: &[u8; 4] = b"PAR1";

/// Columns by which the table of attempts is recognized: no other table has all of them.
pub(super) const DISTINCTIVE_COLUMNS: [&str; 4] = ["class", "bucket", "cost_source", "call"];
/// Column of the failure class of an attempt; it is empty if the attempt succeeded.
pub(super) const CLASS: &str = "class";
/// Failure classes of attempts that may have neither a status nor an error type, and the corresponding values of
/// `kind`.
const KINDS: [(&str, &str); 5] = [
    ("timeout", "timeout"),
    ("connection", "connection_error"),
    ("schema_error", "schema_error"),
    ("content_policy", "policy_refusal"),
    ("cancelled", "cancelled"),
];

/// Returns a native field and its value that give an attempt the outcome of its class in the table.
pub(super) fn outcome_of_class(class: &str) -> Option<(&'static str, &'static str)> {
    if class.is_empty() {
        return Some(("outcome", "ok"));
    }
    KINDS.iter().find(|(name, _)| *name == class).map(|(_, kind)| ("kind", *kind))
}

/// Returns a reader of a table in a Parquet file as lines of JSON.
///
/// # Errors
/// When the file is damaged, or is not a table of attempts of this program.
#[cfg(feature = "frames")]
pub(super) fn open(file: File) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(rows::Rows::of(file)?))
}

/// Returns an error: without the feature `frames`, the program cannot read Parquet.
#[cfg(not(feature = "frames"))]
pub(super) fn open(_: File) -> io::Result<Box<dyn Read + Send>> {
    let text = "it is a Parquet file, and this program was built without the feature `frames`, which reads those: write \
                the table as CSV";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

/// Largest Parquet file in bytes that is copied to a temporary file if it is piped or compressed. The copy is needed
/// because the footer, at the end of the file, is read first.
const LARGEST_COPY: u64 = 4 << 30;

/// Like [`open`], for a stream, which can only be read from start to end.
pub(super) fn open_stream(stream: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut file = tempfile::tempfile()?;
    if io::copy(&mut stream.take(LARGEST_COPY + 1), &mut file)? > LARGEST_COPY {
        let text = format!(
            "it is a Parquet file of more than {} GiB, piped or compressed: give the file itself",
            LARGEST_COPY >> 30
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    open(file)
}
