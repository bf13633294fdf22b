//! How the failures of each class fared.

use super::table::{Cell, Column, Row, Table};
use super::view::View;
use crate::render::words;
use crate::report::{ClassRow, Share};
use maud::{Markup, html};

const COLUMNS: [Column; 5] = [
    Column::text("Class"),
    Column::text("Bucket").minor(),
    Column::number("Failed attempts"),
    Column::number("Calls").minor(),
    Column::number("Calls that succeeded in the end"),
];

/// The classes as a table; nothing where no attempt failed.
pub(super) fn table(view: &View<'_>) -> Markup {
    if view.report.classes.is_empty() {
        return html! {};
    }
    let rows = view.report.classes.iter().map(row).collect();
    let table = Table { id: "class-table", caption: "failure classes", columns: &COLUMNS, rows, facets: Vec::new() };
    html! { h3 { "By class, whatever came first" } (table.render()) }
}

fn row(class: &ClassRow) -> Row {
    let recovered = Share { count: class.recovered, of: class.calls };
    Row::plain(vec![
        Cell::new(html! { code { (class.class) } }),
        Cell::new(html! { span.faint { (class.bucket) } }),
        Cell::count(class.attempts),
        Cell::count(class.calls),
        Cell::keyed(html! { (words::share(recovered)) }, recovered.ratio().unwrap_or(0.0)),
    ])
}
