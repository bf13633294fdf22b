//! The program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    retrylens::cli::run(retrylens::cli::Cli::read())
}
