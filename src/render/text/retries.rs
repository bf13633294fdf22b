//! Attempts per call over all runs, and what each further attempt brought.

use super::bars::bar;
use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{style, words};
use crate::model::Bar;
use crate::report::{LayerRow, Report, Share};
use std::io;

/// Rows before the tail is summed up.
const ROWS: usize = 10;
/// Columns the figures beside the bars take at most.
const FIGURES: usize = 58;

/// Pairs of loops before `--verbose`.
const LAYERS: usize = 3;
/// Columns a further line is indented by.
const HANG: usize = 2;
/// Columns before the bars.
const LEGEND: usize = 10;

const COLUMNS: [Column; 6] = [
    Column::new("attempts", Fit::Number),
    Column::new("calls", Fit::Words).cut_to(8),
    Column::new("ok", Fit::Number),
    Column::new("failed", Fit::Number),
    Column::new("open", Fit::Number),
    Column::new("ok on this attempt", Fit::Number).spare(1),
];

/// Calls of one number of attempts, or of a tail of numbers.
struct Row {
    label: String,
    bar: Bar,
    /// Calls that came as far as this attempt, and those of them it ended well.
    ended: Option<Share>,
}

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let retried = report.histogram.bars.keys().any(|attempts| *attempts > 1);
    if !(retried || page.options.verbose) || report.histogram.bars.is_empty() {
        return Ok(());
    }
    let totals = &report.totals;
    let note = format!(
        "{} for {}: {:.2} a call",
        words::counted(totals.sends, "send"),
        words::counted(totals.calls, "call"),
        totals.amplification
    );
    page.heading("RETRIES", &note)?;
    let rows = rows(report);
    let most = rows.iter().map(|row| row.bar.calls()).max().unwrap_or(0);
    let width = page.inner().saturating_sub(FIGURES).max(10);
    let mut table = Table::new(&COLUMNS);
    rows.iter().for_each(|row| table.row(cells(row, most, width)));
    page.table(&table)?;
    page.line(legend(&report.histogram.bars.values().fold(Bar::default(), |sum, bar| add(sum, *bar))))?;
    let most = if page.options.verbose { report.layers.len() } else { LAYERS };
    report.layers.iter().take(most).try_for_each(|layer| page.item(&loops(layer), HANG, 2))
}

/// One loop around another, and what they make of a call.
fn loops(layer: &LayerRow) -> Text {
    let most = if layer.even { "" } else { " at most" };
    let calls = words::counted(layer.calls, "call");
    Text::plain(format!("{calls}, {}: ", words::counted(layer.sends, "send")))
        .and(style::BOLD, format!("{} x {}{most}", layer.rounds, layer.sends_per_round))
        .then(format!(", {} around {}", layer.outer, layer.inner))
}

fn rows(report: &Report) -> Vec<Row> {
    let bars: Vec<(u32, Bar)> = report.histogram.bars.iter().map(|(k, bar)| (*k, *bar)).collect();
    let kept = if bars.len() > ROWS { ROWS - 1 } else { bars.len() };
    let came = |from: usize| bars[from..].iter().map(|(_, bar)| bar.calls()).sum();
    let one = |(at, (k, bar)): (usize, &(u32, Bar))| Row {
        label: k.to_string(),
        bar: *bar,
        ended: Some(Share { count: bar.ok, of: came(at) }),
    };
    let tail = bars[kept..].first().map(|(k, _)| Row {
        label: format!("{k}+"),
        bar: bars[kept..].iter().fold(Bar::default(), |sum, (_, bar)| add(sum, *bar)),
        ended: None,
    });
    bars[..kept].iter().enumerate().map(one).chain(tail).collect()
}

fn add(a: Bar, b: Bar) -> Bar {
    Bar { ok: a.ok + b.ok, failed: a.failed + b.failed, open: a.open + b.open }
}

fn cells(row: &Row, most: u64, width: usize) -> Vec<Text> {
    let Bar { ok, failed, open } = row.bar;
    let some = |n: u64| Text::plain(if n > 0 { words::number(n) } else { String::new() });
    let parts = [(ok, '█', style::GREEN), (failed, '▒', style::RED), (open, '░', style::YELLOW)];
    vec![
        Text::plain(&row.label),
        bar(&parts, most, width),
        some(ok),
        some(failed),
        some(open),
        Text::plain(row.ended.map(words::share).unwrap_or_default()),
    ]
}

/// Only the parts that occur.
fn legend(all: &Bar) -> Text {
    let parts =
        [(all.ok, "█ ok  ", style::GREEN), (all.failed, "▒ failed  ", style::RED), (all.open, "░ open", style::YELLOW)];
    let shown = parts.into_iter().filter(|(n, ..)| *n > 0);
    shown.fold(Text::plain(" ".repeat(LEGEND)), |text, (_, word, style)| text.and(style, word.trim_end()).then("  "))
}
