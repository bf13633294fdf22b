//! Inputs that hold the same attempts as another input, in another format or without ids.

use super::{Attempt, AttemptTable};

impl AttemptTable {
    /// Declares that two inputs hold the same attempts. Each row of the input with fewer known fields takes the
    /// contents of its counterpart in the other, so that it counts as a repeated delivery.
    pub(crate) fn merge_copies(&mut self, first: u32, second: u32) {
        let (a, b) = (self.sorted_rows(first), self.sorted_rows(second));
        let (source, target) = if self.known_fields(&b) > self.known_fields(&a) { (b, a) } else { (a, b) };
        for (from, to) in source.into_iter().zip(target) {
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
        self.copies.insert(copy, self.original_file(original));
    }

    /// Returns whether two rows are deliveries of the same record: equal, and either distinguishable from other records
    /// or in two inputs that are copies of each other.
    pub(crate) fn is_same_record(&self, a: &Attempt, b: &Attempt) -> bool {
        (a.identity, a.sent, a.number) == (b.identity, b.sent, b.number)
            && (a.identified() || (a.file != b.file && self.original_file(a.file) == self.original_file(b.file)))
    }

    /// Returns whether a repeated delivery of the record of `row` could be recognized.
    pub(crate) fn may_be_repeated(&self, row: &Attempt) -> bool {
        row.identified() || !self.copies.is_empty()
    }

    /// Returns the input of which `file` is a copy, or `file` itself.
    fn original_file(&self, file: u32) -> u32 {
        self.copies.get(&file).copied().unwrap_or(file)
    }

    /// Returns the rows of an input, in an order that is the same in every input with these attempts.
    fn sorted_rows(&self, file: u32) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.rows.len()).filter(|row| self.rows[*row].file == file).collect();
        rows.sort_by_key(|row| {
            let row = &self.rows[*row];
            (row.sent, row.duration, row.status, row.number, row.line)
        });
        rows
    }

    /// Returns how many names and error texts the rows have, over all rows.
    fn known_fields(&self, rows: &[usize]) -> usize {
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
