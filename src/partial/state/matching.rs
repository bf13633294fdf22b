//! Matches the files of an analysis with those of a state: by the same or another name after rotation, as a copy, or
//! compressed.

use super::manifest::KnownFile;
use crate::ingest::{end_fingerprint_of, start_fingerprint_of};
use std::collections::HashMap;
use std::fs::Metadata;
use std::path::Path;

/// How a file relates to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileMatch {
    /// A file that was not read before.
    New,
    /// The known file at this index of the state's list.
    KnownFile(usize),
    /// A copy of a known file that still exists.
    Copy,
}

/// How a file that begins like a known one is matched with it.
#[derive(Clone, Copy)]
enum MatchBy {
    /// By device and inode.
    Id,
    Name,
    /// By its beginning alone, if the known file has attempts: before its first attempt, a log may hold only headers
    /// that other logs share.
    Head,
}

impl MatchBy {
    fn fits(self, (path, id): (&Path, (u64, u64)), file: &KnownFile) -> bool {
        match self {
            MatchBy::Id => id != (0, 0) && id == file.id,
            MatchBy::Name => path == file.path,
            MatchBy::Head => file.has_attempts,
        }
    }
}

impl MatchBy {
    /// Whether the file needs not hold what was read: one that is read as a whole may be rewritten, up to its last bytes.
    fn may_have_changed(self, file: &KnownFile) -> bool {
        file.mark.is_none() && !matches!(self, MatchBy::Head)
    }
}

/// Whether the file at `path` holds all that was read of `file`: logs with the same banner only begin alike.
fn contains_what_was_read(path: &Path, file: &KnownFile) -> bool {
    end_fingerprint_of(path, file.tail.0).is_ok_and(|tail| tail == file.tail)
}

/// Whether the file at `path` holds nothing that the one at `original` does not hold.
fn is_prefix(path: &Path, original: &Path) -> bool {
    let Ok(tail) = end_fingerprint_of(path, u64::MAX) else { return false };
    end_fingerprint_of(original, tail.0).is_ok_and(|theirs| theirs == tail)
}

/// Returns what each of `paths` is to the state. Each known file is matched with at most one path.
pub(super) fn match_files<'p>(known: &[KnownFile], paths: &[&'p Path]) -> Vec<FileMatch> {
    let mut head_cache = HeadCache { paths, known: HashMap::new() };
    let with_id = |path: &&'p Path| (*path, path.metadata().map_or((0, 0), |metadata| id(&metadata)));
    let files: Vec<(&Path, (u64, u64))> = paths.iter().map(with_id).collect();
    let mut match_files = vec![FileMatch::New; paths.len()];
    let mut is_matched = vec![false; known.len()];
    for by in [MatchBy::Id, MatchBy::Name, MatchBy::Head] {
        for (nth, found_match) in
            match_files.iter_mut().enumerate().filter(|(_, found_match)| **found_match == FileMatch::New)
        {
            let free =
                known.iter().enumerate().filter(|(index, file)| !is_matched[*index] && by.fits(files[nth], file));
            let found = free
                .filter(|(_, file)| head_cache.is_of(nth, file))
                .find(|(_, file)| by.may_have_changed(file) || contains_what_was_read(paths[nth], file))
                .map(|(index, _)| index);
            if let Some(index) = found {
                (*found_match, is_matched[index]) = (FileMatch::KnownFile(index), true);
            }
        }
    }
    for nth in (0..match_files.len()).filter(|nth| match_files[*nth] == FileMatch::New).collect::<Vec<_>>() {
        let mut originals = (0..known.len())
            .filter(|index| MatchBy::Head.fits(files[nth], &known[*index]))
            .filter(|index| head_cache.is_of(nth, &known[*index]))
            .filter_map(|index| match_files.iter().position(|found_match| *found_match == FileMatch::KnownFile(index)));
        if originals.any(|original| is_prefix(paths[nth], paths[original])) {
            match_files[nth] = FileMatch::Copy;
        }
    }
    match_files
}

/// Fingerprints of how files begin, cached by path and length.
struct HeadCache<'p> {
    paths: &'p [&'p Path],
    known: HashMap<(usize, u64), (u64, u64)>,
}

impl HeadCache<'_> {
    /// Whether the file at index `nth` begins as `file` did.
    fn is_of(&mut self, nth: usize, file: &KnownFile) -> bool {
        let path = self.paths[nth];
        let head = self.known.entry((nth, file.head.1));
        *head.or_insert_with(|| start_fingerprint_of(path, file.head.1).unwrap_or_default()) == file.head
            && file.head.1 > 0
    }
}

/// Returns device and inode of a file.
#[cfg(unix)]
pub(super) fn id(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Returns a constant: on other platforms, files are matched by name and first bytes.
#[cfg(not(unix))]
pub(super) fn id(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
