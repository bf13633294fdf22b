//! Do retries help? What became of them, against what independent throws would give.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{style, words};
use crate::report::{RecoveryRow, RecoveryStep, Report};
use std::io;

/// Kinds of failure before `--verbose`, and calls that each must have retried.
const SHOWN: usize = 6;
const LEAST_RETRIED: u64 = 5;
/// Tries that a step must have, to speak of the share that recovers.
const LEAST_TRIED: u64 = 5;

const COLUMNS: [Column; 9] = [
    Column::new("class", Fit::Words).cut_to(10),
    Column::new("retried", Fit::Number),
    Column::new("recovered", Fit::Number),
    Column::new("1st retry", Fit::Number).spare(3),
    Column::new("2nd", Fit::Number).spare(4),
    Column::new("within", Fit::Number).spare(1),
    Column::new("if random", Fit::Number).spare(1),
    Column::new("for each", Fit::Words).spare(5),
    Column::new("model", Fit::Id).cut_to(8).spare(2),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let least = if page.options.verbose { 1 } else { LEAST_RETRIED };
    let retried: Vec<&RecoveryRow> = report.recovery.iter().filter(|row| row.retried.count >= least).collect();
    if retried.is_empty() || (super::is_calm(report) && !page.options.verbose) {
        return Ok(());
    }
    page.heading("DO RETRIES HELP?", "calls whose first attempt failed, and how many recover")?;
    let most = if page.options.verbose { retried.len() } else { SHOWN };
    let mut table = Table::new(&COLUMNS);
    retried.iter().take(most).for_each(|one| table.row(row(one)));
    page.table(&table)?;
    match retried.len().saturating_sub(most) {
        0 => Ok(()),
        more => page.remark(&format!("and {} (--verbose shows all)", words::counted(more as u64, "more kind"))),
    }
}

fn row(row: &RecoveryRow) -> Vec<Text> {
    let style = match row.recovered.count {
        0 => style::RED,
        n if n == row.recovered.of => style::GREEN,
        _ => style::PLAIN,
    };
    let step = |at: usize| Text::plain(row.steps.get(at).map_or_else(String::new, counts));
    let told = row.steps.iter().rev().find(|step| step.succeeded.of >= LEAST_TRIED).or(row.steps.first());
    let within = told.map_or_else(String::new, |step| format!("{}: {}", step.retry, words::percent(step.observed)));
    let each = row.sends_per_recovery.zip(row.seconds_per_recovery);
    let each = each.map(|(sends, s)| format!("{} sends, {}", words::rate(sends), words::span(s)));
    vec![
        Text::plain(row.class),
        Text::plain(words::number(row.retried.count)),
        Text::styled(style, words::number(row.recovered.count)),
        step(0),
        step(1),
        Text::plain(within),
        Text::plain(told.map_or_else(String::new, |step| words::percent(step.predicted))),
        Text::plain(each.unwrap_or_default()),
        Text::plain(row.model.as_deref().unwrap_or_default()),
    ]
}

fn counts(step: &RecoveryStep) -> String {
    format!("{} of {}", words::number(step.succeeded.count), words::number(step.succeeded.of))
}
