//! Who sent what, where the log tells several apart: clients and versions, layers, accounts, hosts, addresses.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{style, words};
use crate::render::who;
use crate::report::{Report, WhoRow};
use std::io;

/// Names of each kind before `--verbose`.
const SHOWN: usize = 4;

const COLUMNS: [Column; 9] = [
    Column::new("by", Fit::Words),
    Column::new("name", Fit::Id).cut_to(24),
    Column::new("calls", Fit::Number),
    Column::new("failed", Fit::Number),
    Column::new("attempts", Fit::Number).spare(3),
    Column::new("retries", Fit::Number),
    Column::new("needless", Fit::Number).spare(2),
    Column::new("cost", Fit::Number).spare(1),
    Column::new("found", Fit::Words),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose;
    let mut table = Table::new(&COLUMNS);
    let (mut shown, mut left_out) = (0, report.who_omitted);
    for (by, rows) in who::groups(report) {
        let most = if all { rows.len() } else { SHOWN };
        rows.iter().take(most).enumerate().for_each(|(nth, one)| table.row(row(by.name(), nth, one)));
        shown += rows.len();
        left_out += rows.len().saturating_sub(most) as u64;
    }
    if shown == 0 || (super::is_calm(report) && !all) {
        return Ok(());
    }
    page.heading("WHO", "calls where their first attempt came from; found: about these calls")?;
    page.table(&table)?;
    match left_out {
        0 => Ok(()),
        more if all => page.remark(&format!("and {} in the JSON report", words::counted(more, "more name"))),
        more => page.remark(&format!("and {} (--verbose shows more, JSON too)", words::counted(more, "more name"))),
    }
}

fn row(by: &str, nth: usize, row: &WhoRow) -> Vec<Text> {
    let count = |n: u64| if n == 0 { String::new() } else { words::number(n) };
    let failed = if row.calls_failed > 0 { style::RED } else { style::PLAIN };
    vec![
        Text::styled(style::FAINT, if nth == 0 { by } else { "" }),
        Text::plain(who::name(row)),
        Text::plain(words::number(row.calls)),
        Text::styled(failed, count(row.calls_failed)),
        Text::plain(words::number(row.attempts)),
        Text::plain(count(row.retries)),
        Text::plain(count(row.wasted_sends)),
        Text::plain(who::cost(row)),
        super::runs::found(row.findings),
    ]
}
