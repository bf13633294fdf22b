//! HTML pages: one file each, which opens from disk without network.
//!
//! `blocks` writes the sections of `sections` into the frame of `page`; `table` writes tables, `marks` signs, and
//! `untrusted` makes text of a log safe.

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

/// Options of HTML pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtmlOptions {
    /// Time zone of the times shown.
    pub zone: Zone,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        HtmlOptions { zone: Zone::UTC }
    }
}

/// Writes `report` as one self-contained page.
///
/// # Errors
/// Returns an error if writing to `out` or drawing a chart fails.
pub fn render(report: &Report, options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::report(report, options.zone), out)
}

/// Writes a comparison as a page.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn diff(diff: &Diff, options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::diff(diff, options.zone), out)
}

/// Writes a trend as a page. `pages` are the paths of the pages of its reports relative to this one, if there are any.
///
/// # Errors
/// Returns an error if writing to `out` or drawing the chart fails.
pub fn trend(trend: &Trend, pages: &[Option<&Path>], options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::trend(trend, pages, options.zone), out)
}

/// Writes a simulation as a page.
///
/// # Errors
/// Returns an error if writing to `out` or drawing the chart fails.
pub fn simulation(simulation: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::simulation(simulation), out)
}

/// Writes a call to a scripted server as a page.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn scripted(scripted: &ScriptedCall, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::scripted(scripted), out)
}

/// Writes an incident of `subject` under other policies as a page.
///
/// # Errors
/// Returns an error if writing to `out` or drawing the chart fails.
pub fn what_if(counterfactual: &Counterfactual, subject: &str, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::what_if(counterfactual, subject), out)
}

/// Writes a plan as a page.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn plan(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write(&sections::plan(plan), out)
}

fn write(page: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(blocks::document(page).map_err(io::Error::other)?.as_bytes())
}
