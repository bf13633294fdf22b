//! Arguments of `retrylens completions` and `retrylens man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(in crate::cli) shell: Shell,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ManArgs {
    /// Whose page: analyze, or config show (default: that of the program)
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(in crate::cli) command: Vec<String>,

    /// Write the pages of the program and of every command into this directory
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) dir: Option<PathBuf>,
}
