//! The schedule each retry loop waits by.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{style, words};
use crate::report::{Backoff, Report};
use std::io;

/// Loops shown unless all are asked for.
const LOOPS: usize = 5;

const COLUMNS: [Column; 4] = [
    Column::new("loop", Fit::Words).cut_to(12),
    Column::new("schedule", Fit::Words).cut_to(30),
    Column::new("waits", Fit::Number),
    Column::new("the server's", Fit::Number).spare(1),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let known = |entry: &&Backoff| entry.schedule != "cannot_tell" || page.options.verbose;
    let mut shown: Vec<&Backoff> = report.backoff.iter().filter(known).collect();
    if shown.is_empty() {
        return Ok(());
    }
    // The sort keeps the order of names among equals.
    shown.sort_by_key(|entry| std::cmp::Reverse(entry.waits + entry.server_dictated));
    page.heading("BACKOFF", "how each retry loop waits, apart from waits the server asked for")?;
    let most = if page.options.verbose { shown.len() } else { LOOPS };
    let mut table = Table::new(&COLUMNS);
    shown.iter().take(most).for_each(|entry| table.row(row(entry)));
    page.table(&table)?;
    match shown.len().saturating_sub(most) {
        0 => Ok(()),
        more => page.remark(&format!("and {} (--verbose shows all)", words::counted(more as u64, "more loop"))),
    }
}

fn row(entry: &Backoff) -> Vec<Text> {
    let count = |n: u64| Text::plain(if n > 0 { words::number(n) } else { String::new() });
    let summary = match (entry.schedule, entry.jitter) {
        ("immediate", _) | (_, Some("none")) => Text::styled(style::YELLOW, &entry.summary),
        _ => Text::plain(&entry.summary),
    };
    vec![Text::plain(entry.loop_name()), summary, count(entry.waits), count(entry.server_dictated)]
}
