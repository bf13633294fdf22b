//! Ctrl-C, or a request to end: what is half written goes, and a sentence says what was done.

use super::message;
use crate::temp_files;
use indicatif::HumanBytes;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// 128 + SIGINT: what shells report of an interrupted program.
const EXIT_CODE: i32 = 130;

static READ: AtomicU64 = AtomicU64::new(0);
/// Outputs that are in their place.
static WHOLE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Whether an end was asked for.
static END: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// From here on an interrupt is answered, unless one is answered otherwise already.
pub(super) fn watch() {
    // Where no handler can be set, an interrupt ends the program as it always did.
    let _ = ctrlc::set_handler(leave);
}

/// Ends the program; what is half written goes.
fn leave() {
    // Held until the end: nothing is put in its place any more.
    let list = temp_files::hold();
    temp_files::remove(&list);
    message::warning(&farewell(&whole()));
    #[expect(clippy::exit, reason = "the other threads know nothing of the interrupt")]
    std::process::exit(EXIT_CODE);
}

/// From here on the first interrupt asks for an end, and only the second is answered as [`watch`] does.
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

/// Waits for so long, or until an end is asked for; whether it is.
pub(super) fn wait_for_end(pause: Duration) -> bool {
    let asked = END.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = END.1.wait_timeout_while(asked, pause, |asked| !*asked);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Counts bytes of input.
pub(super) fn note_read(bytes: u64) {
    READ.fetch_add(bytes, Ordering::Relaxed);
}

/// Writes a file of another name in `folder`, and then moves it to `place`, which is spoken of as `name`.
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
    // A file may be rewritten again and again.
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
