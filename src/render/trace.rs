//! A trace for the terminal.

use crate::attempt::Zone;
use crate::report::Trace;
use std::io::{self, Write};

/// Writes the timeline of every call of a trace.
///
/// # Errors
/// When `out` fails.
pub fn trace(trace: &Trace, _zone: Zone, _width: usize, out: &mut dyn Write) -> io::Result<()> {
    super::json::pretty(trace, out)
}
