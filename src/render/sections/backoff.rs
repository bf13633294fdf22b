//! Backoff schedules of the retry loops.

use super::{View, charts};
use crate::render::charts::ChartKind;
use crate::render::document::{Block, Cell, Column, RichText, Row, Section, SpanKind, Table};
use crate::report::Backoff;

const COLUMNS: [Column; 6] = [
    Column::words("Loop").min_width(12),
    Column::words("Schedule").min_width(30),
    Column::id("Provider").rank(5),
    Column::number("Own waits"),
    Column::number("The server's").rank(1),
    Column::number("Not measured").rank(4),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let loops = &view.report.backoff;
    if loops.is_empty() {
        return None;
    }
    let table = Table::new("backoff-table", "loop", &COLUMNS, loops.iter().map(row).collect()).limits(5, 10, 100);
    let quiet = table.rows.iter().all(|row| row.minor);
    let blocks = vec![charts(view, ChartKind::Backoff, "loop"), Block::Table(table)];
    let note = "how each retry loop waits, apart from waits the server asked for";
    Some(Section::new("backoff", "Backoff", note, blocks).quiet(quiet))
}

fn row<'a>(entry: &Backoff) -> Row<'a> {
    let kind = match (entry.schedule, entry.jitter) {
        ("immediate", _) | (_, Some("none")) => SpanKind::Caution,
        _ => SpanKind::Plain,
    };
    Row {
        weight: entry.waits + entry.server_requested,
        minor: entry.schedule == "cannot_tell",
        ..Row::new(vec![
            Cell::new(entry.loop_name()),
            Cell::new(RichText::new(kind, entry.summary.as_str())),
            Cell::new(RichText::place([entry.provider.as_deref()])),
            Cell::count(entry.waits),
            Cell::count(entry.server_requested),
            Cell::count(entry.unmeasured),
        ])
    }
}
