//! The inputs of a search. They are read more than once, so what can be read only once is kept aside first.

use crate::ingest::reader::{self, Bytes};
use crate::ingest::{IngestError, Source};
use crate::leftovers;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// One input, ready to be read again and again.
#[derive(Debug)]
pub(super) struct Opened {
    /// As it is named in answers.
    pub(super) name: String,
    /// The run of records that name none.
    pub(super) stream: String,
    /// `plain`, `gzip`, `zstd`, `UTF-16`.
    pub(super) packing: &'static str,
    path: PathBuf,
    /// Bytes of a plain file; `None` where it can only be read from front to back.
    pub(super) length: Option<u64>,
    /// What stands in for a pipe; deleted with this.
    _spool: Option<NamedTempFile>,
}

impl Opened {
    pub(super) fn new(source: &Source) -> Result<Opened, IngestError> {
        open(source).map_err(|source_error| IngestError::Io { name: source.name(), source: source_error })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The decoded bytes, from the front.
    pub(super) fn bytes(&self) -> io::Result<Bytes> {
        reader::open(&self.path)
    }
}

fn open(source: &Source) -> io::Result<Opened> {
    let name = source.name();
    let (path, spool) = match source {
        Source::File(path) if is_rereadable(path)? => (path.clone(), None),
        Source::File(path) => spooled(&mut File::open(path)?)?,
        Source::Stdin => spooled(&mut io::stdin().lock())?,
    };
    let (length, packing) = match reader::open(&path)? {
        Bytes::Plain(length) => (Some(length), "plain"),
        Bytes::Stream(_) => (None, reader::packing(&path)?),
    };
    let short = Path::new(&name).file_name().map_or_else(|| name.clone(), |name| name.to_string_lossy().into_owned());
    Ok(Opened { stream: format!("file:{short}"), packing, name, path, length, _spool: spool })
}

/// A pipe or a device gives its bytes once.
fn is_rereadable(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    Ok(metadata.is_file() || metadata.is_dir())
}

/// As it came, packed where it is packed, in a file that goes away with the program.
fn spooled(input: &mut dyn io::Read) -> io::Result<(PathBuf, Option<NamedTempFile>)> {
    let mut spool = leftovers::listed(NamedTempFile::new)?;
    io::copy(input, &mut spool)?;
    Ok((spool.path().to_owned(), Some(spool)))
}
