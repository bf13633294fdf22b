//! One finding a line, as it stands in the JSON report, in the order of the report. What could not be judged is no
//! finding: the program says it on standard error ([`super::not_judged`]).

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
