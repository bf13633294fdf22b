//! What can go wrong, in one sentence each, and the exit code that says so.

use crate::config::ConfigError;
use crate::ingest::IngestError;
use crate::partial::{PartialError, StateError};
use std::io;
use std::path::PathBuf;

/// A command that could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// The configuration is of no use.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There was nothing to analyse.
    #[error("{0}")]
    NoAttempts(String),
    /// An input could not be read, and the others hold nothing to analyse.
    #[error("{0}")]
    Unread(String),
    /// No input could be read.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A partial cannot be used.
    #[error("{name} cannot be merged: {error}")]
    Partial {
        /// The partial.
        name: String,
        /// Why.
        error: PartialError,
    },
    /// A state cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// Standard output went away or failed.
    #[error("cannot write the report: {0}")]
    Stdout(io::Error),
    /// An output file could not be written.
    #[error("cannot write {path}: {reason}")]
    Output {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No server could be started.
    #[cfg(feature = "serve")]
    #[error("cannot listen on {address}: {reason}{}", other_port(reason))]
    Listen {
        /// Where.
        address: std::net::SocketAddr,
        /// Why.
        reason: io::Error,
    },
    /// The command to check could not be started.
    #[cfg(feature = "serve")]
    #[error("cannot start `{command}`: {reason}")]
    Command {
        /// Its name.
        command: String,
        /// Why.
        reason: io::Error,
    },
}

#[cfg(feature = "serve")]
fn other_port(reason: &io::Error) -> &'static str {
    if reason.kind() == io::ErrorKind::AddrInUse { "; --port names another port, 0 any that is free" } else { "" }
}

/// The exit code where reading or writing failed: `EX_IOERR` of sysexits.
pub(super) const IO_FAILED: u8 = 74;

impl CliError {
    /// 2 usage or configuration, 3 nothing to analyse, 74 input or output failed.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Partial { error: PartialError::Truncated { .. } | PartialError::Damaged, .. } => IO_FAILED,
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
