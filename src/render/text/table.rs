//! Tables that fit: columns as wide as their content, the long ones cut, the least important ones left out.

use super::layout::{Fit, Text};
use super::style;

/// Columns between two columns.
const GAP: usize = 2;

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    head: &'static str,
    fit: Fit,
    /// The width it may be cut to; never cut when `None`.
    least: Option<usize>,
    /// Left out where there is no room: the highest first, 0 never.
    spare: u8,
}

impl Column {
    pub(super) const fn new(head: &'static str, fit: Fit) -> Column {
        Column { head, fit, least: None, spare: 0 }
    }

    /// May be cut to `least` columns.
    pub(super) const fn cut_to(self, least: usize) -> Column {
        Column { least: Some(least), ..self }
    }

    /// May be left out, before those of a lower `rank`.
    pub(super) const fn spare(self, rank: u8) -> Column {
        Column { spare: rank, ..self }
    }
}

/// Rows under named columns.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Text>>,
}

impl Table {
    pub(super) fn new(columns: &[Column]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// A row, one cell for each column.
    pub(super) fn row(&mut self, cells: Vec<Text>) {
        self.rows.push(cells);
    }

    /// The head and the rows as lines of at most `width` columns. A column without content is left out.
    pub(super) fn lines(&self, width: usize) -> Vec<Text> {
        let mut shown: Vec<(usize, usize)> =
            (0..self.columns.len()).filter_map(|at| Some((at, self.natural(at)?))).collect();
        while !self.shrink(&mut shown, width) && self.leave_out(&mut shown) {}
        let head = |at: usize| Text::styled(style::FAINT, self.columns[at].head);
        let mut lines = vec![self.line(&shown, width, head)];
        lines.extend(
            self.rows.iter().map(|row| self.line(&shown, width, |at| row.get(at).cloned().unwrap_or_default())),
        );
        lines
    }

    /// The widest cell of a column; `None` when all are empty.
    fn natural(&self, at: usize) -> Option<usize> {
        let widest = self.rows.iter().filter_map(|row| row.get(at)).map(Text::width).max()?;
        (widest > 0).then(|| widest.max(Text::plain(self.columns[at].head).width()))
    }

    /// Cuts the widest of the columns that may be cut until all fit; `false` when they cannot.
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

    /// Takes out the most dispensable column, and gives the others their widths back.
    fn leave_out(&self, shown: &mut Vec<(usize, usize)>) -> bool {
        let most = shown.iter().map(|(at, _)| self.columns[*at].spare).max().unwrap_or(0);
        if most == 0 {
            return false;
        }
        shown.retain(|(at, _)| self.columns[*at].spare != most);
        for (at, width) in shown {
            *width = self.natural(*at).unwrap_or(0);
        }
        true
    }

    fn line(&self, shown: &[(usize, usize)], width: usize, cell: impl Fn(usize) -> Text) -> Text {
        let mut line = Text::new();
        for (nth, (at, wide)) in shown.iter().enumerate() {
            let fit = self.columns[*at].fit;
            line = line.then(" ".repeat(if nth == 0 { 0 } else { GAP })).join(cell(*at).fitted(*wide, fit));
        }
        line.cut(width, Fit::Words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[
            Column::new("run", Fit::Id).cut_to(6),
            Column::new("calls", Fit::Number),
            Column::new("empty", Fit::Words),
            Column::new("note", Fit::Words).spare(1),
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
        assert_eq!(lines(13)[1], "nig…01     12");
    }
}
