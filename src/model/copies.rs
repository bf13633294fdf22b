//! Inputs that hold the same attempts as another input, in another format or without ids.

use super::{Attempt, AttemptTable};

impl AttemptTable {
    /// Declares that two inputs hold the same attempts: each row of the one that says less becomes a second delivery of a
    /// row of the other.
    pub(crate) fn unite(&mut self, first: u32, second: u32) {
        let (mine, theirs) = (self.rows_of(first), self.rows_of(second));
        let (from, to) = if self.said(&theirs) > self.said(&mine) { (theirs, mine) } else { (mine, theirs) };
        for (from, to) in from.into_iter().zip(to) {
            let Attempt { file, line, .. } = self.rows[to];
            self.rows[to] = Attempt { file, line, ..self.rows[from] };
            if !self.usage.is_empty() {
                self.usage[to] = self.usage[from];
            }
        }
        self.declare_copy(first, second);
    }

    /// Declares that each row of an input is a second delivery of the equal row of another.
    pub(crate) fn declare_copy(&mut self, original: u32, copy: u32) {
        self.copies.insert(copy, self.origin_of_copy(original));
    }

    /// Returns whether two rows are deliveries of the same record.
    pub(crate) fn is_same_record(&self, a: &Attempt, b: &Attempt) -> bool {
        (a.identity, a.sent, a.number) == (b.identity, b.sent, b.number)
            && (a.identified() || (a.file != b.file && self.origin_of_copy(a.file) == self.origin_of_copy(b.file)))
    }

    /// Returns whether a record like `row` may have been delivered before.
    pub(crate) fn may_be_repeated(&self, row: &Attempt) -> bool {
        row.identified() || !self.copies.is_empty()
    }

    fn origin_of_copy(&self, file: u32) -> u32 {
        self.copies.get(&file).copied().unwrap_or(file)
    }

    /// Returns the rows of an input, in an order that is the same in every input with these attempts.
    fn rows_of(&self, file: u32) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.rows.len()).filter(|row| self.rows[*row].file == file).collect();
        rows.sort_by_key(|row| {
            let row = &self.rows[*row];
            (row.sent, row.duration, row.status, row.number, row.line)
        });
        rows
    }

    /// Returns how much the rows of an input say beyond time, duration and status.
    fn said(&self, rows: &[usize]) -> usize {
        let of_row = |row: &usize| {
            let row = &self.rows[*row];
            let names = self.origin(row).names();
            let texts = self.detail(row).map(|detail| [detail.error_type, detail.error_code, detail.message]);
            let is_known = |symbol: &&super::Symbol| symbol.is_some();
            names.iter().filter(is_known).count() + texts.iter().flatten().filter(is_known).count()
        };
        rows.iter().map(of_row).sum()
    }
}
