//! The report for a pull request or a job summary, in GitHub-flavoured Markdown.
//!
//! One file for each section. What a log says is escaped wherever it stands ([`escape`]), long lists are folded, and
//! the whole keeps below what GitHub takes ([`MOST`]).

mod data;
mod diff;
mod escape;
mod measures;
mod page;
mod problems;
mod runs;
mod steps;
mod trend;
mod who;

#[cfg(test)]
mod tests;

pub use diff::diff;
pub use trend::trend;

use super::words;
use crate::model::Zone;
use crate::report::Report;
use escape::inline;
use page::Page;
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
    // The last sections are short and must not fall off the end.
    let last = data::sections(report, zone);
    let mut page = Page::new(MOST - NOTES - last.chars().count().min(MOST / 2));
    page.block(&format!("## {} retrylens: {}", mark(report), inline(&words::subject(report), NAME)));
    if let Some(window) = report.window {
        page.block(&inline(&words::window(window, zone), SENTENCE));
    }
    page.block(&format!("**{}**", inline(&report.verdict, SENTENCE)));
    notices(report, &mut page);
    steps::write(report, zone, &mut page);
    problems::write(report, zone, &mut page);
    runs::write(report, &mut page);
    who::write(report, &mut page);
    measures::write(report, zone, &mut page);
    out.write_all(page.finish().as_bytes())?;
    write!(out, "\n{last}")
}

/// `kind` of page, and what the user says it is about.
fn titled(kind: &str, title: Option<&str>) -> String {
    title.map_or_else(|| kind.to_owned(), |title| format!("{kind}: {}", inline(title, NAME)))
}

fn mark(report: &Report) -> &'static str {
    let totals = &report.totals;
    match (totals.errors, totals.warnings + totals.calls_failed + totals.calls_open) {
        (0, 0) => "✅",
        (0, _) => "⚠️",
        _ => "❌",
    }
}

fn notices(report: &Report, page: &mut Page) {
    use words::counted;
    let mut aside = Vec::new();
    if report.totals.suppressed > 0 {
        aside.push(format!("{} suppressed", counted(report.totals.suppressed, "finding")));
    }
    if let Some(compared) = report.baseline.filter(|compared| compared.known > 0) {
        aside.push(format!("{} known from the baseline", counted(compared.known, "problem")));
    }
    if report.problems_hidden > 0 {
        aside.push(format!("{} below --min-severity", counted(report.problems_hidden, "problem")));
    }
    if !aside.is_empty() {
        page.block(&format!("Set aside: {}.", aside.join(", ")));
    }
    for notice in &report.notices {
        page.block(&format!("> [!NOTE]\n> Notice: {}", inline(notice, SENTENCE)));
    }
}
