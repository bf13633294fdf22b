//! Arguments about `retrylens.toml`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Which configuration to follow.
#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigFile {
    /// Follow this file (default: the nearest retrylens.toml upward, as far as the repository's root)
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(in crate::cli) config: Option<PathBuf>,

    /// Follow no file
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub(in crate::cli) no_config: bool,

    /// Read logs by the words of this file too: its [fields], [constants], [[lines]] and [[classify]] (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(in crate::cli) preset: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigArgs {
    #[command(subcommand)]
    pub(in crate::cli) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ConfigCommand {
    /// Print what is in force, as a file that says the same
    Show(ConfigFile),
    /// Print a JSON Schema of the file
    Schema,
}
