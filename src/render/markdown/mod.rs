//! The report for a pull request or a job summary, in GitHub-flavoured Markdown.
//!
//! `blocks` writes the sections of `sections`. All text of a log is escaped (`escape`), long lists are
//! collapsed, and the whole stays below the limit of GitHub ([`MAX_CHARS`]).

mod blocks;
mod escape;
mod page;

#[cfg(test)]
mod tests;

use super::sections;
use crate::compare::{Diff, Trend};
use crate::model::Zone;
use crate::plan::Plan;
use crate::report::Report;
use crate::simulate::{Counterfactual, ScriptedCall, Simulation};
use std::io::{self, Write};

/// Maximum length of the document, in characters. A comment on GitHub holds 65,536, of which some are left to whoever
/// posts it; a job summary holds 1 MiB, which is always enough.
pub const MAX_CHARS: usize = 65_000;

/// Characters reserved for the notes on what was left out for lack of room.
const NOTES_CHARS: usize = 1000;
/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 80;
/// Maximum length of a sentence, in characters; some servers send whole pages as error messages.
const MAX_SENTENCE_CHARS: usize = 600;

/// Writes `report`, with times in `zone`.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(report: &Report, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::report(report, zone)).as_bytes())
}

/// Writes a comparison.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn diff(diff: &Diff, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::diff(diff, zone)).as_bytes())
}

/// Writes a trend.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn trend(trend: &Trend, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::trend(trend, &[], zone)).as_bytes())
}

/// Writes a simulation.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn simulation(simulation: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::simulation(simulation)).as_bytes())
}

/// Writes a call to a scripted server.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn scripted(scripted: &ScriptedCall, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::scripted(scripted)).as_bytes())
}

/// Writes an incident of `subject` under other policies.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn what_if(counterfactual: &Counterfactual, subject: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::what_if(counterfactual, subject)).as_bytes())
}

/// Writes a plan.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn plan(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::plan(plan)).as_bytes())
}
