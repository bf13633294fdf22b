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

/// Number of input bytes read.
static BYTES_READ: AtomicU64 = AtomicU64::new(0);
/// Output files that are complete.
static COMPLETE_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Whether the user requested that the command stops. Waiting threads are woken by the condition variable.
static STOP: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Installs the handler that exits on an interrupt, unless another handler is installed already.
pub(super) fn exit_on_interrupt() {
    // If no handler can be set, the default action of the signal remains.
    let _ = ctrlc::set_handler(remove_files_and_exit);
}

/// Removes temporary files and exits.
fn remove_files_and_exit() {
    // The list stays locked until the exit, so that no other thread can move an output file into place.
    let list = temp_files::hold();
    temp_files::remove(&list);
    message::warning(&interrupt_message(&complete_files()));
    #[expect(clippy::exit, reason = "the other threads know nothing of the interrupt")]
    std::process::exit(EXIT_CODE);
}

/// Installs a handler for which the first interrupt requests that the command stops after it has written its report, and
/// the second exits at once as [`exit_on_interrupt`]
/// does.
pub(super) fn request_stop_on_interrupt() {
    let _ = ctrlc::set_handler(|| {
        let mut requested = STOP.0.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *requested, true) {
            remove_files_and_exit();
        }
        message::warning("reading what is left and writing the report; once more ends it at once");
        STOP.1.notify_all();
    });
}

/// Waits for `pause`, or until a stop is requested. Returns whether it is.
pub(super) fn wait_for_stop(pause: Duration) -> bool {
    let requested = STOP.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = STOP.1.wait_timeout_while(requested, pause, |requested| !*requested);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Adds to the number of input bytes read, which is reported on an interrupt.
pub(super) fn add_bytes_read(bytes: u64) {
    BYTES_READ.fetch_add(bytes, Ordering::Relaxed);
}

/// Writes a temporary file in `folder` and moves it to `target`. Messages refer to it as `name`.
pub(super) fn write_via_temp_file(
    folder: &Path,
    target: &Path,
    name: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut temporary = temp_files::listed(|| tempfile::Builder::new().prefix(".retrylens-").tempfile_in(folder))?;
    let written = write(temporary.as_file_mut());
    let mut list = temp_files::hold();
    temp_files::forget(&mut list, temporary.path());
    written?;
    temporary.persist(target).map_err(|error| error.error)?;
    let mut complete_files = complete_files();
    // A file may be rewritten several times.
    complete_files.retain(|other| other != name);
    complete_files.push(name.to_owned());
    Ok(())
}

fn complete_files() -> MutexGuard<'static, Vec<PathBuf>> {
    COMPLETE_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn interrupt_message(complete_files: &[PathBuf]) -> String {
    let read = HumanBytes(BYTES_READ.load(Ordering::Relaxed));
    match complete_files {
        [] => format!("interrupted after {read} of input: no file was written"),
        [one] => format!("interrupted after {read} of input: {} is complete, nothing else was written", one.display()),
        [.., last] => format!(
            "interrupted after {read} of input: {} files are complete, the last of them {}; nothing else was written",
            complete_files.len(),
            last.display()
        ),
    }
}
