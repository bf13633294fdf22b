//! Arguments of `retrylens completions` and `retrylens man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(in crate::cli) shell: Shell,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ManArgs {
    /// Command, such as analyze or config show (default: the program itself)
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(in crate::cli) command: Vec<String>,

    /// Write the manual pages of the program and of every command to this directory
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) dir: Option<PathBuf>,
}
