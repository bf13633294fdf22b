//! The schedule each retry loop waits by.

use super::figure::figures;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::{name, prose};
use super::view::View;
use crate::render::{
    charts::{ChartError, ChartKind},
    words::counted,
};
use crate::report::Backoff;
use maud::html;

/// Loops shown.
const MOST: usize = 100;

const COLUMNS: [Column; 6] = [
    Column::text("Loop"),
    Column::text("Schedule"),
    Column::text("Provider").minor(),
    Column::number("Own waits"),
    Column::number("The server's").minor(),
    Column::number("Not measured").least(),
];

pub(super) fn section(view: &View<'_>) -> Result<Option<Section>, ChartError> {
    let loops = &view.report.backoff;
    if loops.is_empty() {
        return Ok(None);
    }
    let rows = loops.iter().take(MOST).map(row).collect();
    let table = Table { id: "backoff-table", caption: "retry loops", columns: &COLUMNS, rows, facets: Vec::new() };
    let body = html! {
        (figures(view.report, ChartKind::Backoff)?)
        (table.render())
        @if loops.len() > MOST { p.note { "The first " (MOST) " of " (counted(loops.len() as u64, "loop")) "." } }
    };
    let note = "how each retry loop waits, apart from waits the server asked for";
    Ok(Some(Section::new("backoff", "Backoff", note, body)))
}

fn row(entry: &Backoff) -> Row {
    Row::plain(vec![
        Cell::new(html! { (name(&entry.loop_name())) }),
        Cell::new(html! { (prose(&entry.summary)) }),
        Cell::new(html! { span.faint { @if let Some(provider) = &entry.provider { (name(provider)) } } }),
        Cell::count(entry.waits),
        Cell::count(entry.server_dictated),
        Cell::count(entry.unmeasured),
    ])
}
