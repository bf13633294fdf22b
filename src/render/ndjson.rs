//! Findings as NDJSON, one per line, as in the JSON report and in its order. What could not be judged is not a finding;
//! the program writes it to standard error ([`super::not_judged`]).

use crate::report::Report;
use std::io::{self, Write};

/// Writes the findings of `report`; nothing if there are none.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        serde_json::to_writer(&mut *out, finding)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
