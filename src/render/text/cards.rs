//! Problems as entries of a few lines each: their text does not fit into a table.

use super::layout::{Fit, Text};
use super::page::Page;
use super::rich::text;
use super::style;
use crate::render::document::{Card, Field, Place, Row, Table};
use crate::render::words::counted;
use std::collections::HashSet;
use std::io;

/// Indentation of the body of an entry, in columns.
const BODY_INDENT: usize = 2;
/// Width of the labels in it, including the indentation, in columns.
const LABEL_WIDTH: usize = BODY_INDENT + 6;
/// Maximum number of entries shown in one line without `--verbose`.
const MAX_COMPACT: usize = 10;

/// Fixes already shown on the page, by title of the problem.
type FixesShown<'t> = HashSet<(&'t str, String)>;

pub(super) fn write(table: &Table<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let mut fixes = FixesShown::new();
    if !table.by_facet {
        return group(table, &table.rows.iter().collect::<Vec<_>>(), &mut fixes, page);
    }
    for (nth, facet) in table.facets().into_iter().enumerate() {
        if nth > 0 {
            page.blank()?;
        }
        let rows: Vec<&Row<'_>> = table.rows.iter().filter(|row| row.facet == Some(facet)).collect();
        let count = counted(rows.len() as u64, table.unit);
        page.line(Text::styled(style::BOLD, facet.name.to_uppercase()).and(style::FAINT, format!("  {count}")))?;
        group(table, &rows, &mut fixes, page)?;
    }
    Ok(())
}

fn group<'t>(
    table: &'t Table<'_>,
    rows: &[&'t Row<'_>],
    fixes: &mut FixesShown<'t>,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let all = page.options.verbose;
    let (compact, full): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
        rows.iter().copied().partition(|row| !all && row.card.as_ref().is_some_and(|card| card.compact));
    let (shown, hidden) = full.split_at(if all { full.len() } else { table.limits.text.min(full.len()) });
    for (nth, card) in shown.iter().filter_map(|row| row.card.as_ref()).enumerate() {
        if nth > 0 && terminal_fields(card).next().is_some() {
            page.blank()?;
        }
        write_card(card, fixes, page)?;
    }
    if !shown.is_empty() && compact.len() + hidden.len() > 0 {
        page.blank()?;
    }
    left_out(table, hidden, ": --verbose shows all, as does --format json", page)?;
    for card in compact.iter().take(MAX_COMPACT).filter_map(|row| row.card.as_ref()) {
        write_compact(card, page)?;
    }
    left_out(table, compact.get(MAX_COMPACT..).unwrap_or_default(), ": --verbose shows all", page)
}

/// Returns the fields that a terminal shows.
fn terminal_fields(card: &Card) -> impl Iterator<Item = &Field> {
    let is_shown = |field: &&Field| matches!(field.place, Place::Body | Place::Fact) && !field.value.is_empty();
    card.fields.iter().filter(is_shown)
}

fn left_out(table: &Table<'_>, hidden: &[&Row<'_>], hint: &str, page: &mut Page<'_>) -> io::Result<()> {
    match table.left_out(hidden, "") {
        Some(more) => page.remark(&format!("and {more}{hint}")),
        None => Ok(()),
    }
}

fn write_card<'t>(card: &'t Card, fixes: &mut FixesShown<'t>, page: &mut Page<'_>) -> io::Result<()> {
    page.line(heading(card, page.inner()))?;
    page.hanging(Text::new(), BODY_INDENT, &text(&card.under))?;
    for field in terminal_fields(card) {
        let lines = if page.options.verbose { usize::MAX } else { field.lines };
        let is_repeated = field.label == "Fix" && !fixes.insert((&card.title, field.value.to_text()));
        let value = match field.value.names() {
            _ if is_repeated => Text::styled(style::FAINT, "as above"),
            Some(names) => Text::styled(style::FAINT, names_that_fit(&names, page)),
            None => text(&field.value),
        };
        let (label, hang) = match field.label {
            "" => (Text::new(), BODY_INDENT),
            label => (Text::plain(" ".repeat(BODY_INDENT)).and(style::FAINT, label.to_lowercase()), LABEL_WIDTH),
        };
        page.hanging_at_most(label, hang, &value, lines)?;
    }
    Ok(())
}

/// Joins as many names as fit on one line; all of them with `--verbose`.
fn names_that_fit(names: &[&str], page: &Page<'_>) -> String {
    let list = |n: usize| names[..n].join(", ");
    let fits = |n: &usize| Text::plain(list(*n)).width() + LABEL_WIDTH <= page.inner();
    if page.options.verbose { list(names.len()) } else { list((1..=names.len()).rev().find(fits).unwrap_or(1)) }
}

/// Returns the heading: mark, severity, rule and name, and at the right the number of findings.
fn heading(card: &Card, width: usize) -> Text {
    let style = style::severity(card.severity).bold();
    let (mark, name) = if card.faint { (style::FAINT, style::FAINT) } else { (style, style::BOLD) };
    let left = Text::styled(mark, format!("{} {}", style::mark(card.severity), card.severity.name()))
        .then(" ")
        .and(name, &card.title)
        .and(style::FAINT, &card.tag);
    let right = text(&card.right);
    if right.width() == 0 {
        return left.cut(width, Fit::Words);
    }
    let room = width.saturating_sub(right.width() + 2);
    left.fitted(room, Fit::Words).then("  ").join(right)
}

/// Writes an entry in one line, on wide pages with its place, which is the first [`Place::Aside`] field.
fn write_compact(card: &Card, page: &mut Page<'_>) -> io::Result<()> {
    let style = style::severity(card.severity).bold();
    let mut line = Text::styled(style, format!("{} {}", style::mark(card.severity), card.severity.name()))
        .then(format!(" {}", card.title));
    let right = text(&card.right);
    if right.width() > 0 {
        line = line.then(", ").join(right);
    }
    if page.is_wide() {
        let place = card.fields.iter().find(|field| field.place == Place::Aside).map(|field| text(&field.value));
        line = line.then(", ").join(place.unwrap_or_default());
    }
    let example = card.fields.iter().find(|field| field.label.is_empty() && !field.value.is_empty());
    let example = example.map(|field| field.value.to_text()).unwrap_or_default();
    page.line(line.then(": ").and(style::FAINT, example).cut(page.inner(), Fit::Words))
}
