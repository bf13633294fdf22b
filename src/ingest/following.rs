//! Plain files that grow: only whole lines appended since the last read are read.

use super::accumulator::Merger;
use super::error::IngestError;
use super::ingested::Ingested;
use super::limits::{BATCH_WINDOWS, DETECTION_BYTES};
use super::open::ReadPlan;
use super::options::{Options, Progress};
use super::part::Part;
use super::piece::Piece;
use super::reader;
use super::source::Source;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

/// Number of bytes read at a time when searching backward for the last newline.
const BACKWARD_STEP: u64 = 1 << 16;

/// Inputs that are read further whenever they have grown.
pub struct Following {
    files: Vec<Followed>,
    merger: Merger,
    options: Options,
    /// How far the only file had been read by an earlier run of the program.
    resumed: Option<Checkpoint>,
}

/// How far an input was read, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Number of bytes of whole lines read, after decompression.
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// [`ReadPlan::fingerprint`] of the plan with which it was read.
    pub(crate) how: String,
}

/// One followed file.
struct Followed {
    path: PathBuf,
    id: FileId,
    /// Number of bytes read so far, all of whole lines.
    read: u64,
    plan: Option<Arc<ReadPlan>>,
    /// Number of bytes at its start from which the plan was made.
    plan_bytes: u64,
}

/// Change of the inputs since the last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// No change.
    None,
    /// Lines were appended, and have been read.
    Appended,
    /// A file was replaced or truncated, or is now detected as another format: everything must be read again.
    Replaced,
}

/// Device and inode, which show whether another file has taken the name.
type FileId = (u64, u64);

impl Following {
    /// Prepares to read `sources`; `None` if one of them can only be read from start to end: compressed or piped, one
    /// document, or in a format whose lines depend on earlier ones.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn new(sources: &[Source], options: &Options) -> io::Result<Option<Following>> {
        let mut following = Following {
            files: Vec::new(),
            merger: Merger::new(sources.len()),
            options: options.clone(),
            resumed: None,
        };
        for source in sources {
            let Source::File(path) = source else { return Ok(None) };
            let reader::Bytes::Plain(_) = reader::open(path)? else { return Ok(None) };
            let front = reader::front_of_file(path, DETECTION_BYTES)?;
            if !front.is_empty() && !ReadPlan::of(&front, &options.settings()).reads_in_parallel() {
                return Ok(None);
            }
            following.merger.open(source);
            let id = file_id(&path.metadata()?);
            following.files.push(Followed { path: path.clone(), id, read: 0, plan: None, plan_bytes: 0 });
        }
        Ok(Some(following))
    }

    /// Treats the part of the only file before `checkpoint` as already read.
    pub(super) fn resume(&mut self, checkpoint: &Checkpoint) {
        if let [followed] = self.files.as_mut_slice() {
            followed.read = checkpoint.bytes;
            self.merger.accumulator.lines[0] = checkpoint.lines;
            self.resumed = Some(checkpoint.clone());
        }
    }

    /// Returns how far the only file was read.
    pub(super) fn checkpoint(&self) -> Option<Checkpoint> {
        let [followed] = self.files.as_slice() else { return None };
        let plan = followed.plan.as_ref()?;
        Some(Checkpoint { bytes: followed.read, lines: self.merger.accumulator.lines[0], how: plan.fingerprint() })
    }

    /// Returns what was read since [`Following::resume`], as a part.
    pub(super) fn into_part(self) -> Part {
        let mut part = self.merger.accumulator.into_part();
        if let (Some(before), [input]) = (self.resumed, part.facts.inputs.as_mut_slice()) {
            input.start = (before.bytes, before.lines);
            input.read.1 -= before.lines;
        }
        part
    }

    /// Reads appended whole lines, and with `to_end` also the text after the last newline, after which nothing more may
    /// be read.
    ///
    /// # Errors
    /// When the metadata or the content of a file cannot be read.
    pub fn read_on(&mut self, to_end: bool, progress: Progress<'_>) -> io::Result<Growth> {
        let mut growth = Growth::None;
        for file in 0..self.files.len() {
            let followed = &mut self.files[file];
            let metadata = followed.path.metadata()?;
            if file_id(&metadata) != followed.id || metadata.len() < followed.read {
                return Ok(Growth::Replaced);
            }
            let end = if to_end { metadata.len() } else { end_of_whole_lines(followed, metadata.len())? };
            if end == followed.read {
                continue;
            }
            if !self.update_plan(file, end)? {
                return Ok(Growth::Replaced);
            }
            self.read(file, end, progress);
            growth = Growth::Appended;
        }
        Ok(growth)
    }

    /// Returns what was read so far, without the texts of rejected lines.
    ///
    /// # Errors
    /// When no input could be read.
    pub fn so_far(&mut self) -> Result<&Ingested, IngestError> {
        self.merger.accumulator.summarize()?;
        self.merger.accumulator.out.table.find_all_views();
        Ok(&self.merger.accumulator.out)
    }

    /// Returns everything that was read.
    ///
    /// # Errors
    /// When no input could be read.
    pub fn finish(self) -> Result<Ingested, IngestError> {
        self.merger.finish_whole()
    }

    /// Detects from the first `end` bytes of a file how it is read, if more of its start is known than before. Returns
    /// whether what was already read remains valid.
    fn update_plan(&mut self, file: usize, end: u64) -> io::Result<bool> {
        let followed = &mut self.files[file];
        let known = end.min(DETECTION_BYTES as u64);
        if followed.plan.is_some() && followed.plan_bytes == known {
            return Ok(true);
        }
        let front = reader::front_of_file(&followed.path, known as usize)?;
        // The file was empty before, and is now compressed.
        if !reader::is_plain(&front) {
            return Ok(false);
        }
        let plan = ReadPlan::of(&front, &self.options.settings());
        let remains_valid = plan.reads_in_parallel()
            && followed.plan.as_ref().is_none_or(|before| before.reads_like(&plan))
            && self.resumed.as_ref().is_none_or(|before| before.how == plan.fingerprint());
        let accumulator = &mut self.merger.accumulator;
        accumulator.remove_notes(file as u32);
        accumulator.set_plan(file as u32, &plan);
        (followed.plan, followed.plan_bytes) = (Some(Arc::new(plan)), known);
        Ok(remains_valid)
    }

    fn read(&mut self, file: usize, end: u64, progress: Progress<'_>) {
        let followed = &mut self.files[file];
        let Some(plan) = followed.plan.clone() else { return };
        let window = self.options.window.max(1);
        let starts: Vec<u64> = (followed.read..end).step_by(window as usize).collect();
        for starts in starts.chunks(BATCH_WINDOWS as usize) {
            let piece = |start: &u64| {
                let (start, end) = (*start, (start + window).min(end));
                let path = &followed.path;
                let piece = Piece::Window { path, file: file as u32, start, end, plan: Arc::clone(&plan) };
                piece.parse(&self.merger.context, &self.options, progress)
            };
            let chunks: Vec<_> = starts.par_iter().map(piece).collect();
            self.merger.accumulator.pending.extend(chunks);
            self.merger.accumulator.merge_pending();
        }
        followed.read = end;
    }
}

/// Returns the end of the last whole line in the first `length` bytes of a file.
fn end_of_whole_lines(followed: &Followed, length: u64) -> io::Result<u64> {
    let mut file = File::open(&followed.path)?;
    let mut end = length;
    let mut buffer = Vec::new();
    while end > followed.read {
        let start = end.saturating_sub(BACKWARD_STEP).max(followed.read);
        buffer.clear();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut buffer)?;
        if let Some(newline) = memchr::memrchr(b'\n', &buffer) {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(followed.read)
}

#[cfg(unix)]
fn file_id(metadata: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// On other systems a replaced file is recognized by its shorter length only.
#[cfg(not(unix))]
fn file_id(_: &Metadata) -> FileId {
    (0, 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;

    const LINE: &str = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"c","status":200}"#;

    fn append(path: &std::path::Path, text: &str) {
        File::options().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn following(path: &std::path::Path) -> Option<Following> {
        Following::new(&[Source::File(path.to_owned())], &Options::default()).unwrap()
    }

    #[test]
    fn only_whole_lines_are_read_and_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        append(&path, "");
        let mut log = following(&path).unwrap();
        let mut step = |text: &str, to_end: bool| {
            append(&path, text);
            let growth = log.read_on(to_end, &|_| {}).unwrap();
            (growth, log.so_far().unwrap().table.rows.len())
        };
        assert_eq!(step("", false), (Growth::None, 0));
        assert_eq!(step(&LINE[..20], false), (Growth::None, 0));
        assert_eq!(step(&format!("{}\n{LINE}", &LINE[20..]), false), (Growth::Appended, 1));
        assert_eq!(step(&format!("\n{LINE}\n"), false), (Growth::Appended, 3));
        assert_eq!(step("", false), (Growth::None, 3));
        assert_eq!(step(LINE, true), (Growth::Appended, 4));
        let lines: Vec<u32> = log.finish().unwrap().table.rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn a_file_that_took_the_name_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        append(&path, &format!("{LINE}\n{LINE}\n"));
        let mut log = following(&path).unwrap();
        assert_eq!(log.read_on(false, &|_| {}).unwrap(), Growth::Appended);
        std::fs::write(&path, format!("{LINE}\n")).unwrap();
        assert_eq!(log.read_on(false, &|_| {}).unwrap(), Growth::Replaced);
    }

    #[test]
    fn inputs_that_can_only_be_read_from_the_start_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list.json");
        append(&list, &format!("[\n{LINE},\n{LINE}\n]\n"));
        assert!(following(&list).is_none());
        assert!(Following::new(&[Source::Stdin], &Options::default()).unwrap().is_none());
    }
}
