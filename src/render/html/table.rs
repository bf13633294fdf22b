//! Tables that sort, filter, page and open: plain HTML that the page's script makes lively.
//!
//! Every row is a `tbody` of its own, so that what it opens moves with it. Without scripts all rows are shown,
//! opened.

use crate::render::words;
use maud::{Markup, html};

/// Rows before a table is cut into pages.
const PAGE: usize = 25;
/// Rows from which a table has a field to filter it by.
const MANY: usize = 6;

/// How a column sorts and where it is left out.
#[derive(Clone, Copy)]
pub(in crate::render) struct Column {
    name: &'static str,
    number: bool,
    class: &'static str,
}

impl Column {
    /// Words, sorted as such unless a cell has a key.
    pub(in crate::render) const fn text(name: &'static str) -> Column {
        Column { name, number: false, class: "" }
    }

    /// Figures, at the right, largest first.
    pub(in crate::render) const fn number(name: &'static str) -> Column {
        Column { name, number: true, class: "" }
    }

    /// Left out on a phone; what opens below the row should have it.
    pub(in crate::render) const fn minor(self) -> Column {
        Column { class: "minor", ..self }
    }

    /// Left out on everything but a wide screen.
    pub(in crate::render) const fn least(self) -> Column {
        Column { class: "least", ..self }
    }
}

/// One cell, and what it is sorted by.
pub(in crate::render) struct Cell {
    shown: Markup,
    key: Option<String>,
}

impl Cell {
    /// Sorted by its text.
    pub(in crate::render) fn new(shown: Markup) -> Cell {
        Cell { shown, key: None }
    }

    /// Sorted by `key`.
    pub(in crate::render) fn keyed(shown: Markup, key: impl ToString) -> Cell {
        Cell { shown, key: Some(key.to_string()) }
    }

    /// A count; nothing is shown of 0.
    pub(in crate::render) fn count(n: u64) -> Cell {
        Cell::keyed(html! { @if n > 0 { (words::number(n)) } }, n)
    }

    /// A span of seconds; nothing is shown of 0.
    pub(in crate::render) fn span(s: f64) -> Cell {
        Cell::keyed(html! { (words::span(s)) }, s)
    }
}

/// One row.
pub(in crate::render) struct Row {
    /// Cells, one a column.
    pub(in crate::render) cells: Vec<Cell>,
    /// What opens below it.
    pub(in crate::render) more: Option<Markup>,
    /// Unique in the page; also where links to it go.
    pub(in crate::render) id: Option<String>,
    /// A link that is no id: `run=NAME` for `#run=NAME`.
    pub(in crate::render) link: Option<String>,
    /// What it is chosen by: one of the table's facets.
    pub(in crate::render) facet: &'static str,
}

impl Row {
    /// A row that opens nothing and is no target.
    pub(in crate::render) fn plain(cells: Vec<Cell>) -> Row {
        Row { cells, more: None, id: None, link: None, facet: "" }
    }
}

/// A table.
pub(in crate::render) struct Table<'a> {
    /// Unique in the page.
    pub(in crate::render) id: &'static str,
    /// What it holds, for those who cannot see it.
    pub(in crate::render) caption: &'a str,
    /// Columns, in order.
    pub(in crate::render) columns: &'a [Column],
    /// Rows, in the order they are first shown in.
    pub(in crate::render) rows: Vec<Row>,
    /// Kinds of rows to choose from, each with its mark.
    pub(in crate::render) facets: Vec<(&'static str, Markup)>,
}

impl Table<'_> {
    /// The table with its tools.
    pub(in crate::render) fn render(&self) -> Markup {
        html! {
            (self.tools())
            div.scroll {
                table id=(self.id) data-table data-page=(PAGE) {
                    caption.unseen { (self.caption) }
                    thead { tr { @for column in self.columns { (head(*column)) } } }
                    @for (nth, row) in self.rows.iter().enumerate() { (self.row(nth, row)) }
                }
            }
            @if self.rows.len() > PAGE {
                div.pager data-pager=(self.id) {
                    button type="button" data-go="-1" { "Previous" }
                    span.where {}
                    button type="button" data-go="1" { "Next" }
                    button type="button" data-go="all" { "Show all" }
                }
            }
        }
    }

    fn tools(&self) -> Markup {
        let facets: Vec<_> = self.facets.iter().filter(|(facet, _)| self.count(facet) > 0).collect();
        if self.rows.len() < MANY {
            return html! {};
        }
        html! {
            div.tools data-tools=(self.id) {
                label.filter {
                    span.unseen { "Filter " (self.caption) }
                    input type="search" placeholder="Filter: any word, id or file" autocomplete="off" spellcheck="false";
                }
                @if facets.len() > 1 {
                    div.facets role="group" aria-label="Show only" {
                        @for (facet, mark) in facets {
                            button type="button" aria-pressed="false" data-facet=(facet) {
                                (mark) " " span.count { (words::number(self.count(facet))) }
                            }
                        }
                    }
                }
                span.found role="status" {}
            }
        }
    }

    fn count(&self, facet: &str) -> u64 {
        self.rows.iter().filter(|row| row.facet == facet).count() as u64
    }

    fn row(&self, nth: usize, row: &Row) -> Markup {
        let more = format!("{}-more-{nth}", self.id);
        let facet = (!row.facet.is_empty()).then_some(row.facet);
        html! {
            tbody id=[row.id.as_deref()] data-link=[row.link.as_deref()] data-facet=[facet] {
                tr.row {
                    @for (place, (cell, column)) in row.cells.iter().zip(self.columns).enumerate() {
                        td class=[class(*column)] data-key=[cell.key.as_deref()] {
                            @if place == 0 && row.more.is_some() {
                                button.opener type="button" aria-expanded="false" aria-controls=(more) { (cell.shown) }
                            } @else { (cell.shown) }
                        }
                    }
                }
                @if let Some(markup) = &row.more {
                    tr.more id=(more) { td colspan=(self.columns.len()) { (markup) } }
                }
            }
        }
    }
}

/// The head of a column that does not sort.
pub(super) fn plain_head(column: Column) -> Markup {
    html! { th scope="col" class=[class(column)] { span { (column.name) } } }
}

fn head(column: Column) -> Markup {
    let kind = if column.number { "number" } else { "text" };
    html! { th scope="col" class=[class(column)] data-sort=(kind) { button type="button" { (column.name) } } }
}

fn class(column: Column) -> Option<String> {
    let number = if column.number { "number" } else { "" };
    let class = format!("{number} {}", column.class);
    let class = class.trim();
    (!class.is_empty()).then(|| class.to_owned())
}
