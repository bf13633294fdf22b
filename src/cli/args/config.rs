//! Arguments that select the configuration, and those of `retrylens config`.

use super::InputArgs;
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
    /// Write a commented file: what a log holds, and what may be said about it
    #[command(mut_arg("inputs", |arg| arg.required(false)))]
    Init(Box<InitArgs>),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InitArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,

    /// Write to this file, - for standard output; the schema for editors goes beside it
    #[arg(long, short, value_name = "FILE", default_value = crate::config::NAME, help_heading = "Output")]
    pub(in crate::cli) output: PathBuf,

    /// Replace a file that is there
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) force: bool,
}
