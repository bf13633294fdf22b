//! `retrylens completions`.

use super::args::{Cli, CompletionsArgs};
use super::error::CliError;
use super::output;
use clap::CommandFactory;
use std::io::{self, Write};

pub(super) fn run(args: &CompletionsArgs) -> Result<u8, CliError> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    output::printed(io::stdout().lock().write_all(&script))?;
    Ok(0)
}
