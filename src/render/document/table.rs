//! Tables: columns, rows that open, and how many of them a form shows.

use super::{Block, Cell, Rich, Sign};
use crate::model::Severity;
use crate::render::words::{self, number};

/// How the cells of a column stand, and where they are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To the left; the end is cut.
    Words,
    /// To the left; the middle is cut, since ids and paths differ at their ends.
    Id,
    /// To the right.
    Number,
    /// Attempts per call, small.
    Histogram,
    /// A bar for terminals; elsewhere a chart stands above the table.
    Bar,
}

/// A column. Its words stand here once for every form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Its name where columns are narrow.
    pub(crate) short: &'static str,
    pub(crate) kind: Kind,
    /// The width it may be cut to in a terminal; never cut when `None`.
    pub(crate) least: Option<usize>,
    /// Left out where there is no room, the highest first: 0 never, up to 2 on phones, up to 4 on narrow screens,
    /// 5 on terminals of 80 columns.
    pub(crate) rank: u8,
    /// A cell like the one above it is left blank in a terminal.
    pub(crate) once: bool,
}

impl Column {
    const fn new(name: &'static str, kind: Kind) -> Column {
        Column { name, short: name, kind, least: None, rank: 0, once: false }
    }

    pub(crate) const fn words(name: &'static str) -> Column {
        Column::new(name, Kind::Words)
    }

    pub(crate) const fn id(name: &'static str) -> Column {
        Column::new(name, Kind::Id)
    }

    pub(crate) const fn number(name: &'static str) -> Column {
        Column::new(name, Kind::Number)
    }

    pub(crate) const fn histogram(name: &'static str) -> Column {
        Column::new(name, Kind::Histogram)
    }

    pub(crate) const fn bar() -> Column {
        Column::new("", Kind::Bar)
    }

    /// Called so where columns are narrow.
    pub(crate) const fn short(self, short: &'static str) -> Column {
        Column { short, ..self }
    }

    /// May be cut to `least` columns of a terminal.
    pub(crate) const fn cut_to(self, least: usize) -> Column {
        Column { least: Some(least), ..self }
    }

    /// May be left out, before those of a lower `rank`.
    pub(crate) const fn rank(self, rank: u8) -> Column {
        Column { rank, ..self }
    }

    /// Repeats are blank in a terminal.
    pub(crate) const fn once(self) -> Column {
        Column { once: true, ..self }
    }
}

/// What rows are chosen and counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facet {
    pub(crate) name: &'static str,
    pub(crate) sign: Option<Sign>,
    /// Whether the name is a noun that has a plural.
    pub(crate) is_noun: bool,
}

impl Facet {
    /// Of rows about findings.
    pub(crate) fn of(severity: Severity) -> Facet {
        Facet { name: severity.name(), sign: Some(severity.into()), is_noun: true }
    }

    fn counted(&self, n: u64) -> String {
        if self.is_noun { words::counted(n, self.name) } else { format!("{} {}", number(n), self.name) }
    }
}

/// One row.
#[derive(Default)]
pub(crate) struct Row<'a> {
    pub(crate) cells: Vec<Cell<'a>>,
    /// Which rows stay where there is no room for all: the largest, in the order of the table.
    pub(crate) weight: u64,
    /// Says little: a terminal shows it only where all is asked for.
    pub(crate) minor: bool,
    pub(crate) facet: Option<Facet>,
    /// What opens below it, on a page.
    pub(crate) more: Vec<Block<'a>>,
    /// The row shown as an entry of its own, where a form has no room for its cells.
    pub(crate) card: Option<Card>,
    /// Unique in the page; links lead to it.
    pub(crate) id: Option<String>,
    /// The run that links name.
    pub(crate) run: Option<&'a str>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(cells: Vec<Cell<'a>>) -> Row<'a> {
        Row { cells, ..Row::default() }
    }
}

/// A problem as an entry: a head, and labelled lines below it.
pub(crate) struct Card {
    pub(crate) severity: Severity,
    /// Rule and name.
    pub(crate) title: String,
    /// A remark behind it.
    pub(crate) tag: String,
    /// At the end of the head's line.
    pub(crate) right: Rich,
    /// The line below the head.
    pub(crate) under: Rich,
    pub(crate) fields: Vec<Field>,
    /// Shown in one line unless all is asked for.
    pub(crate) compact: bool,
    /// What chance may explain is faint.
    pub(crate) faint: bool,
}

/// A labelled text of a card.
pub(crate) struct Field {
    pub(crate) label: &'static str,
    pub(crate) value: Rich,
    pub(crate) place: Place,
    /// Lines a terminal gives it unless all is asked for.
    pub(crate) lines: usize,
}

/// Where a field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the text of every form.
    Body,
    /// In the text of a terminal, among the facts beside the text elsewhere.
    Fact,
    /// Among the facts, where a form has room for them; a terminal says it in the head.
    Aside,
    /// In the text of a page only.
    Page,
    /// Where a form has no evidence to open.
    Comment,
}

impl Field {
    pub(crate) fn new(label: &'static str, value: impl Into<Rich>, place: Place) -> Field {
        Field { label, value: value.into(), place, lines: usize::MAX }
    }

    pub(crate) fn lines(self, lines: usize) -> Field {
        Field { lines, ..self }
    }
}

/// Rows each form shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// A terminal, unless all is asked for.
    pub(crate) text: usize,
    /// A comment.
    pub(crate) markdown: usize,
    /// A page.
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
    /// Unique in the page.
    pub(crate) id: &'static str,
    /// What a row is, such as "run".
    pub(crate) unit: &'static str,
    pub(crate) columns: Vec<Column>,
    /// In the order they are first shown in.
    pub(crate) rows: Vec<Row<'a>>,
    pub(crate) limits: Limits,
    /// Whether the limits hold for each facet on its own, under a heading of its own where rows are cards.
    pub(crate) by_facet: bool,
    /// Rows that the report itself left out.
    pub(crate) omitted: u64,
    /// Its order is its meaning: it neither sorts nor filters.
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

    /// Facets that occur, in the order of their first rows.
    pub(crate) fn facets(&self) -> Vec<Facet> {
        facets(self.rows.iter())
    }

    /// The rows that have room where there is some for `most`, and those that have none. Without `minor` ones,
    /// unless those are wanted, too.
    pub(crate) fn split(&self, most: usize, minor: bool) -> (Vec<&Row<'a>>, Vec<&Row<'a>>) {
        let is_listed = |at: &usize| minor || !self.rows[*at].minor;
        let mut order: Vec<usize> = (0..self.rows.len()).filter(is_listed).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.rows[*at].weight));
        let mut used: Vec<(Option<Facet>, usize)> = Vec::new();
        let mut is_shown = vec![None; self.rows.len()];
        for at in order {
            let group = self.rows[at].facet.filter(|_| self.by_facet);
            let place = used.iter().position(|(facet, _)| *facet == group).unwrap_or(used.len());
            if place == used.len() {
                used.push((group, 0));
            }
            used[place].1 += 1;
            is_shown[at] = Some(used[place].1 <= most);
        }
        let all = || self.rows.iter().zip(&is_shown);
        let of = |shown: bool| all().filter(|(_, is)| **is == Some(shown)).map(|(row, _)| row).collect();
        (of(true), of(false))
    }

    /// "45 more runs WHERE (3 failed, 42 ok)": rows left out, by what they are; nothing of none.
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
    fn the_weightiest_rows_stay_in_their_order() {
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
