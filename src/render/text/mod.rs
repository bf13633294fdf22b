//! The report for a terminal: what is wrong and what to do first, the evidence below.
//!
//! [`blocks`] writes the sections of [`super::sections`]; [`layout`] measures, wraps and cuts, [`page`] writes lines.
//! No line is longer than the page is wide, whatever the log holds.

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

/// How a report is written for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal; 80 where there is none. Used from 40 up to 120.
    pub width: usize,
    /// The zone times are shown in.
    pub zone: Zone,
    /// Whether styles are written.
    pub color: bool,
    /// Everything in full: every problem, run, scope and rejected line.
    pub verbose: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { width: 80, zone: Zone::UTC, color: false, verbose: false }
    }
}

/// Writes `report` for people in front of a terminal.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn render(report: &Report, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::report(report, options.zone), options, out)
}

/// Writes a comparison.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn diff(diff: &Diff, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::diff(diff, options.zone), options, out)
}

/// Writes a trend.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn trend(trend: &Trend, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::trend(trend, &[], options.zone), options, out)
}

/// Writes a simulation.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn simulation(simulation: &Simulation, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::simulation(simulation), options, out)
}

/// Writes a call against a scripted server.
///
/// # Errors
/// What writing to `out` fails with.
pub fn scripted(scripted: &ScriptedCall, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::scripted(scripted), options, out)
}

/// Writes what an incident of `subject` would have been.
///
/// # Errors
/// What writing to `out` fails with.
pub fn what_if(told: &Counterfactual, subject: &str, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::what_if(told, subject), options, out)
}

/// Writes a plan.
///
/// # Errors
/// What writing to `out` fails with.
pub fn plan(plan: &Plan, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    blocks::document(&sections::plan(plan), options, out)
}
