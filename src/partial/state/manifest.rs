//! What a state says of itself: which bytes of which files are in it, and in which partials they are.
//!
//! The manifest is replaced as a whole, by a rename, and that is what makes an increment part of the state: what was written
//! before it counts only from then on, and what was not written is read again.

use super::StateError;
use crate::ingest::Mark;
use crate::partial::Settings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Name of the file. It must not look like a log, since a state may lie among them.
const NAME: &str = "manifest";
/// Number of the layout below.
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    made_by: String,
    pub(super) settings: Settings,
    /// Number of the next partial, and of the next file.
    pub(super) next: u64,
    pub(super) files: Vec<Known>,
}

/// A file that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Known {
    /// No other file of the state has it.
    pub(super) number: u64,
    /// Where it was seen last.
    pub(super) path: PathBuf,
    /// Device and inode.
    pub(super) id: (u64, u64),
    /// Fingerprint of its first bytes, and how many of them.
    pub(super) head: (u64, u64),
    /// How far it was read; `None` where it is read as a whole.
    pub(super) mark: Option<Mark>,
    /// Its length in bytes and time of change in ns when all of it was read; `None` where that was not so.
    pub(super) seen: Option<(u64, u64)>,
    /// Whether attempts were read of it.
    pub(super) has_attempts: bool,
    pub(super) parts: Vec<Stored>,
}

/// A stretch of a file, in a partial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    /// Number of the partial, and checksum of the part, in hexadecimal digits.
    pub(super) partial: u64,
    pub(super) part: String,
    /// When its latest attempt was sent, or where it has none, when it was read; µs.
    pub(super) latest_us: i64,
}

impl Manifest {
    /// The one in `folder`; one that knows nothing where there is none.
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

    /// Puts it in its place.
    pub(super) fn store(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        write(folder, NAME, |out| out.write_all(&text))
    }

    /// Numbers of the partials that hold something that counts.
    pub(super) fn partials(&self) -> BTreeSet<u64> {
        self.files.iter().flat_map(|file| &file.parts).map(|stored| stored.partial).collect()
    }
}

/// Writes a file of `folder` so that it is there as a whole or not at all, even where the power fails.
pub(super) fn write(folder: &Path, name: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let half = folder.join(format!("{name}.half"));
    let mut file = File::create(&half)?;
    let mut buffered = io::BufWriter::new(&mut file);
    fill(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.sync_all()?;
    drop(file);
    std::fs::rename(&half, folder.join(name))?;
    sync(folder)
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file.
#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}
