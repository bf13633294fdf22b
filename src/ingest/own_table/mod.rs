//! The table of attempts that this program writes: how it is recognized, and how it is read back from Parquet.
//!
//! A Parquet file is rewritten, row by row, as one line of JSON an attempt, which the native format reads; a line number
//! is then the number of a row.

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

/// Columns that only the table of attempts of this program has together.
pub(super) const OWN_COLUMNS: [&str; 4] = ["class", "bucket", "cost_source", "call"];
/// The column that tells how an attempt ended; it is empty if the attempt succeeded.
pub(super) const CLASS: &str = "class";
/// Failure classes that may occur with neither a status nor an error type, and the kinds they correspond to.
const KINDS: [(&str, &str); 5] = [
    ("timeout", "timeout"),
    ("connection", "connection_error"),
    ("schema_error", "schema_error"),
    ("content_policy", "policy_refusal"),
    ("cancelled", "cancelled"),
];

/// Returns the native field, and its value, that says what a class in the table says.
pub(super) fn ending(class: &str) -> Option<(&'static str, &'static str)> {
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

/// Refuses a Parquet file: the program was built without what reads it.
#[cfg(not(feature = "frames"))]
pub(super) fn open(_: File) -> io::Result<Box<dyn Read + Send>> {
    let text = "it is a Parquet file, and this program was built without the feature `frames`, which reads those: write \
                the table as CSV";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

/// Largest Parquet file, in bytes, that is copied to disk because it is piped or compressed: reading one begins at its
/// end.
const LARGEST_COPY: u64 = 4 << 30;

/// Like [`open`], for a table that can only be read from its front.
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
