//! Errors of states.

use crate::partial::PartialError;
use std::io;
use std::path::{Path, PathBuf};

/// Reason why a state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Reading or writing failed.
    #[error("cannot use the state {path}: {source}")]
    Io {
        /// The folder or a file in it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process uses the state.
    #[error("the state {folder} is in use by another process: wait for its end, or give each a folder of its own")]
    InUse {
        /// Folder of the state.
        folder: PathBuf,
    },
    /// The manifest is not valid.
    #[error("{path} is damaged: remove the folder, and the logs that are still there are read anew")]
    Damaged {
        /// The manifest.
        path: PathBuf,
    },
    /// Another version of the program wrote the state.
    #[error(
        "retrylens {made_by} wrote the state {folder}, and this is {}, which may read lines otherwise: give another folder",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// Folder of the state.
        folder: PathBuf,
        /// That version.
        made_by: String,
    },
    /// The state holds lines that were read with other settings.
    #[error("the logs in the state {folder} were read by another {setting}: give the same, or another folder")]
    Settings {
        /// Folder of the state.
        folder: PathBuf,
        /// Name of the setting that differs.
        setting: String,
    },
    /// One of its partials cannot be used.
    #[error("{path}, a part of the state, cannot be used: {error}")]
    Partial {
        /// The partial.
        path: PathBuf,
        /// Reason why it cannot be used.
        error: PartialError,
    },
}

impl StateError {
    pub(super) fn io(path: &Path, source: io::Error) -> StateError {
        StateError::Io { path: path.to_owned(), source }
    }
}
