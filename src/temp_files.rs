//! Files that must be removed before the program ends: partial outputs and temporary copies of pipes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

static LIST: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Locks the list of these files.
pub(crate) fn hold() -> MutexGuard<'static, Vec<PathBuf>> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a file with `make` and adds it to the list while it is locked.
pub(crate) fn listed(make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    let mut list = hold();
    let file = make()?;
    list.push(file.path().to_owned());
    Ok(file)
}

/// Removes the files in the list from the disk.
pub(crate) fn remove(list: &[PathBuf]) {
    for path in list {
        // If this fails, nothing more can be done.
        let _ = std::fs::remove_file(path);
    }
}

/// Removes a file from the list, for example after it was renamed.
pub(crate) fn forget(list: &mut Vec<PathBuf>, path: &Path) {
    list.retain(|other| other != path);
}
