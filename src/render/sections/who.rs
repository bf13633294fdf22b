//! Calls by sender, if the log tells several apart: clients and versions, layers, accounts, hosts, addresses.

use super::{View, cost, is_calm, priced};
use crate::render::document::{Block, Cell, Column, Facet, Rich, Row, Section, Table, Tone};
use crate::render::words::number;
use crate::report::WhoRow;

const COLUMNS: [Column; 9] = [
    Column::words("By").once(),
    Column::id("Name").cut_to(24),
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
    let table = Table::new("who-table", "name", &priced(&COLUMNS, is_priced), rows).limits(4, 4, 25);
    let table = Table { by_facet: true, omitted: report.who_omitted, ..table };
    let legend = "A call counts where its first attempt came from, a finding where its evidence begins; findings about \
                  runs and the whole log are not in this table.";
    let blocks = vec![Block::Table(table), Block::Note(legend.to_owned())];
    let note = "calls where their first attempt came from; found: about these calls";
    Some(Section::new("who", "Who", note, blocks).quiet(is_calm(report)))
}

fn row<'a>(row: &WhoRow, is_priced: bool) -> Row<'a> {
    let name = row.label().map_or_else(|| Rich::new(Tone::Faint, "(not logged)"), |name| Rich::new(Tone::Name, name));
    let failed = if row.calls_failed > 0 { number(row.calls_failed) } else { String::new() };
    Row {
        facet: Some(Facet { name: row.by.name(), sign: None, is_noun: true }),
        ..Row::new(vec![
            Cell::new(Rich::new(Tone::Faint, row.by.name())),
            Cell::new(name),
            Cell::keyed(number(row.calls), row.calls),
            Cell::keyed(Rich::new(Tone::Bad, failed), row.calls_failed),
            Cell::keyed(number(row.attempts), row.attempts),
            Cell::count(row.retries),
            Cell::count(row.wasted_sends),
            cost(row.usd, row.tokens, is_priced),
            Cell::findings(row.findings),
        ])
    }
}
