//! The program: arguments in, exit code out.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    retrylens::cli::run(retrylens::cli::Cli::parse())
}
