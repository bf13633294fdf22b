//! A document of limited size that notes the table rows that did not fit.

use crate::render::words;

/// Blocks of Markdown, as far as they fit.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    /// Remaining room, in characters.
    room: usize,
}

impl Page {
    /// Creates an empty page for at most `room` characters.
    pub(super) fn new(room: usize) -> Page {
        Page { text: String::new(), room }
    }

    /// Adds a block and a blank line if it fits; returns whether it did.
    pub(super) fn block(&mut self, text: &str) -> bool {
        self.push(&format!("{text}\n\n"))
    }

    /// Adds a heading, a table with at least one row, and a note on the rows that did not fit. `columns` are the names,
    /// and whether a column contains numbers; `rest` is a note on rows left out before.
    pub(super) fn table(&mut self, heading: &str, columns: &[(&str, bool)], rows: &[Vec<String>], rest: &str) {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let rule: Vec<String> =
            columns.iter().map(|(_, is_number)| if *is_number { "---:" } else { "---" }.to_owned()).collect();
        let heading = if heading.is_empty() { String::new() } else { format!("{heading}\n\n") };
        let Some((first, more)) = rows.split_first() else { return };
        let start = format!("{heading}{}{}{}", line(&names), line(&rule), line(first));
        if !self.push(&start) {
            return;
        }
        let shown = 1 + more.iter().take_while(|row| self.push(&line(row))).count();
        self.push("\n");
        let cut = rows.len() - shown;
        let note = match (cut, rest) {
            (0, rest) => rest.to_owned(),
            (cut, "") => format!("{} more found no room.", words::number(cut as u64)),
            (cut, rest) => format!("{} more found no room; {rest}", words::number(cut as u64)),
        };
        if !note.is_empty() {
            self.block(&format!("_{note}_"));
        }
    }

    /// Returns the content of the page.
    pub(super) fn finish(self) -> String {
        self.text.trim_end().to_owned() + "\n"
    }

    fn push(&mut self, text: &str) -> bool {
        let size = text.chars().count();
        let fits = size <= self.room;
        if fits {
            self.room -= size;
            self.text.push_str(text);
        }
        fits
    }
}
