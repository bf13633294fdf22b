//! Errors of the command line and their exit codes.

use crate::config::ConfigError;
use crate::ingest::IngestError;
use crate::partial::{PartialError, StateError};
use std::io;
use std::path::PathBuf;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The arguments are invalid, alone or in combination.
    #[error("{0}")]
    Usage(String),
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The input contains nothing to analyze.
    #[error("{0}")]
    NoAttempts(String),
    /// An input could not be read, and the others contain nothing to analyze.
    #[error("{0}")]
    Unread(String),
    /// No input could be read.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A partial cannot be used.
    #[error("{name} cannot be merged: {error}")]
    Partial {
        /// Name of the partial.
        name: String,
        /// Reason.
        error: PartialError,
    },
    /// A state directory cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// Writing to standard output failed.
    #[error("cannot write the report: {0}")]
    Stdout(io::Error),
    /// An output file could not be written.
    #[error("cannot write {path}: {reason}")]
    Output {
        /// The file or directory.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The server could not be started.
    #[cfg(feature = "serve")]
    #[error("cannot listen on {address}: {reason}{}", port_hint(reason))]
    Listen {
        /// Address to listen on.
        address: std::net::SocketAddr,
        /// Reason.
        reason: io::Error,
    },
    /// The command under `--check` could not be started.
    #[cfg(feature = "serve")]
    #[error("cannot start `{command}`: {reason}")]
    Command {
        /// Name of the program.
        command: String,
        /// Reason.
        reason: io::Error,
    },
}

#[cfg(feature = "serve")]
fn port_hint(reason: &io::Error) -> &'static str {
    if reason.kind() == io::ErrorKind::AddrInUse { "; --port names another port, 0 any that is free" } else { "" }
}

/// Exit code for failed input or output: `EX_IOERR` of sysexits.
pub(super) const IO_FAILED: u8 = 74;

impl CliError {
    /// Exit code: 2 for usage or configuration, 3 if there is nothing to analyze, 74 for failed input or output.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Partial {
                error: PartialError::Truncated { .. } | PartialError::Damaged | PartialError::Bloated { .. },
                ..
            } => IO_FAILED,
            CliError::State(StateError::Settings { .. } | StateError::Version { .. }) => 2,
            CliError::Usage(_) | CliError::Config(_) | CliError::Partial { .. } => 2,
            CliError::NoAttempts(_) | CliError::Ingest(IngestError::NoLogs { .. } | IngestError::Pattern { .. }) => 3,
            CliError::Ingest(IngestError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => 3,
            #[cfg(feature = "serve")]
            CliError::Command { .. } => 2,
            #[cfg(feature = "serve")]
            CliError::Listen { .. } => IO_FAILED,
            CliError::State(_) => IO_FAILED,
            CliError::Unread(_) | CliError::Ingest(_) | CliError::Stdout(_) | CliError::Output { .. } => IO_FAILED,
        }
    }
}
