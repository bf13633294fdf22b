//! What is to be known about the judgement itself, below the verdict.

use super::layout::Text;
use super::page::Page;
use super::{style, words};
use crate::report::Report;
use std::io;

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let known = report.problems.iter().filter(|problem| problem.known).count() as u64;
    let mut aside = Vec::new();
    if report.totals.suppressed > 0 {
        aside.push(format!("{} suppressed", words::counted(report.totals.suppressed, "finding")));
    }
    if known > 0 {
        aside.push(format!("{} known from the baseline", words::counted(known, "problem")));
    }
    if !aside.is_empty() {
        page.paragraph(&Text::styled(style::FAINT, format!("Set aside: {}.", aside.join(", "))))?;
    }
    for notice in &report.notices {
        page.paragraph(&Text::styled(style::YELLOW, "! ").then(notice))?;
    }
    Ok(())
}
