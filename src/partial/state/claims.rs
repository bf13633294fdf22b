//! Which file of a state a file is: under its name or another after rotation, as a copy, or packed.

use super::manifest::Known;
use crate::ingest::head_of;
use std::collections::HashMap;
use std::fs::Metadata;
use std::path::Path;

/// What a file is to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A file it has not read from.
    New,
    /// The file at this place of its list.
    Known(usize),
    /// A copy of one that is still there.
    Copy,
}

/// By what a file is taken for a known one that begins alike.
#[derive(Clone, Copy)]
enum Way {
    /// Device and inode.
    Id,
    Name,
    /// Its beginning alone. Before its first attempt, a log may hold no more than titles that others have too.
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

/// What each of `paths` is.
pub(super) fn claims<'p>(known: &[Known], paths: &[&'p Path]) -> Vec<Claim> {
    let mut heads = Heads { paths, known: HashMap::new() };
    let with_id = |path: &&'p Path| (*path, path.metadata().map_or((0, 0), |metadata| id(&metadata)));
    let files: Vec<(&Path, (u64, u64))> = paths.iter().map(with_id).collect();
    let mut claims = vec![Claim::New; paths.len()];
    let mut taken = vec![false; known.len()];
    for way in [Way::Id, Way::Name, Way::Head] {
        for (nth, claim) in claims.iter_mut().enumerate().filter(|(_, claim)| **claim == Claim::New) {
            let free = known.iter().enumerate().filter(|(place, file)| !taken[*place] && way.fits(files[nth], file));
            let found = free.map(|(place, file)| (place, heads.is_of(nth, file))).find(|(_, is_it)| *is_it);
            if let Some((place, _)) = found {
                (*claim, taken[place]) = (Claim::Known(place), true);
            }
        }
    }
    for (nth, claim) in claims.iter_mut().enumerate().filter(|(_, claim)| **claim == Claim::New) {
        if known.iter().any(|file| Way::Head.fits(files[nth], file) && heads.is_of(nth, file)) {
            *claim = Claim::Copy;
        }
    }
    claims
}

/// What files begin with, as far as that was looked at.
struct Heads<'p> {
    paths: &'p [&'p Path],
    known: HashMap<(usize, u64), (u64, u64)>,
}

impl Heads<'_> {
    /// Whether the file at `nth` begins as `file` did.
    fn is_of(&mut self, nth: usize, file: &Known) -> bool {
        let path = self.paths[nth];
        let head = self.known.entry((nth, file.head.1));
        *head.or_insert_with(|| head_of(path, file.head.1).unwrap_or_default()) == file.head && file.head.1 > 0
    }
}

/// Device and inode.
#[cfg(unix)]
pub(super) fn id(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere files are known by their names and first bytes.
#[cfg(not(unix))]
pub(super) fn id(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
