//! The command line: one file a subcommand, and the conventions they share.

mod analyze;
mod anonymize;
mod args;
mod charts;
mod classify;
mod config;
mod diff;
mod error;
mod explain;
mod formats;
mod forms;
mod inputs;
mod interrupt;
mod judging;
mod message;
mod output;
mod outputs;
mod pages;
mod plan;
mod rules;
mod schema;
mod simulate;
mod summary;
mod trace;
mod trend;
mod what_if;

pub use args::Cli;
pub use error::CliError;

use args::Command;
use std::process::ExitCode;

/// Runs the command and says how the process is to end. Errors are written to standard error.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    let done = match cli.command {
        Command::Analyze(args) => analyze::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Trend(args) => trend::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Formats(args) => formats::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Classify(args) => classify::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Schema(args) => schema::run(&args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            message::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
