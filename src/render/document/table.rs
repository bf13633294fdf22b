//! Tables: columns, rows with collapsed details, and how many rows each format shows.

use super::{Block, Cell, RichText, Sign};
use crate::model::Severity;
use crate::render::words::{self, number};

/// Alignment of a column's cells, and where they are shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Left-aligned, shortened at the end.
    Words,
    /// Left-aligned, shortened in the middle, since ids and paths differ at their ends.
    Id,
    /// Right-aligned.
    Number,
    /// A small histogram of attempts per call.
    Histogram,
    /// A bar in terminals; other formats show a chart above the table instead.
    Bar,
}

/// A column, with its names for every format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Name where space is short.
    pub(crate) short: &'static str,
    pub(crate) kind: ColumnKind,
    /// Minimum width in a terminal, in characters; `None` for a column that is never shortened.
    pub(crate) min_width: Option<usize>,
    /// Order in which columns are left out where space is short, the highest first: 0 is never left out, up to 2 on
    /// phones, up to 4 on narrow screens, 5 on terminals of 80 columns.
    pub(crate) rank: u8,
    /// Whether a terminal leaves a cell blank that equals the one above it.
    pub(crate) blanks_repeats: bool,
    /// What its cells are, as a sentence without its name; empty where the name says it.
    pub(crate) meaning: &'static str,
}

impl Column {
    const fn new(name: &'static str, kind: ColumnKind) -> Column {
        Column { name, short: name, kind, min_width: None, rank: 0, blanks_repeats: false, meaning: "" }
    }

    pub(crate) const fn words(name: &'static str) -> Column {
        Column::new(name, ColumnKind::Words)
    }

    pub(crate) const fn id(name: &'static str) -> Column {
        Column::new(name, ColumnKind::Id)
    }

    pub(crate) const fn number(name: &'static str) -> Column {
        Column::new(name, ColumnKind::Number)
    }

    pub(crate) const fn histogram(name: &'static str) -> Column {
        Column::new(name, ColumnKind::Histogram)
    }

    pub(crate) const fn bar() -> Column {
        Column::new("", ColumnKind::Bar)
    }

    /// Sets the name used where space is short.
    pub(crate) const fn short(self, short: &'static str) -> Column {
        Column { short, ..self }
    }

    /// Sets the minimum width in a terminal, in characters.
    pub(crate) const fn min_width(self, min_width: usize) -> Column {
        Column { min_width: Some(min_width), ..self }
    }

    /// Sets the rank by which it is left out.
    pub(crate) const fn rank(self, rank: u8) -> Column {
        Column { rank, ..self }
    }

    /// Explains its cells below the table.
    pub(crate) const fn means(self, meaning: &'static str) -> Column {
        Column { meaning, ..self }
    }

    /// Leaves repeated cells blank in a terminal.
    pub(crate) const fn blank_repeats(self) -> Column {
        Column { blanks_repeats: true, ..self }
    }
}

/// Explains the columns that a format shows, as far as they need it: "Peak: most attempts in flight at once. ...".
pub(crate) fn meanings<'c>(shown: impl Iterator<Item = &'c Column>) -> Option<String> {
    let explained = shown.filter(|column| !column.meaning.is_empty());
    let sentences: Vec<String> = explained.map(|column| format!("{}: {}.", column.name, column.meaning)).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The property by which rows are filtered and counted, such as severity or outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facet {
    pub(crate) name: &'static str,
    pub(crate) sign: Option<Sign>,
    /// Whether the name is a noun with a plural.
    pub(crate) is_noun: bool,
}

impl Facet {
    /// Returns the facet of rows about findings.
    pub(crate) fn of(severity: Severity) -> Facet {
        Facet { name: severity.name(), sign: Some(severity.into()), is_noun: true }
    }

    fn counted(&self, n: u64) -> String {
        if self.is_noun { words::counted(n, self.name) } else { format!("{} {}", number(n), self.name) }
    }
}

/// A row.
#[derive(Default)]
pub(crate) struct Row<'a> {
    pub(crate) cells: Vec<Cell<'a>>,
    /// Importance: where not all rows fit, those of the largest weight are shown, in the order of the table.
    pub(crate) weight: u64,
    /// Whether it is of little interest; a terminal then shows it only with `--verbose`.
    pub(crate) minor: bool,
    pub(crate) facet: Option<Facet>,
    /// Details below the row that an HTML page can open.
    pub(crate) more: Vec<Block<'a>>,
    /// The row as an entry of several lines, for formats in which its cells do not fit.
    pub(crate) card: Option<Card>,
    /// Id of the row for links, unique in the page.
    pub(crate) id: Option<String>,
    /// Run id for links.
    pub(crate) run: Option<&'a str>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(cells: Vec<Cell<'a>>) -> Row<'a> {
        Row { cells, ..Row::default() }
    }
}

/// A problem as an entry: a heading and labelled lines below it.
pub(crate) struct Card {
    pub(crate) severity: Severity,
    /// Code and name of the rule.
    pub(crate) title: String,
    /// Remark after the title.
    pub(crate) tag: String,
    /// Text at the right end of the heading.
    pub(crate) right: RichText,
    /// The line below the heading.
    pub(crate) under: RichText,
    pub(crate) fields: Vec<Field>,
    /// Whether a terminal shows it in one line unless `--verbose` is given.
    pub(crate) compact: bool,
    /// Whether it is shown faintly, because chance may explain it.
    pub(crate) faint: bool,
}

/// A labelled text of a card.
pub(crate) struct Field {
    pub(crate) label: &'static str,
    pub(crate) value: RichText,
    pub(crate) place: Place,
    /// Maximum number of lines in a terminal without `--verbose`.
    pub(crate) lines: usize,
}

/// Where a field is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the text of every format.
    Body,
    /// In the text of a terminal; in other formats among the facts beside the text.
    Fact,
    /// Among the facts, in formats that have them; a terminal shows it in the heading.
    Aside,
    /// In the text of an HTML page only.
    Page,
    /// In Markdown only, where no evidence can be opened.
    Comment,
}

impl Field {
    pub(crate) fn new(label: &'static str, value: impl Into<RichText>, place: Place) -> Field {
        Field { label, value: value.into(), place, lines: usize::MAX }
    }

    pub(crate) fn lines(self, lines: usize) -> Field {
        Field { lines, ..self }
    }
}

/// Maximum number of rows in each format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// In a terminal without `--verbose`.
    pub(crate) text: usize,
    /// In Markdown.
    pub(crate) markdown: usize,
    /// In HTML.
    pub(crate) html: usize,
}

impl Limits {
    pub(crate) const NONE: Limits = Limits::new(usize::MAX, usize::MAX, usize::MAX);

    pub(crate) const fn new(text: usize, markdown: usize, html: usize) -> Limits {
        Limits { text, markdown, html }
    }
}

/// A table.
pub(crate) struct Table<'a> {
    /// Id, unique in the page.
    pub(crate) id: &'static str,
    /// Name of one row, such as "run".
    pub(crate) unit: &'static str,
    pub(crate) columns: Vec<Column>,
    /// In the order in which they are shown first.
    pub(crate) rows: Vec<Row<'a>>,
    pub(crate) limits: Limits,
    /// Whether the limits apply to each facet separately; rows shown as cards then have a heading for each facet.
    pub(crate) by_facet: bool,
    /// Number of rows that the report itself left out.
    pub(crate) omitted: u64,
    /// Whether the order of rows matters; the table then cannot be sorted or filtered.
    pub(crate) fixed: bool,
}

impl<'a> Table<'a> {
    pub(crate) fn new(id: &'static str, unit: &'static str, columns: &[Column], rows: Vec<Row<'a>>) -> Table<'a> {
        let (columns, limits) = (columns.to_vec(), Limits::NONE);
        Table { id, unit, columns, rows, limits, by_facet: false, omitted: 0, fixed: false }
    }

    pub(crate) fn limits(self, text: usize, markdown: usize, html: usize) -> Table<'a> {
        Table { limits: Limits::new(text, markdown, html), ..self }
    }

    /// Returns the facets that occur, in the order of their first rows.
    pub(crate) fn facets(&self) -> Vec<Facet> {
        facets(self.rows.iter())
    }

    /// Splits the rows into the `max` of largest weight, which are shown, and those left out. Minor rows are in neither part
    /// unless `include_minor` is set.
    pub(crate) fn split(&self, max: usize, include_minor: bool) -> (Vec<&Row<'a>>, Vec<&Row<'a>>) {
        let is_listed = |at: &usize| include_minor || !self.rows[*at].minor;
        let mut order: Vec<usize> = (0..self.rows.len()).filter(is_listed).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.rows[*at].weight));
        let mut counts: Vec<(Option<Facet>, usize)> = Vec::new();
        let mut is_shown = vec![None; self.rows.len()];
        for at in order {
            let group = self.rows[at].facet.filter(|_| self.by_facet);
            let index = counts.iter().position(|(facet, _)| *facet == group).unwrap_or(counts.len());
            if index == counts.len() {
                counts.push((group, 0));
            }
            counts[index].1 += 1;
            is_shown[at] = Some(counts[index].1 <= max);
        }
        let all = || self.rows.iter().zip(&is_shown);
        let of =
            |shown: bool| all().filter(|(_, row_is_shown)| **row_is_shown == Some(shown)).map(|(row, _)| row).collect();
        (of(true), of(false))
    }

    /// Formats the number of rows left out, with their facets, as in "45 more runs WHERE (3 failed, 42 ok)"; `None` if
    /// there are none.
    pub(crate) fn left_out(&self, hidden: &[&Row<'_>], place: &str) -> Option<String> {
        let count = hidden.len() as u64 + self.omitted;
        if count == 0 {
            return None;
        }
        let of = |facet: &Facet| hidden.iter().filter(|row| row.facet == Some(*facet)).count() as u64;
        let kinds: Vec<String> = facets(hidden.iter().copied()).iter().map(|facet| facet.counted(of(facet))).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        Some(format!("{}{place}{kinds}", words::counted(count, &format!("more {}", self.unit))))
    }
}

fn facets<'r, 'a: 'r>(rows: impl Iterator<Item = &'r Row<'a>>) -> Vec<Facet> {
    let mut facets = Vec::new();
    rows.filter_map(|row| row.facet).for_each(|facet| {
        if !facets.contains(&facet) {
            facets.push(facet);
        }
    });
    facets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_largest_weight_are_shown_in_table_order() {
        let facet = |name| Some(Facet { name, sign: None, is_noun: true });
        let row =
            |weight, minor, name| Row { weight, minor, facet: facet(name), ..Row::new(vec![Cell::count(weight)]) };
        let rows = vec![row(1, false, "a"), row(9, true, "a"), row(3, false, "b"), row(2, false, "b")];
        let mut table = Table::new("t", "row", &[Column::number("n")], rows);
        let weights = |rows: &[&Row<'_>]| rows.iter().map(|row| row.weight).collect::<Vec<_>>();
        let (shown, hidden) = table.split(2, false);
        assert_eq!((weights(&shown), weights(&hidden)), (vec![3, 2], vec![1]));
        assert_eq!(table.left_out(&hidden, " below").unwrap(), "1 more row below (1 a)");
        table.by_facet = true;
        let (shown, hidden) = table.split(1, true);
        assert_eq!((weights(&shown), weights(&hidden)), (vec![9, 3], vec![1, 2]));
    }
}
