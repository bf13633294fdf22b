//! The log file of a server, and counters of its records.

use super::attempt::AttemptRecord;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of records kept in memory for requests to the control endpoint.
const MAX_RECENT: usize = 1000;

/// Log of a server.
pub(crate) struct Log {
    file: Option<Mutex<Target>>,
    path: PathBuf,
    run: String,
    /// The most recent records, if the control endpoint offers them.
    recent: Option<Mutex<VecDeque<String>>>,
    requests: AtomicU64,
    ended: AtomicU64,
    written: AtomicU64,
    lost: AtomicU64,
    refused: AtomicU64,
    print_warning: fn(&str),
}

struct Target {
    file: File,
    /// Whether the last write failed, possibly within a line.
    last_write_failed: bool,
}

/// Counters of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Requests whose head was read.
    pub(crate) requests: u64,
    /// Requests that were answered or broken off.
    pub(crate) ended: u64,
    /// Records written.
    pub(crate) written: u64,
    /// Records that could not be written.
    pub(crate) lost: u64,
    /// Requests that were refused and are not attempts.
    pub(crate) refused: u64,
}

impl Log {
    /// Opens `path` for appending; without a path, records are only counted. `print_warning` prints warnings.
    pub(crate) fn open(path: Option<&Path>, run: &str, keep_recent: bool, print_warning: fn(&str)) -> io::Result<Log> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        let file = path.map(open).transpose()?.map(|file| Mutex::new(Target { file, last_write_failed: false }));
        Ok(Log {
            file,
            path: path.unwrap_or(Path::new("")).to_owned(),
            run: run.to_owned(),
            recent: keep_recent.then(Mutex::default),
            requests: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            print_warning,
        })
    }

    /// Run id of the records.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// Counts a request and returns its number, from 0.
    pub(crate) fn count(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a refused request.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: &str) {
        (self.print_warning)(text);
    }

    pub(crate) fn counts(&self) -> Counts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            requests: load(&self.requests),
            ended: load(&self.ended),
            written: load(&self.written),
            lost: load(&self.lost),
            refused: load(&self.refused),
        }
    }

    /// Returns the most recent records, each a line of JSON.
    pub(crate) fn recent(&self) -> Vec<String> {
        self.recent.as_ref().map(|recent| locked(recent).iter().cloned().collect()).unwrap_or_default()
    }

    /// Writes a record with a single write, so that it is in the file however the process ends.
    pub(crate) fn write(&self, attempt: &AttemptRecord) {
        let line = attempt.line();
        self.ended.fetch_add(1, Ordering::Relaxed);
        if let Some(file) = &self.file {
            match append(&mut locked(file), &line) {
                Ok(()) => _ = self.written.fetch_add(1, Ordering::Relaxed),
                Err(error) => self.warn_of_lost(&error),
            }
        }
        if let Some(recent) = &self.recent {
            let mut recent = locked(recent);
            if recent.len() == MAX_RECENT {
                recent.pop_front();
            }
            recent.push_back(line);
        }
    }

    /// Warns of lost records at powers of two, to limit the number of messages.
    fn warn_of_lost(&self, error: &io::Error) {
        let lost = self.lost.fetch_add(1, Ordering::Relaxed) + 1;
        if lost.is_power_of_two() {
            (self.print_warning)(&format!(
                "cannot write {}: {error}; {lost} {} not in the log, and requests are served all the same",
                self.path.display(),
                if lost == 1 { "record is" } else { "records are" }
            ));
        }
    }
}

fn append(target: &mut Target, line: &str) -> io::Result<()> {
    // Ends an incomplete line first, so that it does not corrupt this one.
    let written = if target.last_write_failed {
        target.file.write_all(format!("\n{line}").as_bytes())
    } else {
        target.file.write_all(line.as_bytes())
    };
    target.last_write_failed = written.is_err();
    written
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
