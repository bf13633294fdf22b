//! Who sent what, where the log tells several apart.

use super::NAME;
use super::escape::inline;
use super::page::Page;
use crate::render::{who, words};
use crate::report::{Report, WhoRow};

/// Names of each kind; the JSON report has more.
const ROWS: usize = 4;

const HEAD: [&str; 8] = ["by", "name", "calls:", "failed:", "attempts:", "retries:", "needless:", "errors, warnings"];

pub(super) fn write(report: &Report, page: &mut Page) {
    let mut rows = Vec::new();
    let mut left_out = report.who_omitted;
    for (by, names) in who::groups(report) {
        rows.extend(names.iter().take(ROWS).map(|one| row(by.name(), one)));
        left_out += names.len().saturating_sub(ROWS) as u64;
    }
    let rest =
        if left_out > 0 { format!("{} not shown.", words::counted(left_out, "more name")) } else { String::new() };
    page.table("### Who", &HEAD, &rows, &rest);
}

fn row(by: &str, row: &WhoRow) -> Vec<String> {
    let [errors, warnings, _] = row.findings;
    vec![
        by.to_owned(),
        inline(&who::name(row), NAME),
        words::number(row.calls),
        words::number(row.calls_failed),
        words::number(row.attempts),
        words::number(row.retries),
        words::number(row.wasted_sends),
        format!("{}, {}", words::number(errors), words::number(warnings)),
    ]
}
