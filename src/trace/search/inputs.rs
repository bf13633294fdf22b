//! The inputs of a search. They are read more than once, so what can be read only once is kept aside first.

use crate::ingest::reader::{self, Bytes};
use crate::ingest::{FRONT, IngestError, InputSettings, Plan, Source, write_canonical};
use crate::temp_files;
use crate::untrusted::mask_keys;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
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
    plan: Plan,
    /// How it is read, in words.
    pub(super) how: String,
    /// The format it is written in.
    pub(super) format: &'static str,
    /// Where it was written anew: the line of each record.
    pub(super) lines: Option<Arc<[u32]>>,
    /// What stands in for a pipe, or for records that are no lines; deleted with this.
    #[allow(dead_code, reason = "it is deleted when this is dropped")]
    spool: Option<NamedTempFile>,
}

impl Opened {
    /// Opens `source`; one that cannot be opened is searched as if it were empty.
    pub(super) fn new(source: &Source, settings: &InputSettings<'_>) -> Opened {
        open(source, settings).unwrap_or_else(|error| {
            let opened = Opened::of(source, (PathBuf::new(), None), (Some(0), "plain"), Plan::plain());
            opened.fail(error);
            opened
        })
    }

    fn of(
        source: &Source,
        (path, spool): (PathBuf, Option<NamedTempFile>),
        (length, packing): (Option<u64>, &'static str),
        plan: Plan,
    ) -> Opened {
        let name = mask_keys(&source.name()).into_owned();
        let short =
            Path::new(&name).file_name().map_or_else(|| name.clone(), |name| name.to_string_lossy().into_owned());
        let stream = format!("file:{short}");
        let how = format!("{name}: {packing}; {}", plan.how());
        let (failure, format) = (OnceLock::new(), plan.format.name());
        Opened { name, stream, packing, path, length, failure, plan, how, format, lines: None, spool }
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
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Writes it anew, a line for each record, where it is searched by lines that are no records as they stand.
    fn rewritten(mut self, settings: &InputSettings<'_>) -> io::Result<Opened> {
        let input: Box<dyn io::Read + Send> = match self.bytes()? {
            Bytes::Plain(_) => Box::new(File::open(&self.path)?),
            Bytes::Stream(stream) => stream,
        };
        let mut spool = temp_files::listed(NamedTempFile::new)?;
        let mut out = BufWriter::new(spool.as_file_mut());
        let canonical = self.plan.canonical();
        let plan = Arc::new(std::mem::replace(&mut self.plan, canonical));
        let (lines, failure) = write_canonical(input, &plan, &self.stream, settings, &mut out)?;
        out.flush()?;
        drop(out);
        failure.into_iter().for_each(|error| self.fail(error));
        self.length = Some(spool.as_file().metadata()?.len());
        self.path = spool.path().to_owned();
        (self.lines, self.spool) = (Some(lines.into()), Some(spool));
        Ok(self)
    }

    /// The decoded bytes, from the front.
    pub(super) fn bytes(&self) -> io::Result<Bytes> {
        reader::open(&self.path)
    }
}

fn open(source: &Source, settings: &InputSettings<'_>) -> io::Result<Opened> {
    let place = match source {
        Source::File(path) if is_rereadable(path)? => (path.clone(), None),
        Source::File(path) => spooled(&mut File::open(path)?)?,
        Source::Stdin => spooled(&mut io::stdin().lock())?,
    };
    let (size, front) = match reader::open(&place.0)? {
        Bytes::Plain(length) => ((Some(length), "plain"), reader::front_of_file(&place.0, FRONT)?),
        Bytes::Stream(stream) => ((None, reader::packing(&place.0)?), reader::front_of(stream, FRONT).0),
    };
    let opened = Opened::of(source, place, size, Plan::of(&front, settings));
    if opened.plan.is_canonical() { Ok(opened) } else { opened.rewritten(settings) }
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
