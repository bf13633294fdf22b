//! Tables that can be sorted, filtered, paged and opened: plain HTML that the page's script makes interactive.
//!
//! Every row is a `tbody`, so that its details move with it. Without scripts all rows are shown, with their details.

use super::rich::{inline, is_shown, list};
use super::untrusted::name;
use super::{bars, marks};
use crate::render::charts::ChartError;
use crate::render::document::{
    Block, Card, Cell, Column, ColumnKind, Content, Facet, Field, Place, Row, Table, meanings,
};
use crate::render::words;
use maud::{Markup, html};

/// Maximum number of rows on one page of a table.
const ROWS_PER_PAGE: usize = 25;
/// Number of columns above which a phone shows the cells of a row one below the other.
const MAX_UNSTACKED_COLUMNS: usize = 5;
/// Minimum number of rows for a filter field.
const MIN_ROWS_WITH_FILTER: usize = 6;

/// Renders the details of a row.
type Blocks<'f> = &'f dyn Fn(&[Block<'_>]) -> Result<Markup, ChartError>;

/// Renders a table with its controls; a table without rows is left out.
pub(super) fn render(table: &Table<'_>, blocks: Blocks<'_>) -> Result<Markup, ChartError> {
    let (rows, hidden) = table.split(table.limits.html, true);
    if rows.is_empty() {
        return Ok(html! {});
    }
    let columns = columns(table, &rows);
    if table.fixed {
        return Ok(fixed(table, &columns, &rows));
    }
    let bodies = rows.iter().enumerate().map(|(nth, one)| row(table.id, &columns, nth, one, blocks));
    let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        (controls(table, &rows))
        div.scroll {
            table id=(table.id) data-table data-page=(ROWS_PER_PAGE) {
                caption.unseen { (crate::model::units::plural(2, table.unit)) }
                thead { tr { @for (_, column) in &columns { (header_cell(column)) } } }
                @for body in &bodies { (body) }
            }
        }
        @if rows.len() > ROWS_PER_PAGE {
            div.pager data-pager=(table.id) {
                button type="button" data-go="-1" { "Previous" }
                span.where {}
                button type="button" data-go="1" { "Next" }
                button type="button" data-go="all" { "Show all" }
            }
        }
        (left_out(&hidden, table.omitted, table.unit))
        @if let Some(meanings) = meanings(columns.iter().map(|(_, column)| *column)) { p.note { (meanings) } }
    })
}

/// Columns with their positions in the table.
type ShownColumns<'t> = [(usize, &'t Column)];

/// Returns the columns with content, except bars: HTML pages have a chart above the table instead.
fn columns<'t>(table: &'t Table<'_>, rows: &[&Row<'_>]) -> Vec<(usize, &'t Column)> {
    let is_empty = |at: usize| rows.iter().all(|row| is_empty(&row.cells[at]));
    let is_shown = |(at, column): &(usize, &Column)| column.kind != ColumnKind::Bar && !is_empty(*at);
    table.columns.iter().enumerate().filter(is_shown).collect()
}

fn is_empty(cell: &Cell<'_>) -> bool {
    matches!(&cell.content, Content::RichText(rich) if !is_shown(rich))
}

/// Renders a table whose order matters. One with many columns is stacked on phones.
fn fixed(table: &Table<'_>, columns: &ShownColumns<'_>, rows: &[&Row<'_>]) -> Markup {
    html! {
        div.finding { div.scroll {
            table.stacked[columns.len() > MAX_UNSTACKED_COLUMNS] {
                caption.unseen { (crate::model::units::plural(2, table.unit)) }
                thead { tr { @for (_, column) in columns { th scope="col" class=[class(column)] { span { (column.name) } } } } }
                tbody { @for row in rows { tr { (cells(columns, row, None, columns.len() > MAX_UNSTACKED_COLUMNS)) } } }
            }
        } }
    }
}

fn controls(table: &Table<'_>, rows: &[&Row<'_>]) -> Markup {
    if rows.len() < MIN_ROWS_WITH_FILTER {
        return html! {};
    }
    let facets = table.facets();
    let count = |facet: &Facet| rows.iter().filter(|row| row.facet == Some(*facet)).count() as u64;
    html! {
        div.tools data-tools=(table.id) {
            label.filter {
                span.unseen { "Filter " (crate::model::units::plural(2, table.unit)) }
                input type="search" placeholder="Filter: any word, id or file" autocomplete="off" spellcheck="false";
            }
            @if facets.len() > 1 {
                div.facets role="group" aria-label="Show only" {
                    @for facet in &facets {
                        button type="button" aria-pressed="false" data-facet=(facet.name) {
                            @if let Some(sign) = facet.sign { (marks::word(sign, facet.name)) } @else { (facet.name) }
                            " " span.count { (words::number(count(facet))) }
                        }
                    }
                }
            }
            span.found role="status" {}
        }
    }
}

fn row(
    table: &str,
    columns: &ShownColumns<'_>,
    nth: usize,
    row: &Row<'_>,
    blocks: Blocks<'_>,
) -> Result<Markup, ChartError> {
    let more = format!("{table}-more-{nth}");
    let opens = row.card.is_some() || !row.more.is_empty();
    let link = row.run.map(|run| format!("run={}", name(run)));
    let details = match &row.card {
        Some(one) => card(one, &row.more, blocks)?,
        None => blocks(&row.more)?,
    };
    Ok(html! {
        tbody id=[row.id.as_deref()] data-link=[link] data-facet=[row.facet.map(|facet| facet.name)] {
            tr.row { (cells(columns, row, opens.then_some(&more), false)) }
            @if opens { tr.more id=(more) { td colspan=(columns.len()) { (details) } } }
        }
    })
}

/// Renders the cells of a row. `opens` is the id of the details that the first cell opens; with `named`, each cell
/// carries the name of its column.
fn cells(columns: &ShownColumns<'_>, row: &Row<'_>, opens: Option<&String>, named: bool) -> Markup {
    let shown = columns.iter().map(|(at, column)| (&row.cells[*at], *column));
    html! {
        @for (place, (cell, column)) in shown.enumerate() {
            td class=[class(column)] data-key=[cell.key.as_deref()] data-name=[named.then_some(column.name)] {
                @if let (0, Some(more)) = (place, opens) {
                    button.opener type="button" aria-expanded="false" aria-controls=(more) { (content(cell)) }
                } @else { (content(cell)) }
            }
        }
    }
}

fn content(cell: &Cell<'_>) -> Markup {
    match &cell.content {
        Content::RichText(rich) => inline(rich),
        Content::Histogram(histogram) => bars::histogram(histogram),
        Content::Bar(..) => html! {},
    }
}

fn header_cell(column: &Column) -> Markup {
    let kind = if matches!(column.kind, ColumnKind::Number | ColumnKind::Histogram) { "number" } else { "text" };
    html! { th scope="col" class=[class(column)] data-sort=(kind) { button type="button" { (column.name) } } }
}

/// CSS classes for the alignment of a column and for the screens on which it is left out.
fn class(column: &Column) -> Option<String> {
    let number = if column.kind == ColumnKind::Number { "number" } else { "" };
    let rank = match column.rank {
        0 => "",
        1 | 2 => "minor",
        _ => "least",
    };
    let class = format!("{number} {rank}");
    let class = class.trim();
    (!class.is_empty()).then(|| class.to_owned())
}

/// Renders a problem: its text at the left, facts beside it, evidence below.
fn card(card: &Card, more: &[Block<'_>], blocks: Blocks<'_>) -> Result<Markup, ChartError> {
    let fields_at = |places: [Place; 2]| {
        card.fields.iter().filter(move |field| places.contains(&field.place) && is_shown(&field.value))
    };
    let evidence = blocks(more)?;
    Ok(html! {
        div.about-problem {
            div { @for field in fields_at([Place::Body, Place::Page]) { (text_field(field)) } }
            dl.terms.small { @for field in fields_at([Place::Fact, Place::Aside]) { dt { (field.label) } dd { (list(&field.value)) } } }
            @if !more.is_empty() { div.evidence { (evidence) } }
        }
    })
}

fn text_field(field: &Field) -> Markup {
    let faint = field.place == Place::Page;
    html! {
        @if field.label.is_empty() { p.prose { (inline(&field.value)) } } @else {
            div.fix.faint[faint] { h3 { (field.label) } p.prose { (inline(&field.value)) } }
        }
    }
}

/// Renders how many rows are left out, and where to find them.
fn left_out(hidden: &[&Row<'_>], omitted: u64, unit: &str) -> Markup {
    let count = hidden.len() as u64;
    html! {
        @if count > 0 { p.note { (words::number(count)) " further " (crate::model::units::plural(count, unit)) ": all of them are in the JSON report." } }
        @if omitted > 0 { p.note { (words::counted(omitted, &format!("further {unit}"))) " not kept in the report." } }
    }
}
