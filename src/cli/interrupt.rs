//! Handles Ctrl-C and requests to terminate: removes temporary files and reports what was completed.

use super::message;
use crate::temp_files;
use indicatif::HumanBytes;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Exit code of an interrupted program: 128 + SIGINT.
const EXIT_CODE: i32 = 130;

static READ: AtomicU64 = AtomicU64::new(0);
/// Output files that are complete.
static WHOLE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Whether termination was requested, for commands that finish in order.
static END: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Installs the handler that exits on an interrupt, unless another handler is installed already.
pub(super) fn watch() {
    // If no handler can be set, the default action of the signal remains.
    let _ = ctrlc::set_handler(leave);
}

/// Removes temporary files and exits.
fn leave() {
    // Held until exit, so that no other thread can move an output file into place.
    let list = temp_files::hold();
    temp_files::remove(&list);
    message::warning(&farewell(&whole()));
    #[expect(clippy::exit, reason = "the other threads know nothing of the interrupt")]
    std::process::exit(EXIT_CODE);
}

/// Installs a handler for which the first interrupt requests an orderly end, and the second exits at once as [`watch`]
/// does.
pub(super) fn watch_for_end() {
    let _ = ctrlc::set_handler(|| {
        let mut asked = END.0.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *asked, true) {
            leave();
        }
        message::warning("reading what is left and writing the report; once more ends it at once");
        END.1.notify_all();
    });
}

/// Waits for `pause`, or until an orderly end is requested. Returns whether it is.
pub(super) fn wait_for_end(pause: Duration) -> bool {
    let asked = END.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = END.1.wait_timeout_while(asked, pause, |asked| !*asked);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Adds to the number of input bytes read, which is reported on an interrupt.
pub(super) fn note_read(bytes: u64) {
    READ.fetch_add(bytes, Ordering::Relaxed);
}

/// Writes a temporary file in `folder` and moves it to `place`. Messages refer to it as `name`.
pub(super) fn write_beside(
    folder: &Path,
    place: &Path,
    name: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut half = temp_files::listed(|| tempfile::Builder::new().prefix(".retrylens-").tempfile_in(folder))?;
    let written = write(half.as_file_mut());
    let mut list = temp_files::hold();
    temp_files::forget(&mut list, half.path());
    written?;
    half.persist(place).map_err(|error| error.error)?;
    let mut whole = whole();
    // A file may be rewritten several times.
    whole.retain(|other| other != name);
    whole.push(name.to_owned());
    Ok(())
}

fn whole() -> MutexGuard<'static, Vec<PathBuf>> {
    WHOLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn farewell(whole: &[PathBuf]) -> String {
    let read = HumanBytes(READ.load(Ordering::Relaxed));
    match whole {
        [] => format!("interrupted after {read} of input: no file was written"),
        [one] => format!("interrupted after {read} of input: {} is complete, nothing else was written", one.display()),
        [.., last] => format!(
            "interrupted after {read} of input: {} files are complete, the last of them {}; nothing else was written",
            whole.len(),
            last.display()
        ),
    }
}
