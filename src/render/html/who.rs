//! Who sent what, where the log tells several apart.

use super::marks;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::name;
use super::view::View;
use crate::model::Severity;
use crate::render::{who, words::counted};
use crate::report::WhoRow;
use maud::html;

/// Names of each kind a page shows.
const MOST: usize = 25;

const COLUMNS: [Column; 9] = [
    Column::text("By"),
    Column::text("Name"),
    Column::number("Calls"),
    Column::number("Failed"),
    Column::number("Attempts").minor(),
    Column::number("Retries").minor(),
    Column::number("Needless").minor(),
    Column::number("Cost").least(),
    Column::text("Found"),
];

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let mut rows = Vec::new();
    let mut left_out = view.report.who_omitted;
    for (by, names) in who::groups(view.report) {
        rows.extend(names.iter().take(MOST).map(|one| row(by.name(), one)));
        left_out += names.len().saturating_sub(MOST) as u64;
    }
    if rows.is_empty() {
        return None;
    }
    let table = Table { id: "who-table", caption: "attempts by sender", columns: &COLUMNS, rows, facets: Vec::new() };
    let body = html! {
        (table.render())
        p.note {
            "A call counts where its first attempt came from, a finding where its evidence begins; findings about runs and "
            "the whole log are not in this table."
            @if left_out > 0 { " " (counted(left_out, "more name")) " with less trouble left out." }
        }
    };
    Some(Section::new("who", "Who", "clients, layers, accounts, hosts: which of them the trouble is with", body))
}

fn row(by: &str, row: &WhoRow) -> Row {
    let [errors, warnings, _] = row.findings;
    let found = html! {
        @if errors > 0 { (marks::findings(Severity::Error, errors)) " " }
        @if warnings > 0 { (marks::findings(Severity::Warning, warnings)) }
    };
    Row::plain(vec![
        Cell::new(html! { (by) }),
        Cell::new(html! { (name(&who::name(row))) }),
        Cell::count(row.calls),
        Cell::count(row.calls_failed),
        Cell::count(row.attempts),
        Cell::count(row.retries),
        Cell::count(row.wasted_sends),
        Cell::keyed(html! { (who::cost(row)) }, row.usd.unwrap_or(0.0)),
        Cell::keyed(found, format!("{errors:09} {warnings:09}")),
    ])
}
