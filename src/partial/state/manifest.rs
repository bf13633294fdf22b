//! Manifest of a state: which bytes of which files it holds, and in which partials they are.
//!
//! The manifest is replaced as a whole by a rename, which commits an increment: partials written before count only from
//! then on, and whatever was not committed is read again.

use super::StateError;
use crate::ingest::{Checkpoint, Part};
use crate::partial::Settings;
use crate::partial::file::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Name of the file. It must not look like a log, because a state may be in a folder of logs.
const NAME: &str = "manifest";
/// Version of the file format.
const FORMAT: u32 = 2;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    made_by: String,
    pub(super) settings: Settings,
    /// Number that the next partial or file gets.
    pub(super) next: u64,
    pub(super) files: Vec<KnownFile>,
}

/// A file that was read before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KnownFile {
    /// Number of the file, unique within the state.
    pub(super) number: u64,
    /// Path at which it was last seen.
    pub(super) path: PathBuf,
    /// Device and inode.
    pub(super) id: (u64, u64),
    /// Fingerprint of its first bytes, and the number of those bytes.
    pub(super) head: (u64, u64),
    /// Number of bytes read, after decompression, and the fingerprint of the last of them: logs may begin alike.
    pub(super) tail: (u64, u64),
    /// How far it was read; `None` if it is always read as a whole.
    pub(super) mark: Option<Checkpoint>,
    /// Length in bytes and modification time in ns when it had been read completely; `None` if it was not.
    pub(super) seen: Option<(u64, u64)>,
    /// Whether any attempts were read from it.
    pub(super) has_attempts: bool,
    pub(super) parts: Vec<PartRef>,
}

/// A stretch of a file, stored in a partial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartRef {
    /// Number of the partial, and checksum of the part in hexadecimal digits.
    pub(super) partial: u64,
    pub(super) part: String,
    /// Times at which its first and its last attempt with a date were sent, or if it has none, at which it was read; µs.
    pub(super) sent_us: (i64, i64),
}

impl PartRef {
    /// Describes a part read at `now_us`, which is stored in this partial under this checksum.
    pub(super) fn new(partial: u64, part: &Part, digest: &Digest, now_us: i64) -> PartRef {
        let sent = || part.table.rows.iter().filter(|row| !row.is_undated()).map(|row| row.sent.0);
        let sent_us = sent().min().zip(sent().max()).unwrap_or((now_us, now_us));
        PartRef { partial, part: hex(digest), sent_us }
    }
}

/// Returns a checksum in hexadecimal digits.
pub(super) fn hex(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Manifest {
    /// Loads the manifest in `folder`, or creates an empty one if there is none.
    pub(super) fn load(folder: &Path, settings: &Settings) -> Result<Manifest, StateError> {
        let path = folder.join(NAME);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made_by = env!("CARGO_PKG_VERSION").to_owned();
                return Ok(Manifest {
                    format: FORMAT,
                    made_by,
                    settings: settings.clone(),
                    next: 1,
                    files: Vec::new(),
                });
            }
            Err(error) => return Err(StateError::io(&path, error)),
        };
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|_| StateError::Damaged { path: path.clone() })?;
        if manifest.format != FORMAT || manifest.made_by != env!("CARGO_PKG_VERSION") {
            return Err(StateError::Version { folder: folder.to_owned(), made_by: manifest.made_by });
        }
        match manifest.settings.difference(settings) {
            Some(setting) => Err(StateError::Settings { folder: folder.to_owned(), setting: setting.to_owned() }),
            None => Ok(manifest),
        }
    }

    /// Writes the manifest.
    pub(super) fn store(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        write(folder, NAME, |out| out.write_all(&text))
    }

    /// Returns the numbers of the partials that are referenced.
    pub(super) fn partials(&self) -> BTreeSet<u64> {
        self.files.iter().flat_map(|file| &file.parts).map(|stored| stored.partial).collect()
    }
}

/// Writes a file in `folder` atomically, so that even after a power failure it is complete or absent.
pub(super) fn write(folder: &Path, name: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let temporary = folder.join(format!("{name}.half"));
    let mut file = File::create(&temporary)?;
    let mut buffered = io::BufWriter::new(&mut file);
    fill(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.sync_all()?;
    drop(file);
    std::fs::rename(&temporary, folder.join(name))?;
    sync(folder)
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Does nothing: on other platforms, a folder cannot be opened as a file.
#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}
