//! Matches the files of an analysis with those of a state: by the same or another name after rotation, as a copy, or
//! compressed.

use super::manifest::Known;
use crate::ingest::{end_fingerprint_of, start_fingerprint_of};
use std::collections::HashMap;
use std::fs::Metadata;
use std::path::Path;

/// How a file relates to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A file that was not read before.
    New,
    /// The known file at this index of the state's list.
    Known(usize),
    /// A copy of a known file that still exists.
    Copy,
}

/// How a file that begins like a known one is matched with it.
#[derive(Clone, Copy)]
enum Way {
    /// By device and inode.
    Id,
    Name,
    /// By its beginning alone, if the known file has attempts: before its first attempt, a log may hold only headers
    /// that other logs share.
    Head,
}

impl Way {
    fn fits(self, (path, id): (&Path, (u64, u64)), file: &Known) -> bool {
        match self {
            Way::Id => id != (0, 0) && id == file.id,
            Way::Name => path == file.path,
            Way::Head => file.has_attempts,
        }
    }
}

impl Way {
    /// Whether the file needs not hold what was read: one that is read as a whole may be rewritten, up to its last bytes.
    fn tells_by_name(self, file: &Known) -> bool {
        file.mark.is_none() && !matches!(self, Way::Head)
    }
}

/// Whether the file at `path` holds all that was read of `file`: logs with the same banner only begin alike.
fn holds(path: &Path, file: &Known) -> bool {
    end_fingerprint_of(path, file.tail.0).is_ok_and(|tail| tail == file.tail)
}

/// Whether the file at `path` holds nothing that the one at `original` does not hold.
fn is_prefix(path: &Path, original: &Path) -> bool {
    let Ok(tail) = end_fingerprint_of(path, u64::MAX) else { return false };
    end_fingerprint_of(original, tail.0).is_ok_and(|theirs| theirs == tail)
}

/// Returns what each of `paths` is to the state. Each known file is matched with at most one path.
pub(super) fn claims<'p>(known: &[Known], paths: &[&'p Path]) -> Vec<Claim> {
    let mut heads = Heads { paths, known: HashMap::new() };
    let with_id = |path: &&'p Path| (*path, path.metadata().map_or((0, 0), |metadata| id(&metadata)));
    let files: Vec<(&Path, (u64, u64))> = paths.iter().map(with_id).collect();
    let mut claims = vec![Claim::New; paths.len()];
    let mut taken = vec![false; known.len()];
    for way in [Way::Id, Way::Name, Way::Head] {
        for (nth, claim) in claims.iter_mut().enumerate().filter(|(_, claim)| **claim == Claim::New) {
            let free = known.iter().enumerate().filter(|(place, file)| !taken[*place] && way.fits(files[nth], file));
            let found = free
                .filter(|(_, file)| heads.is_of(nth, file))
                .find(|(_, file)| way.tells_by_name(file) || holds(paths[nth], file))
                .map(|(place, _)| place);
            if let Some(place) = found {
                (*claim, taken[place]) = (Claim::Known(place), true);
            }
        }
    }
    for nth in (0..claims.len()).filter(|nth| claims[*nth] == Claim::New).collect::<Vec<_>>() {
        let mut alike = (0..known.len())
            .filter(|place| Way::Head.fits(files[nth], &known[*place]))
            .filter(|place| heads.is_of(nth, &known[*place]))
            .filter_map(|place| claims.iter().position(|claim| *claim == Claim::Known(place)));
        if alike.any(|original| is_prefix(paths[nth], paths[original])) {
            claims[nth] = Claim::Copy;
        }
    }
    claims
}

/// Fingerprints of how files begin, cached by path and length.
struct Heads<'p> {
    paths: &'p [&'p Path],
    known: HashMap<(usize, u64), (u64, u64)>,
}

impl Heads<'_> {
    /// Whether the file at index `nth` begins as `file` did.
    fn is_of(&mut self, nth: usize, file: &Known) -> bool {
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
