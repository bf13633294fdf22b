//! Lines on standard error.

use super::error::CliError;
use std::io::Write;

/// One line on standard error.
pub(super) fn error(error: &CliError) {
    // Nothing is left to do when even this fails.
    let _ = writeln!(anstream::stderr(), "retrylens: {error}");
}

/// One line on standard error about something that does not end the work.
pub(super) fn warning(text: &str) {
    let _ = writeln!(anstream::stderr(), "retrylens: {text}");
}
