//! The report for a terminal: what is wrong and what to do first, the evidence below.
//!
//! One file for each section; [`layout`] measures, wraps and cuts, [`page`] writes. No line is longer than the
//! page is wide, whatever the log holds.

mod advice;
mod backoff;
mod bars;
mod classes;
mod classify;
mod data;
mod diff;
mod examples;
mod explain;
mod gaps;
mod headroom;
mod incidents;
mod layout;
mod load;
mod notices;
mod page;
mod problems;
mod recovery;
mod retries;
mod rules;
mod runs;
mod style;
mod table;
mod trace;
mod trend;
mod who;

#[cfg(test)]
pub(in crate::render) mod sample;
#[cfg(test)]
mod tests;

pub use classify::classify;
pub use diff::diff;
pub use explain::explain;
pub use rules::rules;
pub(in crate::render) use trace::{
    alone, ending, of_reading, right_action, sentence, support_fields, wait_after, wait_before,
};
pub use trace::{markdown, traces, unresolved};
pub use trend::trend;

pub(in crate::render) use bars::height;

use super::words;
use crate::model::{Severity, Zone};
use crate::report::Report;
use layout::Text;
use page::Page;
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
    let mut page = Page::new(report, *options, out);
    let time = report.window.map_or_else(String::new, |window| format!(" · {}", words::window(window, options.zone)));
    page.paragraph(&Text::styled(style::FAINT, words::subject(report)).and(style::FAINT, time))?;
    page.paragraph(&Text::styled(style::BOLD, &report.verdict))?;
    notices::write(report, &mut page)?;
    advice::write(report, &mut page)?;
    data::write(report, &mut page)?;
    problems::write(report, &mut page)?;
    incidents::write(report, &mut page)?;
    runs::write(report, &mut page)?;
    who::write(report, &mut page)?;
    retries::write(report, &mut page)?;
    backoff::write(report, &mut page)?;
    classes::write(report, &mut page)?;
    recovery::write(report, &mut page)?;
    load::write(report, &mut page)?;
    headroom::write(report, &mut page)?;
    gaps::write(report, &mut page)
}

/// Nothing to act on: the page stays short.
fn is_calm(report: &Report) -> bool {
    report.advice.is_empty() && report.problems.iter().all(|problem| problem.severity == Severity::Info)
}
