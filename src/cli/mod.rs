//! The command line: one module for each subcommand, and what they share.

mod analysis;
mod analyze;
mod anonymize;
mod args;
mod charts;
#[cfg(feature = "serve")]
mod check;
mod classify;
mod completions;
mod config;
mod convert;
mod diff;
mod error;
mod explain;
mod explain_input;
mod follow;
mod formats;
mod forms;
mod init;
mod inputs;
mod interrupt;
mod judging;
mod man;
mod merge;
mod message;
mod output;
mod outputs;
mod pages;
mod partials;
mod plan;
#[cfg(feature = "serve")]
mod record;
mod rules;
mod schema;
#[cfg(feature = "serve")]
mod server;
mod simulate;
mod state;
#[cfg(feature = "serve")]
mod stub;
mod summary;
mod trace;
mod trend;
mod what_if;

pub use args::Cli;
pub use error::CliError;

use args::Command;
use std::process::ExitCode;

/// Runs the command and returns the exit code of the process. Errors are printed to standard error.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    let done = match cli.command {
        Command::Analyze(args) => analyze::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Trend(args) => trend::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Formats(args) => formats::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Classify(args) => classify::run(&args),
        #[cfg(feature = "serve")]
        Command::Stub(args) => stub::run(&args),
        #[cfg(feature = "serve")]
        Command::Record(args) => record::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            message::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
