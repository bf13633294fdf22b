//! Pages for a browser: one file each, without network, that opens from disk.
//!
//! [`page`] is the shell of any page and says how to make one, [`table`] its tables, [`marks`] its signs,
//! [`figure`] its charts, [`untrusted`] the way of a log's text into it. The report has a file for each section.

mod advice;
mod backoff;
mod classes;
mod diff;
mod evidence;
mod figure;
mod headroom;
mod incidents;
mod load;
mod marks;
mod method;
mod page;
mod policy;
mod problems;
mod quality;
mod recovery;
mod retries;
mod runs;
mod summary;
mod table;
mod trace;
mod trend;
mod untrusted;
mod view;
mod who;

#[cfg(test)]
mod tests;

pub use diff::diff;
pub use trace::trace;
pub use trend::trend;

use super::charts::ChartError;
use crate::model::Zone;
use crate::report::Report;
use page::{Page, Section};
use std::io::{self, Write};
use view::View;

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
    let view = View::new(report, options);
    let sections = sections(&view).map_err(io::Error::other)?;
    let page = Page {
        title: &summary::title(&view),
        about: summary::about(&view),
        lead: summary::lead(&view),
        sections,
        generator: &report.generator,
    };
    out.write_all(page.render().as_bytes())
}

/// The sections that have something to show.
fn sections(view: &View<'_>) -> Result<Vec<Section>, ChartError> {
    let sections = [
        problems::section(view),
        runs::section(view),
        who::section(view),
        retries::section(view)?,
        headroom::section(view)?,
        incidents::section(view)?,
        recovery::section(view)?,
        backoff::section(view)?,
        load::section(view)?,
        Some(method::section(view)),
    ];
    Ok(sections.into_iter().flatten().collect())
}
