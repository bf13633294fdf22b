//! Tables that fit the page: columns as wide as their content, long cells cut, the least important columns left out.

use super::layout::{Fit, Text};
use super::rich::text;
use super::{bars, style};
use crate::model::Bar;
use crate::render::document::{self, Column, ColumnKind, Content, RichText, meanings, short_histogram};
use crate::report::Histogram;

/// Space between two columns of the table.
const GAP: usize = 2;
/// Preferred width of a bar, in columns of the terminal.
const BAR_WIDTH: usize = 40;
/// Minimum rank of columns that only a wide page has room for.
const WIDE_RANK: u8 = 5;
/// Width of a table on a wide page, in columns of the terminal.
const WIDE: usize = super::layout::WIDE - 2;

/// Rows below named columns.
#[derive(Debug)]
pub(super) struct Table<'a> {
    columns: Vec<Column>,
    rows: Vec<Vec<CellContent<'a>>>,
}

/// Content of a cell: text, or a drawing that adapts to the width of its column.
#[derive(Clone, Debug)]
enum CellContent<'a> {
    Text(Text),
    Histogram(&'a Histogram),
    Bar(Bar, u64),
}

impl CellContent<'_> {
    fn width(&self) -> usize {
        match self {
            CellContent::Text(text) => text.width(),
            CellContent::Histogram(histogram) => short_histogram(histogram, usize::MAX).len(),
            CellContent::Bar(..) => BAR_WIDTH,
        }
    }

    fn fitted(&self, width: usize, fit: Fit) -> Text {
        match self {
            CellContent::Text(text) => text.clone(),
            CellContent::Histogram(histogram) => Text::plain(short_histogram(histogram, width)),
            CellContent::Bar(bar, max) => {
                let parts =
                    [(bar.ok, '█', style::GREEN), (bar.failed, '▒', style::RED), (bar.open, '░', style::YELLOW)];
                bars::bar(&parts, *max, width)
            }
        }
        .fitted(width, fit)
    }
}

const fn fit_of(kind: ColumnKind) -> Fit {
    match kind {
        ColumnKind::Words | ColumnKind::Histogram | ColumnKind::Bar => Fit::Words,
        ColumnKind::Id => Fit::Id,
        ColumnKind::Number => Fit::Number,
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
            let repeats = |at: usize, rich: &RichText| {
                columns[at].blanks_repeats
                    && above.is_some_and(|above| matches!(&above[at].content, Content::RichText(one) if one == rich))
            };
            let content = |(at, cell): (usize, &document::Cell<'a>)| match &cell.content {
                Content::RichText(rich) if repeats(at, rich) => CellContent::Text(Text::new()),
                Content::RichText(rich) => CellContent::Text(text(rich)),
                Content::Histogram(histogram) => CellContent::Histogram(histogram),
                Content::Bar(bar, max) => CellContent::Bar(*bar, *max),
            };
            table.rows.push(row.cells.iter().enumerate().map(content).collect());
        }
        table
    }

    /// Adds a row, one cell per column.
    pub(super) fn row(&mut self, cells: Vec<Text>) {
        self.rows.push(cells.into_iter().map(CellContent::Text).collect());
    }

    /// Returns the columns that fit into `width`, with their widths. A column without content is left out.
    fn shown(&self, width: usize) -> Vec<(usize, usize)> {
        let mut shown: Vec<(usize, usize)> =
            (0..self.columns.len()).filter_map(|at| Some((at, self.natural_width(at)?))).collect();
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
        let head = |at: usize| Some(CellContent::Text(Text::styled(style::FAINT, self.head(at))));
        let mut lines = vec![self.line(&shown, width, head)];
        lines.extend(self.rows.iter().map(|row| self.line(&shown, width, |at| row.get(at).cloned())));
        lines
    }

    /// Returns the width of the widest cell of a column; `None` if all are empty.
    fn natural_width(&self, at: usize) -> Option<usize> {
        let widest = self.rows.iter().filter_map(|row| row.get(at)).map(CellContent::width).max()?;
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
            let cuttable =
                |(at, now): &&mut (usize, usize)| self.columns[*at].min_width.is_some_and(|least| *now > least);
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
        let max = shown.iter().map(|(at, _)| self.columns[*at].rank).max().unwrap_or(0);
        if max == 0 {
            return false;
        }
        shown.retain(|(at, _)| self.columns[*at].rank != max);
        for (at, width) in shown {
            *width = self.natural_width(*at).unwrap_or(0);
        }
        true
    }

    fn line(&self, shown: &[(usize, usize)], width: usize, cell: impl Fn(usize) -> Option<CellContent<'a>>) -> Text {
        let mut line = Text::new();
        for (nth, (at, wide)) in shown.iter().enumerate() {
            let fit = fit_of(self.columns[*at].kind);
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
            Column::id("run").min_width(6),
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
    fn columns_are_aligned_and_empty_ones_left_out() {
        assert_eq!(
            lines(80),
            ["run              calls  note", "night-eval-0001     12  green", "日本                 3",]
        );
    }

    #[test]
    fn long_cells_are_cut_then_unimportant_columns_left_out() {
        assert_eq!(lines(23)[1], "nigh…0001     12  green");
        assert_eq!(lines(18)[1], "night…-0001     12");
        let meanings = [23, 18].map(|width| table().meanings(width));
        assert_eq!(meanings, [Some("note: whether it was green.".to_owned()), None]);
        assert_eq!(lines(13)[1], "nig…01     12");
    }
}
