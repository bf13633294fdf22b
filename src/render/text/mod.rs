//! The report for a terminal: what is wrong and what to do first, the evidence below.
//!
//! `blocks` writes the sections of `sections`; `layout` measures, wraps and cuts text, `page` writes
//! lines. No line is longer than the page is wide, whatever the log contains.

mod bars;
mod blocks;
mod cards;
mod classify;
mod examples;
mod explain;
mod explain_input;
mod headroom;
mod layout;
mod page;
mod rich;
mod rules;
mod style;
mod table;
mod trace;

#[cfg(test)]
pub(in crate::render) mod sample;
#[cfg(test)]
mod tests;

pub use classify::classify;
pub use explain::explain;
pub use explain_input::explain_input;
pub use rules::rules;
pub use trace::{markdown, traces, unresolved};

use super::{sections, words};
use crate::compare::{Diff, Trend};
use crate::model::Zone;
use crate::plan::Plan;
use crate::report::Report;
use crate::simulate::{Counterfactual, ScriptedCall, Simulation};
use std::io::{self, Write};

/// Options of the output for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Width of the terminal in columns, 80 if there is none; limited to 40 to 120.
    pub width: usize,
    /// Time zone of the times shown.
    pub zone: Zone,
    /// Whether to write styles.
    pub color: bool,
    /// Whether to show everything: every problem, run, scope and rejected line.
    pub verbose: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { width: 80, zone: Zone::UTC, color: false, verbose: false }
    }
}

/// Writes `report` for a terminal.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(report: &Report, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::report(report, options.zone), options, out)
}

/// Writes a comparison.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn diff(diff: &Diff, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::diff(diff, options.zone), options, out)
}

/// Writes a trend.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn trend(trend: &Trend, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::trend(trend, &[], options.zone), options, out)
}

/// Writes a simulation.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn simulation(simulation: &Simulation, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::simulation(simulation), options, out)
}

/// Writes a call to a scripted server.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn scripted(scripted: &ScriptedCall, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::scripted(scripted), options, out)
}

/// Writes an incident of `subject` under other policies.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn what_if(
    counterfactual: &Counterfactual,
    subject: &str,
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    blocks::document(&sections::what_if(counterfactual, subject), options, out)
}

/// Writes a plan.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn plan(plan: &Plan, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::plan(plan), options, out)
}
