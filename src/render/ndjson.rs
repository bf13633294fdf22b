//! One finding a line, as it stands in the JSON report, in the order of the report.

use crate::report::Report;
use std::io::{self, Write};

/// Writes the findings of `report`; nothing where there is none.
///
/// # Errors
/// When `out` fails.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        serde_json::to_writer(&mut *out, finding)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
