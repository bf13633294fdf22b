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
    Column::new("most a min", Fit::Number).spare(1),
    Column::new("limit", Fit::Number).spare(1),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose;
    let shown: Vec<&LoadRow> = report.load.iter().filter(|row| all || row.calls >= LEAST_CALLS).collect();
    if shown.is_empty() || (super::is_calm(report) && !all) {
        return Ok(());
    }
    page.heading("LOAD", "at once = a second x what each takes; the peak as measured")?;
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
    vec![
        Text::plain(&row.scope),
        Text::plain(words::number(row.calls)),
        rate(row.arrivals_per_s),
        Text::plain(row.time_in_system_s.map_or_else(String::new, words::span)),
        rate(row.concurrency),
        rate(row.in_flight_peak),
        rate(row.offered_per_min),
        rate(row.requests_limit.map(|limit| limit as f64)),
    ]
}
