//! Entry point of the `retrylens` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    retrylens::cli::run(retrylens::cli::Cli::read())
}
