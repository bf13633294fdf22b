//! The report for a pull request or a job summary, in GitHub-flavoured Markdown.
//!
//! [`blocks`] writes the sections of [`super::sections`]. What a log says is escaped wherever it stands ([`escape`]),
//! long lists are folded, and the whole keeps below what GitHub takes ([`MOST`]).

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

/// Characters of the document: a comment on GitHub holds 65,536, and whoever posts it may add a line of their own.
/// A job summary holds 1 MiB, which these can never fill.
pub const MOST: usize = 65_000;

/// Characters kept free for the notes on what found no room.
const NOTES: usize = 1000;
/// Characters of a name.
const NAME: usize = 80;
/// Characters of a sentence: servers send whole pages as error messages.
const SENTENCE: usize = 600;

/// Writes `report`, times in `zone`.
///
/// # Errors
/// When `out` fails.
pub fn render(report: &Report, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::report(report, zone)).as_bytes())
}

/// Writes a comparison.
///
/// # Errors
/// When `out` fails.
pub fn diff(diff: &Diff, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::diff(diff, zone)).as_bytes())
}

/// Writes a trend.
///
/// # Errors
/// When `out` fails.
pub fn trend(trend: &Trend, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::trend(trend, &[], zone)).as_bytes())
}

/// Writes a simulation.
///
/// # Errors
/// When `out` fails.
pub fn simulation(simulation: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::simulation(simulation)).as_bytes())
}

/// Writes a call against a scripted server.
///
/// # Errors
/// When `out` fails.
pub fn scripted(scripted: &ScriptedCall, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::scripted(scripted)).as_bytes())
}

/// Writes what an incident of `subject` would have been.
///
/// # Errors
/// When `out` fails.
pub fn what_if(told: &Counterfactual, subject: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::what_if(told, subject)).as_bytes())
}

/// Writes a plan.
///
/// # Errors
/// When `out` fails.
pub fn plan(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(&sections::plan(plan)).as_bytes())
}
