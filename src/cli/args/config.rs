//! Arguments that select the configuration, and those of `retrylens config`.

use super::InputArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Which configuration to use.
#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigFile {
    /// Use this file (default: the nearest retrylens.toml in this or a parent directory of the repository)
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(in crate::cli) config: Option<PathBuf>,

    /// Use no configuration file
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub(in crate::cli) no_config: bool,

    /// Also use the [fields], [constants], [[lines]] and [[classify]] of this file (repeatable)
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
    /// Print the effective configuration as a configuration file
    Show(ConfigFile),
    /// Print the JSON Schema of the file
    Schema,
    /// Write a commented configuration file, based on a log
    #[command(mut_arg("inputs", |arg| arg.required(false)))]
    Init(Box<InitArgs>),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InitArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,

    /// Write to this file, - for standard output; the schema for editors is written next to it
    #[arg(long, short, value_name = "FILE", default_value = crate::config::NAME, help_heading = "Output")]
    pub(in crate::cli) output: PathBuf,

    /// Overwrite an existing file
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) force: bool,
}
