//! `retrylens man`: renders manual pages from the help texts.

use super::args::{Cli, ManArgs};
use super::error::CliError;
use super::output;
use crate::config::did_you_mean;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io::{self, Write};
use std::path::Path;

pub(super) fn run(args: &ManArgs) -> Result<u8, CliError> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    match &args.dir {
        Some(folder) => write_all(&program, folder)?,
        None => {
            let mut written = Vec::new();
            page(named(program, &args.command)?).render(&mut written).map_err(CliError::Stdout)?;
            output::printed(io::stdout().lock().write_all(&written))?;
        }
    }
    Ok(0)
}

/// Builds the page of a command. Subcommands have no version of their own, so the program's is set.
fn page(command: Command) -> Man {
    Man::new(command).source(concat!("retrylens ", env!("CARGO_PKG_VERSION")))
}

/// Returns the subcommand with this path of names.
fn named(program: Command, words: &[String]) -> Result<Command, CliError> {
    let mut command = program;
    for word in words {
        let Some(below) = command.find_subcommand(word) else {
            let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let rest = format!("there are {}", known.join(", "));
            let like = did_you_mean(word, known.iter().copied(), &rest);
            return Err(CliError::Usage(format!("no command `{word}`{like}")));
        };
        command = below.clone();
    }
    Ok(command)
}

/// Writes the pages of a command and of its subcommands, such as `retrylens.1` and `retrylens-analyze.1`.
fn write_all(command: &Command, folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|error| CliError::Output { path: folder.to_owned(), reason: error.to_string() })?;
    let page = page(command.clone());
    output::write_file(&folder.join(page.get_filename()), |out| page.render(out))?;
    command.get_subcommands().try_for_each(|below| write_all(below, folder))
}
