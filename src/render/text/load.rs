//! The load on each scope: what arrived, how long it stayed, how much was under way.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::words;
use crate::report::{LoadRow, Report};
use std::io;

/// Scopes before `--verbose`.
const SHOWN: usize = 4;
/// Arrivals or refusals under which a scope's load says nothing, before `--verbose`.
const LEAST_CALLS: u64 = 10;

const COLUMNS: [Column; 8] = [
    Column::new("scope", Fit::Id).cut_to(24),
    Column::new("calls", Fit::Number),
    Column::new("a second", Fit::Number).spare(3),
    Column::new("each takes", Fit::Number).spare(2),
    Column::new("at once", Fit::Number),
    Column::new("peak", Fit::Number),
    Column::new("in 60 s", Fit::Number).spare(1),
    Column::new("limit", Fit::Number).spare(1),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose;
    let shown: Vec<&LoadRow> = report.load.iter().filter(|row| all || row.calls >= LEAST_CALLS).collect();
    if shown.is_empty() || (super::is_calm(report) && !all) {
        return Ok(());
    }
    page.heading("LOAD", "at once = a second x what each takes; peak: in flight; 60 s: most sent")?;
    let most = if all { shown.len() } else { SHOWN };
    let mut table = Table::new(&COLUMNS);
    shown.iter().take(most).for_each(|one| table.row(row(one)));
    page.table(&table)?;
    match shown.len().saturating_sub(most) {
        0 => Ok(()),
        more => page.remark(&format!("and {} (--verbose shows all)", words::counted(more as u64, "more scope"))),
    }
}

fn row(row: &LoadRow) -> Vec<Text> {
    let rate = |x: Option<f64>| Text::plain(x.map_or_else(String::new, words::rate));
    let count = |x: Option<u64>| Text::plain(x.map_or_else(String::new, words::number));
    vec![
        Text::plain(&row.scope),
        Text::plain(words::number(row.calls)),
        rate(row.arrivals_per_s),
        Text::plain(row.time_in_system_s.map_or_else(String::new, words::span)),
        rate(row.concurrency),
        count(row.in_flight_peak),
        count(row.offered_per_min),
        count(row.requests_limit.map(i64::unsigned_abs)),
    ]
}
