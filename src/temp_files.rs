//! Files that must not outlive the program: half-written outputs, and what stands in for a pipe.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

static LIST: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The list, which nothing changes while it is held.
pub(crate) fn hold() -> MutexGuard<'static, Vec<PathBuf>> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a file by `make` that is on the list from its first moment on.
pub(crate) fn listed(make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    let mut list = hold();
    let file = make()?;
    list.push(file.path().to_owned());
    Ok(file)
}

/// Removes all of them from the disk.
pub(crate) fn remove(list: &[PathBuf]) {
    for path in list {
        // Nothing is left to do where even this fails.
        let _ = std::fs::remove_file(path);
    }
}

/// Takes a file off the list that is one no more.
pub(crate) fn forget(list: &mut Vec<PathBuf>, path: &Path) {
    list.retain(|other| other != path);
}
