//! Pages for a browser: one file each, without network, that opens from disk.
//!
//! [`blocks`] writes the sections of [`super::sections`] into the shell of [`page`]; [`table`] its tables, [`marks`] its
//! signs, [`untrusted`] the way of a log's text into it.

mod bars;
mod blocks;
mod marks;
mod page;
mod policy;
mod rich;
mod table;
mod trace;
mod untrusted;

#[cfg(test)]
mod tests;

pub use trace::trace;

use super::document::Document;
use super::sections;
use crate::compare::{Diff, Trend};
use crate::model::Zone;
use crate::plan::Plan;
use crate::report::Report;
use crate::simulate::{Counterfactual, ScriptedCall, Simulation};
use std::io::{self, Write};
use std::path::Path;

/// How a report is written for a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtmlOptions {
    /// The zone times are shown in.
    pub zone: Zone,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        HtmlOptions { zone: Zone::UTC }
    }
}

/// Writes `report` as one page that needs nothing but a browser.
///
/// # Errors
/// What writing to `out` fails with, or drawing a chart.
pub fn render(report: &Report, options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::report(report, options.zone), out)
}

/// Writes a comparison as a page.
///
/// # Errors
/// What writing to `out` fails with.
pub fn diff(diff: &Diff, options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::diff(diff, options.zone), out)
}

/// Writes a trend as a page. `pages` are the pages of the reports, relative to this one, where there are any.
///
/// # Errors
/// What writing to `out` fails with, or drawing the chart.
pub fn trend(trend: &Trend, pages: &[Option<&Path>], options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::trend(trend, pages, options.zone), out)
}

/// Writes a simulation as a page.
///
/// # Errors
/// What writing to `out` fails with, or drawing the chart.
pub fn simulation(simulation: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::simulation(simulation), out)
}

/// Writes a call against a scripted server as a page.
///
/// # Errors
/// What writing to `out` fails with.
pub fn scripted(scripted: &ScriptedCall, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::scripted(scripted), out)
}

/// Writes what an incident of `subject` would have been.
///
/// # Errors
/// What writing to `out` fails with, or drawing the chart.
pub fn what_if(told: &Counterfactual, subject: &str, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::what_if(told, subject), out)
}

/// Writes a plan as a page.
///
/// # Errors
/// What writing to `out` fails with.
pub fn plan(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::plan(plan), out)
}

fn write(page: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(page).map_err(io::Error::other)?.as_bytes())
}
