//! The inputs of a search. They are read more than once, so what can be read only once is kept aside first.

use crate::ingest::{
    Conventions, Dialect, FRONT, IngestError, Source, look,
    reader::{self, Bytes},
};
use crate::model::Zone;
use crate::temp_files;
use crate::untrusted::mask_keys;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
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
    /// Why it cannot be read, or not to its end; what was read before that is searched.
    failure: OnceLock<io::Error>,
    conventions: OnceLock<Conventions>,
    /// What stands in for a pipe; deleted with this.
    _spool: Option<NamedTempFile>,
}

impl Opened {
    /// Opens `source`; one that cannot be opened is searched as if it were empty.
    pub(super) fn new(source: &Source) -> Opened {
        open(source).unwrap_or_else(|error| {
            let nothing = (PathBuf::new(), None);
            let opened = Opened::of(source, nothing, (Some(0), "plain"));
            opened.fail(error);
            opened
        })
    }

    fn of(
        source: &Source,
        (path, spool): (PathBuf, Option<NamedTempFile>),
        (length, packing): (Option<u64>, &'static str),
    ) -> Opened {
        let name = mask_keys(&source.name()).into_owned();
        let short =
            Path::new(&name).file_name().map_or_else(|| name.clone(), |name| name.to_string_lossy().into_owned());
        let stream = format!("file:{short}");
        Opened {
            name,
            stream,
            packing,
            path,
            length,
            failure: OnceLock::new(),
            conventions: OnceLock::new(),
            _spool: spool,
        }
    }

    /// Notes that it cannot be read any further. The first reason is kept.
    pub(super) fn fail(&self, error: io::Error) {
        let _ = self.failure.set(error);
    }

    /// Why it could not be read, or not to its end.
    pub(super) fn failure(&self) -> Option<&io::Error> {
        self.failure.get()
    }

    /// The same as an error of the whole search.
    pub(super) fn error(&self) -> Option<IngestError> {
        let failure = self.failure()?;
        let source = io::Error::new(failure.kind(), failure.to_string());
        Some(IngestError::Io { name: self.name.clone(), source })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How it is read: by the same look at its front that an analysis takes.
    pub(super) fn conventions(&self, dialect: &Dialect, zone: Zone) -> Conventions {
        // What cannot be read is reported where it is read.
        *self.conventions.get_or_init(|| {
            self.front().map_or_else(|_| Conventions::default(), |front| look(&front, dialect, zone).conventions)
        })
    }

    fn front(&self) -> io::Result<Vec<u8>> {
        match self.bytes()? {
            Bytes::Plain(_) => reader::front_of_file(&self.path, FRONT),
            Bytes::Stream(stream) => Ok(reader::front_of(stream, FRONT).0),
        }
    }

    /// The decoded bytes, from the front.
    pub(super) fn bytes(&self) -> io::Result<Bytes> {
        reader::open(&self.path)
    }
}

fn open(source: &Source) -> io::Result<Opened> {
    let place = match source {
        Source::File(path) if is_rereadable(path)? => (path.clone(), None),
        Source::File(path) => spooled(&mut File::open(path)?)?,
        Source::Stdin => spooled(&mut io::stdin().lock())?,
    };
    let size = match reader::open(&place.0)? {
        Bytes::Plain(length) => (Some(length), "plain"),
        Bytes::Stream(_) => (None, reader::packing(&place.0)?),
    };
    Ok(Opened::of(source, place, size))
}

/// A pipe or a device gives its bytes once.
fn is_rereadable(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    Ok(metadata.is_file() || metadata.is_dir())
}

/// As it came, packed where it is packed, in a file that goes away with the program.
fn spooled(input: &mut dyn io::Read) -> io::Result<(PathBuf, Option<NamedTempFile>)> {
    let mut spool = temp_files::listed(NamedTempFile::new)?;
    io::copy(input, &mut spool)?;
    Ok((spool.path().to_owned(), Some(spool)))
}
