//! Inputs of a search. They are read several times, so a pipe is first copied to a temporary file.

use crate::ingest::reader::{self, Bytes};
use crate::ingest::{DETECTION_BYTES, IngestError, InputSettings, ReadPlan, Source, write_canonical};
use crate::temp_files;
use crate::untrusted::mask_keys;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::NamedTempFile;

/// One input that can be read repeatedly.
#[derive(Debug)]
pub(super) struct Opened {
    /// Name shown in output, keys masked.
    pub(super) name: String,
    /// Run id of records that contain none.
    pub(super) stream: String,
    /// `plain`, `gzip`, `zstd` or `UTF-16`.
    pub(super) packing: &'static str,
    path: PathBuf,
    /// Size in bytes of a plain file; `None` if the input can only be read front to back.
    pub(super) length: Option<u64>,
    /// Why it cannot be read, or not to its end. What was read before the failure is searched.
    failure: OnceLock<io::Error>,
    plan: ReadPlan,
    /// Description of how it is read.
    pub(super) how: String,
    /// Name of its format.
    pub(super) format: &'static str,
    /// Original line number of each record, if the input was rewritten.
    pub(super) lines: Option<Arc<[u32]>>,
    /// Temporary copy of a pipe, or of an input rewritten as one record a line. Deleted when this is dropped.
    #[allow(dead_code, reason = "it is deleted when this is dropped")]
    spool: Option<NamedTempFile>,
}

impl Opened {
    /// Opens `source`. One that cannot be opened is searched as if it were empty, and its failure is noted.
    pub(super) fn new(source: &Source, settings: &InputSettings<'_>) -> Opened {
        open(source, settings).unwrap_or_else(|error| {
            let opened = Opened::of(source, (PathBuf::new(), None), (Some(0), "plain"), ReadPlan::native());
            opened.fail(error);
            opened
        })
    }

    fn of(
        source: &Source,
        (path, spool): (PathBuf, Option<NamedTempFile>),
        (length, packing): (Option<u64>, &'static str),
        plan: ReadPlan,
    ) -> Opened {
        let name = mask_keys(&source.name()).into_owned();
        let short =
            Path::new(&name).file_name().map_or_else(|| name.clone(), |name| name.to_string_lossy().into_owned());
        let stream = format!("file:{short}");
        let how = format!("{name}: {packing}; {}", plan.description());
        let (failure, format) = (OnceLock::new(), plan.format.name());
        Opened { name, stream, packing, path, length, failure, plan, how, format, lines: None, spool }
    }

    /// Records a read failure. Only the first one is kept.
    pub(super) fn fail(&self, error: io::Error) {
        let _ = self.failure.set(error);
    }

    /// Why it could not be read, or not to its end, if so.
    pub(super) fn failure(&self) -> Option<&io::Error> {
        self.failure.get()
    }

    /// Returns the failure as an error of the whole search.
    pub(super) fn error(&self) -> Option<IngestError> {
        let failure = self.failure()?;
        let source = io::Error::new(failure.kind(), failure.to_string());
        Some(IngestError::Io { name: self.name.clone(), source })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How it is read, determined from its front just as an analysis does.
    pub(super) fn plan(&self) -> &ReadPlan {
        &self.plan
    }

    /// Rewrites the input to a temporary file with one record a line, for inputs whose own lines are not records.
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

    /// Opens the unpacked bytes, from the front.
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
        Bytes::Plain(length) => ((Some(length), "plain"), reader::front_of_file(&place.0, DETECTION_BYTES)?),
        Bytes::Stream(stream) => ((None, reader::packing(&place.0)?), reader::front_of(stream, DETECTION_BYTES).0),
    };
    let plan = ReadPlan::of(&front, settings);
    if let Some(error) = plan.refusal_error() {
        return Err(error);
    }
    let opened = Opened::of(source, place, size, plan);
    if opened.plan.is_canonical() { Ok(opened) } else { opened.rewritten(settings) }
}

/// Whether the input can be read more than once, unlike a pipe or a device.
fn is_rereadable(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    Ok(metadata.is_file() || metadata.is_dir())
}

/// Copies the input unchanged (packed if it is packed) to a temporary file.
fn spooled(input: &mut dyn io::Read) -> io::Result<(PathBuf, Option<NamedTempFile>)> {
    let mut spool = temp_files::listed(NamedTempFile::new)?;
    io::copy(input, &mut spool)?;
    Ok((spool.path().to_owned(), Some(spool)))
}
