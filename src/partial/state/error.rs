//! Why a state cannot be used.

use crate::partial::PartialError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The system refused.
    #[error("cannot use the state {path}: {source}")]
    Io {
        /// The folder or a file of it.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process uses it.
    #[error("the state {folder} is in use by another process: wait for its end, or give each a folder of its own")]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// Its manifest is none.
    #[error("{path} is damaged: remove the folder, and the logs that are still there are read anew")]
    Damaged {
        /// The manifest.
        path: PathBuf,
    },
    /// Another version wrote it.
    #[error(
        "retrylens {made_by} wrote the state {folder}, and this is {}, which may read lines otherwise: give another folder",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The folder.
        folder: PathBuf,
        /// The version.
        made_by: String,
    },
    /// It holds lines that were read by other settings.
    #[error("the logs in the state {folder} were read by another {setting}: give the same, or another folder")]
    Settings {
        /// The folder.
        folder: PathBuf,
        /// Which setting differs.
        setting: String,
    },
    /// A partial of it cannot be used.
    #[error("{path}, a part of the state, cannot be used: {error}")]
    Partial {
        /// The partial.
        path: PathBuf,
        /// Why.
        error: PartialError,
    },
}

impl StateError {
    pub(super) fn io(path: &Path, source: io::Error) -> StateError {
        StateError::Io { path: path.to_owned(), source }
    }
}
