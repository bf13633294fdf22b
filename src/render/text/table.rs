//! Tables that fit the page: columns as wide as their content, long cells cut, the least important columns left out.

use super::layout::{Fit, Text};
use super::rich::text;
use super::{bars, style};
use crate::model::Bar;
use crate::render::document::{self, Column, Content, Kind, Rich, meanings, short_histogram};
use crate::report::Histogram;

/// Space between two columns of the table.
const GAP: usize = 2;
/// Preferred width of a bar, in columns of the terminal.
const BAR: usize = 40;
/// Minimum rank of columns that only a wide page has room for.
const WIDE_RANK: u8 = 5;
/// Width of a table on a wide page, in columns of the terminal.
const WIDE: usize = super::layout::WIDE - 2;

/// Rows below named columns.
#[derive(Debug)]
pub(super) struct Table<'a> {
    columns: Vec<Column>,
    rows: Vec<Vec<Slot<'a>>>,
}

/// Content of a cell: text, or a drawing that adapts to the width of its column.
#[derive(Clone, Debug)]
enum Slot<'a> {
    Text(Text),
    Histogram(&'a Histogram),
    Bar(Bar, u64),
}

impl Slot<'_> {
    fn width(&self) -> usize {
        match self {
            Slot::Text(text) => text.width(),
            Slot::Histogram(histogram) => short_histogram(histogram, usize::MAX).len(),
            Slot::Bar(..) => BAR,
        }
    }

    fn fitted(&self, width: usize, fit: Fit) -> Text {
        match self {
            Slot::Text(text) => text.clone(),
            Slot::Histogram(histogram) => Text::plain(short_histogram(histogram, width)),
            Slot::Bar(bar, most) => {
                let parts =
                    [(bar.ok, '█', style::GREEN), (bar.failed, '▒', style::RED), (bar.open, '░', style::YELLOW)];
                bars::bar(&parts, *most, width)
            }
        }
        .fitted(width, fit)
    }
}

const fn fit(kind: Kind) -> Fit {
    match kind {
        Kind::Words | Kind::Histogram | Kind::Bar => Fit::Words,
        Kind::Id => Fit::Id,
        Kind::Number => Fit::Number,
    }
}

impl<'a> Table<'a> {
    pub(super) fn new(columns: &[Column]) -> Table<'a> {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Creates a table with `rows` below `columns`.
    pub(super) fn of(columns: &[Column], rows: &[&document::Row<'a>]) -> Table<'a> {
        let mut table = Table::new(columns);
        for (nth, row) in rows.iter().enumerate() {
            let above = nth.checked_sub(1).map(|above| &rows[above].cells);
            let repeats = |at: usize, rich: &Rich| {
                columns[at].once
                    && above.is_some_and(|above| matches!(&above[at].content, Content::Rich(one) if one == rich))
            };
            let slot = |(at, cell): (usize, &document::Cell<'a>)| match &cell.content {
                Content::Rich(rich) if repeats(at, rich) => Slot::Text(Text::new()),
                Content::Rich(rich) => Slot::Text(text(rich)),
                Content::Histogram(histogram) => Slot::Histogram(histogram),
                Content::Bar(bar, most) => Slot::Bar(*bar, *most),
            };
            table.rows.push(row.cells.iter().enumerate().map(slot).collect());
        }
        table
    }

    /// Adds a row, one cell per column.
    pub(super) fn row(&mut self, cells: Vec<Text>) {
        self.rows.push(cells.into_iter().map(Slot::Text).collect());
    }

    /// Returns the columns that fit into `width`, with their widths. A column without content is left out.
    fn shown(&self, width: usize) -> Vec<(usize, usize)> {
        let mut shown: Vec<(usize, usize)> =
            (0..self.columns.len()).filter_map(|at| Some((at, self.natural(at)?))).collect();
        if width < WIDE {
            shown.retain(|(at, _)| self.columns[*at].rank < WIDE_RANK);
        }
        while !self.shrink(&mut shown, width) && self.leave_out(&mut shown) {}
        shown
    }

    /// Explains the columns that fit into `width`.
    pub(super) fn meanings(&self, width: usize) -> Option<String> {
        meanings(self.shown(width).iter().map(|(at, _)| &self.columns[*at]))
    }

    /// Returns the heading and the rows as lines of at most `width` columns.
    pub(super) fn lines(&self, width: usize) -> Vec<Text> {
        let shown = self.shown(width);
        let head = |at: usize| Some(Slot::Text(Text::styled(style::FAINT, self.head(at))));
        let mut lines = vec![self.line(&shown, width, head)];
        lines.extend(self.rows.iter().map(|row| self.line(&shown, width, |at| row.get(at).cloned())));
        lines
    }

    /// Returns the width of the widest cell of a column; `None` if all are empty.
    fn natural(&self, at: usize) -> Option<usize> {
        let widest = self.rows.iter().filter_map(|row| row.get(at)).map(Slot::width).max()?;
        (widest > 0).then(|| widest.max(Text::plain(self.head(at)).width()))
    }

    fn head(&self, at: usize) -> String {
        self.columns[at].short.to_lowercase()
    }

    /// Narrows the widest columns that may be cut until all fit; returns `false` if that is not possible.
    fn shrink(&self, shown: &mut [(usize, usize)], width: usize) -> bool {
        let total = |shown: &[(usize, usize)]| {
            shown.iter().map(|(_, width)| width).sum::<usize>() + GAP * shown.len().saturating_sub(1)
        };
        while total(shown) > width {
            let cuttable = |(at, now): &&mut (usize, usize)| self.columns[*at].least.is_some_and(|least| *now > least);
            match shown.iter_mut().filter(cuttable).max_by_key(|(_, now)| *now) {
                Some((_, now)) => *now -= 1,
                None => return false,
            }
        }
        true
    }

    /// Removes the columns of the highest rank and resets the widths of the others; returns `false` if none may be
    /// removed.
    fn leave_out(&self, shown: &mut Vec<(usize, usize)>) -> bool {
        let most = shown.iter().map(|(at, _)| self.columns[*at].rank).max().unwrap_or(0);
        if most == 0 {
            return false;
        }
        shown.retain(|(at, _)| self.columns[*at].rank != most);
        for (at, width) in shown {
            *width = self.natural(*at).unwrap_or(0);
        }
        true
    }

    fn line(&self, shown: &[(usize, usize)], width: usize, cell: impl Fn(usize) -> Option<Slot<'a>>) -> Text {
        let mut line = Text::new();
        for (nth, (at, wide)) in shown.iter().enumerate() {
            let fit = fit(self.columns[*at].kind);
            let cell = cell(*at).map_or_else(Text::new, |cell| cell.fitted(*wide, fit));
            line = line.then(" ".repeat(if nth == 0 { 0 } else { GAP })).join(cell);
        }
        line.cut(width, Fit::Words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<'static> {
        let mut table = Table::new(&[
            Column::id("run").cut_to(6),
            Column::number("calls"),
            Column::words("empty"),
            Column::words("note").rank(1).means("whether it was green"),
        ]);
        table.row(["night-eval-0001", "12", "", "green"].map(Text::plain).to_vec());
        table.row(["日本", "3", "", ""].map(Text::plain).to_vec());
        table
    }

    fn lines(width: usize) -> Vec<String> {
        let shown = |line: &Text| {
            let mut out = Vec::new();
            line.write(&mut out, false).unwrap();
            String::from_utf8(out).unwrap().trim_end().to_owned()
        };
        table().lines(width).iter().map(shown).collect()
    }

    #[test]
    fn columns_align_and_empty_ones_vanish() {
        assert_eq!(
            lines(80),
            ["run              calls  note", "night-eval-0001     12  green", "日本                 3",]
        );
    }

    #[test]
    fn the_long_are_cut_then_the_spare_left_out() {
        assert_eq!(lines(23)[1], "nigh…0001     12  green");
        assert_eq!(lines(18)[1], "night…-0001     12");
        let meanings = [23, 18].map(|width| table().meanings(width));
        assert_eq!(meanings, [Some("note: whether it was green.".to_owned()), None]);
        assert_eq!(lines(13)[1], "nig…01     12");
    }
}
