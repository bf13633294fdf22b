//! State of an analysis: what was read of logs so far, so that the next analysis reads only what is new.

mod error;
mod manifest;
mod matching;

pub use error::StateError;

use super::file::StoredPart;
use super::{Partial, PartialError, Settings};
use crate::ingest::{
    Increment, Options, Part, Progress, Source, end_fingerprint_of, read_on, read_part, start_fingerprint_of,
};
use crate::model::Time;
use crate::untrusted::mask_keys;
use manifest::{KnownFile, Manifest, PartRef, hex};
use matching::{FileMatch, id, match_files};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Microseconds per day.
const DAY_US: i64 = 86_400_000_000;

/// A state, locked against use by other processes.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    manifest: Manifest,
    /// Lock file, held while the state is in use.
    _lock: File,
}

/// Result of looking at one file.
struct FileUpdate {
    known: KnownFile,
    /// What is to be stored, and what counts only in this report.
    part: Option<Part>,
    unstored: Option<Part>,
}

impl State {
    /// Opens the state in `folder`, creating an empty one if there is none, for lines read with `settings`.
    ///
    /// # Errors
    /// When another process uses the state, when it was written with other settings or by another version, or when it
    /// cannot be read or written.
    pub fn open(folder: &Path, settings: &Settings) -> Result<State, StateError> {
        let failed = |error| StateError::io(folder, error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => StateError::InUse { folder: folder.to_owned() },
            TryLockError::Error(error) => failed(error),
        })?;
        let manifest = Manifest::load(folder, settings)?;
        let state = State { folder: folder.to_owned(), manifest, _lock: lock };
        state.remove_unused().map_err(failed)?;
        Ok(state)
    }

    /// Reads and stores what is new in `sources`, forgets the attempts sent before the day of `oldest_us`, and returns
    /// all parts that are left, to be joined.
    ///
    /// # Errors
    /// When the state cannot be read or written. What cannot be read of the sources is recorded in the parts instead.
    pub(crate) fn read(
        &mut self,
        sources: &[Source],
        options: &Options,
        progress: Progress<'_>,
        now_us: i64,
        oldest_us: Option<i64>,
    ) -> Result<Vec<Part>, StateError> {
        let paths: Vec<&Path> = sources
            .iter()
            .filter_map(|source| if let Source::File(path) = source { Some(path.as_path()) } else { None })
            .collect();
        let matches = match_files(&self.manifest.files, &paths);
        let first = self.manifest.next;
        let updates: Vec<Option<FileUpdate>> = (paths.par_iter().zip(&matches).enumerate())
            .map(|(nth, (path, found_match))| {
                let known = match found_match {
                    FileMatch::Copy => return None,
                    FileMatch::KnownFile(index) => self.manifest.files[*index].clone(),
                    FileMatch::New => KnownFile::new(first + nth as u64, path),
                };
                Some(known.read_new(path, options, progress))
            })
            .collect();
        self.manifest.next += paths.len() as u64;
        let mut unstored = self.store_new_parts(updates, &matches, now_us)?;
        if let Some(oldest) = oldest_us {
            let oldest = Time(oldest - oldest.rem_euclid(DAY_US));
            self.forget(oldest, &paths, now_us)?;
            unstored.iter_mut().for_each(|part| part.forget(oldest));
        }
        let failed = |error| StateError::io(&self.folder, error);
        self.manifest.store(&self.folder).map_err(failed)?;
        self.remove_unused().map_err(failed)?;
        let mut parts = self.load()?;
        parts.extend(unstored);
        Ok(parts)
    }

    /// Writes the new parts into one new partial. Returns the parts that are not stored.
    fn store_new_parts(
        &mut self,
        updates: Vec<Option<FileUpdate>>,
        matches: &[FileMatch],
        now_us: i64,
    ) -> Result<Vec<Part>, StateError> {
        let failed = |error| StateError::io(&self.folder, error);
        let number = self.manifest.next;
        let mut partial = Partial::new(self.manifest.settings.clone(), "state");
        let mut unstored = Vec::new();
        for (read_new, found_match) in updates.into_iter().zip(matches) {
            let Some(FileUpdate { mut known, part, unstored: more }) = read_new else { continue };
            if let Some(part) = part {
                let stored = StoredPart::of(&part).map_err(failed)?;
                known.parts.push(PartRef::new(number, &part, &stored.digest, now_us));
                partial.insert(stored, "state");
            }
            unstored.extend(more.map(|part| with_current_name(part, &known)));
            match found_match {
                FileMatch::KnownFile(index) => self.manifest.files[*index] = known,
                _ if known.parts.is_empty() => {}
                _ => self.manifest.files.push(known),
            }
        }
        self.store(&partial)?;
        Ok(unstored)
    }

    /// Writes a partial under the next number, unless it is empty.
    fn store(&mut self, partial: &Partial) -> Result<(), StateError> {
        if partial.parts.is_empty() {
            return Ok(());
        }
        let name = file_name(self.manifest.next);
        self.manifest.next += 1;
        manifest::write(&self.folder, &name, |out| partial.write(out))
            .map_err(|error| StateError::io(&self.folder, error))
    }

    /// Forgets attempts sent before `oldest`: drops stretches that have no others, writes anew those that have, and drops
    /// files without stretches that are not among `paths`.
    fn forget(&mut self, oldest: Time, paths: &[&Path], now_us: i64) -> Result<(), StateError> {
        let mut files = std::mem::take(&mut self.manifest.files);
        let mut partial = Partial::new(self.manifest.settings.clone(), "state");
        for file in &mut files {
            file.parts.retain(|part_ref| part_ref.sent_us.1 >= oldest.0);
            for part_ref in file.parts.iter_mut().filter(|part_ref| part_ref.sent_us.0 < oldest.0) {
                let path = self.folder.join(file_name(part_ref.partial));
                let damaged = |error| StateError::Partial { path: path.clone(), error };
                let known = self.partial(part_ref.partial)?;
                let stored = known.parts.iter().find(|(part, _)| hex(&part.digest) == part_ref.part);
                let (stored, _) = stored.ok_or(damaged(PartialError::Damaged))?;
                let mut part = stored.open().map_err(damaged)?;
                part.forget(oldest);
                let rewritten = StoredPart::of(&part).map_err(|error| StateError::io(&self.folder, error))?;
                *part_ref = PartRef::new(self.manifest.next, &part, &rewritten.digest, now_us);
                partial.insert(rewritten, "state");
            }
        }
        files.retain(|file| !file.parts.is_empty() || paths.contains(&file.path.as_path()));
        self.manifest.files = files;
        self.store(&partial)
    }

    /// Reads the partial of this number.
    fn partial(&self, number: u64) -> Result<Partial, StateError> {
        let path = self.folder.join(file_name(number));
        let read = Partial::read(&path).map_err(|error| StateError::io(&path, error))?;
        read.map_err(|error| StateError::Partial { path, error })
    }

    /// Loads all stored parts.
    fn load(&self) -> Result<Vec<Part>, StateError> {
        let mut owners: HashMap<(u64, String), Vec<&KnownFile>> = HashMap::new();
        for file in &self.manifest.files {
            for stored in &file.parts {
                owners.entry((stored.partial, stored.part.clone())).or_default().push(file);
            }
        }
        let mut parts = Vec::new();
        for number in self.manifest.partials() {
            let path = self.folder.join(file_name(number));
            let damaged = |error| StateError::Partial { path: path.clone(), error };
            let partial = self.partial(number)?;
            let wanted =
                partial.parts.iter().filter_map(|(part, _)| Some((part, owners.get(&(number, hex(&part.digest)))?)));
            let wanted: Vec<_> = wanted.collect();
            let opened: Result<Vec<Vec<Part>>, _> = wanted
                .par_iter()
                .map(|(part, owners)| owners.iter().map(|file| Ok(with_current_name(part.open()?, file))).collect())
                .collect();
            parts.extend(opened.map_err(damaged)?.into_iter().flatten());
        }
        Ok(parts)
    }

    /// Removes partials that the manifest does not reference: those left by an interrupted analysis, and dropped ones.
    fn remove_unused(&self) -> io::Result<()> {
        let used: BTreeSet<String> = self.manifest.partials().into_iter().map(file_name).collect();
        for entry in std::fs::read_dir(&self.folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let is_partial = name.ends_with(".rlp") && !used.contains(&name);
            if is_partial || name.ends_with(".half") {
                std::fs::remove_file(self.folder.join(&name))?;
            }
        }
        Ok(())
    }
}

impl KnownFile {
    fn new(number: u64, path: &Path) -> KnownFile {
        let path = path.to_owned();
        KnownFile {
            number,
            path,
            id: (0, 0),
            head: (0, 0),
            tail: (0, 0),
            mark: None,
            seen: None,
            has_attempts: false,
            parts: Vec::new(),
        }
    }

    /// Reads what is new of the file, now at `path`.
    fn read_new(mut self, path: &Path, options: &Options, progress: Progress<'_>) -> FileUpdate {
        self.path = path.to_owned();
        let metadata = path.metadata().ok();
        let seen = metadata.as_ref().map(|metadata| (id(metadata), seen(metadata)));
        if seen.is_some_and(|(id, seen)| self.id == id && self.seen == Some(seen)) {
            return FileUpdate { known: self, part: None, unstored: None };
        }
        let increment = read_on(path, self.mark.as_ref(), options, progress);
        let (Some((id, seen)), Ok(Increment { part, tail, checkpoint: mark, replaces })) = (seen, increment) else {
            return self.read_without_storing(path, options, progress);
        };
        // The path may by now be another file, or the file may have another content: then nothing is stored, and it is
        // looked at again next time.
        let is_whole =
            part.iter().chain(&tail).all(|part| part.facts.inputs.iter().all(|input| input.failure.is_none()));
        if !is_whole || !self.is_still(path, id) {
            return self.read_without_storing(path, options, progress);
        }
        if part.is_none() && tail.is_none() && self.parts.is_empty() {
            return self.read_without_storing(path, options, progress);
        }
        if replaces || mark.is_none() {
            self.parts.clear();
        }
        let head = start_fingerprint_of(path, mark.as_ref().map_or(u64::MAX, |mark| mark.bytes));
        let is_settled = tail.is_none() && path.metadata().is_ok_and(|after| self::seen(&after) == seen);
        self.head = head.unwrap_or(self.head);
        self.tail = end_fingerprint_of(path, mark.as_ref().map_or(u64::MAX, |mark| mark.bytes)).unwrap_or(self.tail);
        self.seen = is_settled.then_some(seen);
        (self.id, self.mark) = (id, mark);
        self.has_attempts |= part.iter().any(|part| !part.table.rows.is_empty());
        FileUpdate { known: self, part, unstored: tail }
    }

    /// Whether the file at `path` still has this `id` and begins as it did.
    fn is_still(&self, path: &Path, id: (u64, u64)) -> bool {
        let is_same = path.metadata().is_ok_and(|metadata| matching::id(&metadata) == id);
        is_same && (self.head.1 == 0 || start_fingerprint_of(path, self.head.1).is_ok_and(|head| head == self.head))
    }

    /// Reads the whole file for this report only, without storing it, so that failures are reported; it is read again
    /// next time.
    fn read_without_storing(self, path: &Path, options: &Options, progress: Progress<'_>) -> FileUpdate {
        let part = read_part(&[Source::File(path.to_owned())], options, progress);
        // Stored attempts of the file would count twice.
        let is_passing = self.parts.is_empty() || part.facts.inputs.iter().all(|input| input.read.0 == 0);
        FileUpdate { known: self, part: None, unstored: is_passing.then_some(part) }
    }
}

/// Returns a part of a file with the current name of the file.
fn with_current_name(mut part: Part, file: &KnownFile) -> Part {
    let name = mask_keys(&file.path.display().to_string()).into_owned();
    for input in &mut part.facts.inputs {
        input.name.clone_from(&name);
        input.fingerprint = file.number;
    }
    part
}

/// Returns length in bytes and modification time in ns.
fn seen(metadata: &Metadata) -> (u64, u64) {
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), changed.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
}

fn file_name(number: u64) -> String {
    format!("{number:08}.rlp")
}
