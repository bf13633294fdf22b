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
pub fn render(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(frame.columns.iter().map(|(name, _)| *name))?;
    let rows = frame.columns.first().map_or(0, |(_, cells)| length(cells));
    for row in 0..rows {
        for (_, cells) in &frame.columns {
            csv.write_field(&*cell(cells, row))?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

fn length(cells: &Cells) -> usize {
    match cells {
        Cells::Text(list) => list.len(),
        Cells::Int(list) | Cells::Time(list) => list.len(),
        Cells::Float(list) => list.len(),
        Cells::Bool(list) => list.len(),
    }
}

fn cell(cells: &Cells, row: usize) -> Cow<'_, str> {
    let shown = match cells {
        Cells::Text(list) => return list[row].as_deref().map_or(Cow::Borrowed(""), escape_formula),
        Cells::Int(list) => list[row].map(|n| n.to_string()),
        Cells::Time(list) => list[row].map(|us| Time(us).to_string()),
        Cells::Float(list) => list[row].map(|x| x.to_string()),
        Cells::Bool(list) => list[row].map(|value| value.to_string()),
    };
    Cow::Owned(shown.unwrap_or_default())
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
        let texts = vec![Some("=1+1".to_owned()), Some("a \"b\", c".to_owned()), None];
        let frame = Frame {
            name: "f",
            columns: vec![("t", Cells::Text(texts)), ("n", Cells::Int(vec![Some(1), None, Some(-2)]))],
        };
        let mut out = Vec::new();
        render(&frame, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "t,n\n'=1+1,1\n\"a \"\"b\"\", c\",\n,-2\n");
    }
}
