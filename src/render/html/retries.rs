//! Attempts per call over all runs, and what each further attempt brought.

use super::figure::figures;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::view::View;
use crate::model::Bar;
use crate::render::{
    charts::{ChartError, ChartKind},
    words::{self, counted, number},
};
use crate::report::Share;
use maud::html;

const COLUMNS: [Column; 6] = [
    Column::number("Attempts"),
    Column::number("Calls"),
    Column::number("Succeeded"),
    Column::number("Failed").minor(),
    Column::number("Open").minor(),
    Column::number("Succeeded of those that came so far"),
];

pub(super) fn section(view: &View<'_>) -> Result<Option<Section>, ChartError> {
    let histogram = &view.report.histogram;
    if histogram.bars.is_empty() {
        return Ok(None);
    }
    let bars: Vec<(u32, Bar)> = histogram.bars.iter().map(|(attempts, bar)| (*attempts, *bar)).collect();
    let rows = (0..bars.len()).map(|nth| row(&bars, nth)).collect();
    let table = Table { id: "retry-table", caption: "attempts per call", columns: &COLUMNS, rows, facets: Vec::new() };
    let body = html! {
        (figures(view.report, ChartKind::Fleet)?)
        details { summary { "The figures" } (table.render()) }
    };
    let totals = &view.report.totals;
    let note = format!("{} for {}", counted(totals.sends, "send"), counted(totals.calls, "call"));
    Ok(Some(Section::new("retries", "Attempts per call", note, body)))
}

fn row(bars: &[(u32, Bar)], nth: usize) -> Row {
    let (attempts, bar) = bars[nth];
    let came: u64 = bars[nth..].iter().map(|(_, bar)| bar.calls()).sum();
    let share = Share { count: bar.ok, of: came };
    Row::plain(vec![
        Cell::keyed(html! { (number(u64::from(attempts))) }, attempts),
        Cell::count(bar.calls()),
        Cell::count(bar.ok),
        Cell::count(bar.failed),
        Cell::count(bar.open),
        Cell::keyed(html! { (words::share(share)) }, share.ratio().unwrap_or(0.0)),
    ])
}
