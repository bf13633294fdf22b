//! Ctrl-C, or a request to end: what is half written goes, and a sentence says what was done.

use super::output;
use indicatif::HumanBytes;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// 128 + SIGINT: what shells report of an interrupted program.
const EXIT_CODE: i32 = 130;

static READ: AtomicU64 = AtomicU64::new(0);
static FILES: Mutex<Files> = Mutex::new(Files { half: Vec::new(), whole: Vec::new() });

/// Output files.
struct Files {
    /// Under names of their own, beside their place.
    half: Vec<PathBuf>,
    /// In their place.
    whole: Vec<PathBuf>,
}

/// From here on an interrupt is answered.
pub(super) fn watch() {
    // Where no handler can be set, an interrupt ends the program as it always did.
    let _ = ctrlc::set_handler(|| {
        // Held until the end: nothing is put in its place any more.
        let files = files();
        for half in &files.half {
            let _ = std::fs::remove_file(half);
        }
        output::warn(&farewell(&files.whole));
        #[expect(clippy::exit, reason = "the other threads know nothing of the interrupt")]
        std::process::exit(EXIT_CODE);
    });
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
    let mut half = {
        let mut files = files();
        let half = tempfile::Builder::new().prefix(".retrylens-").tempfile_in(folder)?;
        files.half.push(half.path().to_owned());
        half
    };
    let written = write(half.as_file_mut());
    let mut files = files();
    files.half.retain(|other| other != half.path());
    written?;
    half.persist(place).map_err(|error| error.error)?;
    files.whole.push(name.to_owned());
    Ok(())
}

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
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
