//! Where records go: a file that only grows, and counters that say what is in it.

use super::attempt::AttemptRecord;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Records kept in memory for who asks over HTTP.
const RECENT: usize = 1000;

/// The log of a server.
pub(crate) struct Log {
    file: Option<Mutex<Target>>,
    path: PathBuf,
    run: String,
    /// Records of the last requests, where they may be asked for.
    recent: Option<Mutex<VecDeque<String>>>,
    requests: AtomicU64,
    ended: AtomicU64,
    written: AtomicU64,
    lost: AtomicU64,
    refused: AtomicU64,
    say: fn(&str),
}

struct Target {
    file: File,
    /// A write failed, perhaps in the middle of a line.
    is_torn: bool,
}

/// What a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Requests whose head was read.
    pub(crate) requests: u64,
    /// Of those, requests that were answered or broke off.
    pub(crate) ended: u64,
    /// Records in the log.
    pub(crate) written: u64,
    /// Records that could not be written.
    pub(crate) lost: u64,
    /// Requests that were turned away, and are no attempts.
    pub(crate) refused: u64,
}

impl Log {
    /// Opens `path` for adding to it; without one, records are counted only. `say` takes warnings.
    pub(crate) fn open(path: Option<&Path>, run: &str, keep_recent: bool, say: fn(&str)) -> io::Result<Log> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        let file = path.map(open).transpose()?.map(|file| Mutex::new(Target { file, is_torn: false }));
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
            say,
        })
    }

    /// The run that records are of.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// Counts a request; the first is number 0.
    pub(crate) fn count(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a request that is turned away.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells the user something.
    pub(crate) fn warn(&self, text: &str) {
        (self.say)(text);
    }

    pub(crate) fn counts(&self) -> Counts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            requests: of(&self.requests),
            ended: of(&self.ended),
            written: of(&self.written),
            lost: of(&self.lost),
            refused: of(&self.refused),
        }
    }

    /// The last records, each a line of JSON.
    pub(crate) fn recent(&self) -> Vec<String> {
        self.recent.as_ref().map(|recent| locked(recent).iter().cloned().collect()).unwrap_or_default()
    }

    /// Writes a record. One write a line: what was written is in the file, however the process ends.
    pub(crate) fn write(&self, attempt: &AttemptRecord) {
        let line = attempt.line();
        self.ended.fetch_add(1, Ordering::Relaxed);
        if let Some(file) = &self.file {
            match append(&mut locked(file), &line) {
                Ok(()) => _ = self.written.fetch_add(1, Ordering::Relaxed),
                Err(error) => self.complain(&error),
            }
        }
        if let Some(recent) = &self.recent {
            let mut recent = locked(recent);
            if recent.len() == RECENT {
                recent.pop_front();
            }
            recent.push_back(line);
        }
    }

    /// At the first loss, and then ever more seldom.
    fn complain(&self, error: &io::Error) {
        let lost = self.lost.fetch_add(1, Ordering::Relaxed) + 1;
        if lost.is_power_of_two() {
            (self.say)(&format!(
                "cannot write {}: {error}; {lost} {} not in the log, and requests are served all the same",
                self.path.display(),
                if lost == 1 { "record is" } else { "records are" }
            ));
        }
    }
}

fn append(target: &mut Target, line: &str) -> io::Result<()> {
    // What stands before a torn line must not swallow a whole one.
    let written = if target.is_torn {
        target.file.write_all(format!("\n{line}").as_bytes())
    } else {
        target.file.write_all(line.as_bytes())
    };
    target.is_torn = written.is_err();
    written
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
