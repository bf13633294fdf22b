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

/// What each of `paths` is.
pub(super) fn claims(known: &[Known], paths: &[&Path]) -> Vec<Claim> {
    let mut heads = Heads { paths, known: HashMap::new() };
    let mut claims = vec![Claim::New; paths.len()];
    let mut taken = vec![false; known.len()];
    let ids: Vec<(u64, u64)> =
        paths.iter().map(|path| path.metadata().map_or((0, 0), |metadata| id(&metadata))).collect();
    let by_id = |nth: usize, file: &Known| ids[nth] != (0, 0) && ids[nth] == file.id;
    let by_path = |nth: usize, file: &Known| paths[nth] == file.path;
    // Before its first attempt, a log may hold no more than titles that others have too.
    let by_head = |_: usize, file: &Known| file.has_attempts;
    let ways: [&dyn Fn(usize, &Known) -> bool; 3] = [&by_id, &by_path, &by_head];
    for fits in ways {
        for nth in 0..paths.len() {
            if claims[nth] != Claim::New {
                continue;
            }
            let mut found = known.iter().enumerate().filter(|(place, file)| !taken[*place] && fits(nth, file));
            if let Some((place, _)) = found.find(|(_, file)| heads.is_of(nth, file)) {
                (claims[nth], taken[place]) = (Claim::Known(place), true);
            }
        }
    }
    for (nth, claim) in claims.iter_mut().enumerate().filter(|(_, claim)| **claim == Claim::New) {
        if known.iter().any(|file| by_head(nth, file) && heads.is_of(nth, file)) {
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
