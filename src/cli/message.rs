//! Messages on standard error.

use super::error::CliError;
use std::io::Write;

/// Prints an error.
pub(super) fn error(error: &CliError) {
    // If standard error fails too, there is nowhere to report it.
    let _ = writeln!(anstream::stderr(), "retrylens: {error}");
}

/// Prints a message that does not end the command.
pub(super) fn warning(text: &str) {
    let _ = writeln!(anstream::stderr(), "retrylens: {text}");
}
