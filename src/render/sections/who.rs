//! Calls by sender, if the log tells several apart: clients and versions, layers, accounts, hosts, addresses.

use super::{View, cost, has_nothing_to_do, with_cost_column};
use crate::render::document::{Block, Cell, Column, Facet, RichText, Row, Section, SpanKind, Table};
use crate::render::words::number;
use crate::report::NameRow;

const COLUMNS: [Column; 9] = [
    Column::words("By").blank_repeats(),
    Column::id("Name").min_width(24),
    Column::number("Calls"),
    Column::number("Failed"),
    Column::number("Attempts").rank(3),
    Column::number("Retries").rank(1),
    Column::number("Needless").rank(2),
    Column::number("Cost").rank(1),
    Column::words("Found"),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let report = view.report;
    let is_priced = report.totals.usd.is_some();
    // A dimension with a single name distinguishes nothing.
    let groups = report.who.chunk_by(|a, b| a.by == b.by).filter(|names| names.len() > 1);
    let rows: Vec<Row<'a>> = groups.flatten().map(|one| row(one, is_priced)).collect();
    if rows.is_empty() {
        return None;
    }
    let table = Table::new("who-table", "name", &with_cost_column(&COLUMNS, is_priced), rows).limits(4, 4, 25);
    let table = Table { by_facet: true, omitted: report.who_omitted, ..table };
    let legend = "A call counts where its first attempt came from, a finding where its evidence begins; findings about \
                  runs and the whole log are not in this table.";
    let blocks = vec![Block::Table(table), Block::Note(legend.to_owned())];
    let note = "calls where their first attempt came from; found: about these calls";
    Some(Section::new("who", "Who", note, blocks).quiet(has_nothing_to_do(report)))
}

fn row<'a>(row: &NameRow, is_priced: bool) -> Row<'a> {
    let name = row
        .label()
        .map_or_else(|| RichText::new(SpanKind::Faint, "(not logged)"), |name| RichText::new(SpanKind::Name, name));
    let failed = if row.calls_failed > 0 { number(row.calls_failed) } else { String::new() };
    Row {
        facet: Some(Facet { name: row.by.name(), sign: None, is_noun: true }),
        ..Row::new(vec![
            Cell::new(RichText::new(SpanKind::Faint, row.by.name())),
            Cell::new(name),
            Cell::keyed(number(row.calls), row.calls),
            Cell::keyed(RichText::new(SpanKind::Bad, failed), row.calls_failed),
            Cell::keyed(number(row.attempts), row.attempts),
            Cell::count(row.retries),
            Cell::count(row.wasted_sends),
            cost(row.usd, row.tokens, is_priced),
            Cell::findings(row.findings),
        ])
    }
}
