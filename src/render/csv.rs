//! Writes tables as CSV that is safe to open in a spreadsheet.

use crate::frames::{Cells, Frame};
use crate::model::Time;
use crate::untrusted::safe;
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes the table with a header line.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(frame: &Frame<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(frame.columns.iter().map(|(name, _)| *name))?;
    for row in 0..frame.rows {
        for (_, cells) in &frame.columns {
            csv.write_field(shown(cells, row))?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

/// Returns the text of a cell.
fn shown(cells: &Cells<'_>, row: usize) -> String {
    let shown = match cells {
        Cells::Text(cell) => cell(row).map(|text| escape_formula(&text).into_owned()),
        Cells::Int(cell) => cell(row).map(|n| n.to_string()),
        Cells::Time(cell) => cell(row).map(|us| Time(us).to_string()),
        Cells::Float(cell) => cell(row).map(|x| x.to_string()),
        Cells::Bool(cell) => cell(row).map(|value| value.to_string()),
    };
    shown.unwrap_or_default()
}

/// Prepends an apostrophe to text that a spreadsheet would execute as a formula.
fn escape_formula(text: &str) -> Cow<'_, str> {
    let text = safe(text);
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { Cow::Owned(format!("'{text}")) } else { text }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn formulas_and_quotes_are_escaped() {
        let texts = [Some("=1+1"), Some("a \"b\", c"), None];
        let numbers = [Some(1), None, Some(-2)];
        let columns = vec![
            ("t", Cells::Text(Box::new(|row| texts[row].map(Cow::Borrowed)))),
            ("n", Cells::Int(Box::new(|row| numbers[row]))),
        ];
        let frame = Frame { name: "f", rows: 3, columns };
        let mut out = Vec::new();
        render(&frame, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "t,n\n'=1+1,1\n\"a \"\"b\"\", c\",\n,-2\n");
    }
}
