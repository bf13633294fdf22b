//! Attempts per call over all runs, the success of each further attempt, and nested retry loops.

use super::{View, charts};
use crate::model::Bar;
use crate::render::charts::ChartKind;
use crate::render::document::{Block, Cell, Column, Content, Row, Section, SpanKind, Table};
use crate::render::words::{counted, number};
use crate::report::{LayerRow, Report, Share};

/// Maximum number of rows; further numbers of attempts are summed up in the last one.
const MAX_ROWS: usize = 10;

const COLUMNS: [Column; 7] = [
    Column::number("Attempts"),
    Column::bar().min_width(8),
    Column::number("Calls").rank(4),
    Column::number("OK"),
    Column::number("Failed"),
    Column::number("Open"),
    Column::number("OK on this attempt").rank(1),
];
const LAYERS: [Column; 5] = [
    Column::words("Around it").min_width(12),
    Column::words("Inner loop").min_width(12),
    Column::number("Factors"),
    Column::number("Calls").rank(1),
    Column::number("Attempts"),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let report = view.report;
    if report.histogram.bars.is_empty() {
        return None;
    }
    let table = Table::new("retry-table", "row", &COLUMNS, rows(report));
    let mut blocks = vec![charts(view, ChartKind::Fleet, "chart"), Block::Table(Table { fixed: true, ..table })];
    if !report.layers.is_empty() {
        let rows = report.layers.iter().map(layer).collect();
        blocks.push(Block::Heading("Loops around loops".to_owned()));
        blocks.push(Block::Table(Table::new("layer-table", "pair", &LAYERS, rows).limits(3, 10, 100)));
    }
    let totals = &report.totals;
    let (attempts, calls) = (counted(totals.sends, "attempt"), counted(totals.calls, "call"));
    let unseen = match totals.attempts_implied.saturating_sub(totals.sends) {
        0 => String::new(),
        unseen => format!("; counters tell of {} more without a record", number(unseen)),
    };
    let around = match totals.attempts_implied.saturating_sub(totals.attempts_upstream) {
        0 => String::new(),
        around => format!("; {} reached a provider only by attempts of another layer", number(around)),
    };
    let note = format!("{attempts} for {calls}: {:.2} a call{unseen}{around}", totals.amplification);
    let is_quiet =
        report.histogram.bars.keys().all(|attempts| *attempts < 2) && totals.attempts_implied <= totals.sends;
    Some(Section::new("retries", "Attempts per call", note, blocks).quiet(is_quiet))
}

fn rows<'a>(report: &Report) -> Vec<Row<'a>> {
    let bars: Vec<(u32, Bar)> = report.histogram.bars.iter().map(|(k, bar)| (*k, *bar)).collect();
    let kept = if bars.len() > MAX_ROWS { MAX_ROWS - 1 } else { bars.len() };
    let sum = |from: usize| {
        bars[from..].iter().fold(Bar::default(), |sum, (_, bar)| Bar {
            ok: sum.ok + bar.ok,
            failed: sum.failed + bar.failed,
            open: sum.open + bar.open,
        })
    };
    let tail = bars[kept..].first().map(|(k, _)| (format!("{}+", number(u64::from(*k))), sum(kept), Share::default()));
    // The share of calls that succeeded on this attempt, of those that made it.
    let single = |(at, (k, bar)): (usize, &(u32, Bar))| {
        (number(u64::from(*k)), *bar, Share { count: bar.ok, of: sum(at).calls() })
    };
    let listed: Vec<_> = bars[..kept].iter().enumerate().map(single).chain(tail).collect();
    let most = listed.iter().map(|(_, bar, _)| bar.calls()).max().unwrap_or(0);
    listed
        .into_iter()
        .map(|(label, bar, share)| {
            Row::new(vec![
                Cell::new(label),
                Cell { content: Content::Bar(bar, most), key: None },
                Cell::count(bar.calls()),
                Cell::count(bar.ok),
                Cell::count(bar.failed),
                Cell::count(bar.open),
                Cell::share(share, SpanKind::Plain),
            ])
        })
        .collect()
}

/// Returns the row of one loop nested in another, and how many attempts they make of a call.
fn layer<'a>(layer: &LayerRow) -> Row<'a> {
    let most = if layer.even { "" } else { " at most" };
    let factors = format!("{} × {} = {}{most}", layer.rounds, layer.sends_per_round, layer.bound);
    Row::new(vec![
        Cell::new(layer.outer.as_str()),
        Cell::new(layer.inner.as_str()),
        Cell::keyed(factors, layer.bound),
        Cell::count(layer.calls),
        Cell::count(layer.sends),
    ])
}
