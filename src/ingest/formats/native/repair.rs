//! Tolerant reading of JSON lines damaged by shippers, terminals or crashed writers.

use crate::ingest::ansi;
use crate::ingest::record::json::{Fault, Reader};

/// A part of a line.
pub(super) enum Piece {
    /// Not a JSON object.
    Noise,
    /// A complete JSON object, repaired if needed.
    Object(String),
    /// An object that is incomplete or malformed.
    Broken { column: u64, reason: String },
}

/// Maximum number of objects, whole or broken, read from one line.
const MOST_PIECES: usize = 1024;
/// Budget for rereading a broken line in search of a whole object, in multiples of its length.
const REREAD: usize = 8;

/// Splits a line into its objects.
pub(super) fn pieces(line: &str) -> Vec<Piece> {
    let clean = ansi::without(line);
    let text = clean.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if !text.starts_with('{') {
        // Words before an object are a logger's prefix; formats for such loggers read more of it.
        return vec![Piece::Noise];
    }
    let offset = line.len() - line.trim_start().len();
    split(text, offset as u64)
}

/// Splits consecutive objects; after a broken one, resumes at the next whole object.
fn split(text: &str, offset: u64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut budget = REREAD * text.len() + (1 << 16);
    while start < text.len() && pieces.len() < MOST_PIECES {
        let rest = &text[start..];
        if !rest.starts_with('{') {
            let next = rest.find('{').unwrap_or(rest.len());
            if !rest[..next].trim().is_empty() {
                pieces.push(Piece::Noise);
            }
            start += next;
            continue;
        }
        match object_end(rest) {
            Ok(end) => {
                pieces.push(Piece::Object(rest[..end].to_owned()));
                start += end;
            }
            Err(fault) => {
                let column = offset + (start + fault.at) as u64 + 1;
                pieces.push(Piece::Broken { column, reason: reason(fault) });
                // A broken record may be followed by a whole one without a line break.
                start += next_object(rest, &mut budget).unwrap_or(rest.len());
            }
        }
    }
    if start < text.len() && pieces.len() == MOST_PIECES {
        let reason = format!("more than {MOST_PIECES} objects in one line");
        pieces.push(Piece::Broken { column: offset + start as u64 + 1, reason });
    }
    pieces
}

/// Describes a fault for users.
pub(super) fn reason(fault: Fault) -> String {
    if fault.what.starts_with("cut off") { fault.what.to_owned() } else { format!("not JSON: {}", fault.what) }
}

/// Returns the start of the next whole object in a broken text, reading at most `budget` bytes.
fn next_object(text: &str, budget: &mut usize) -> Option<usize> {
    for (before, _) in text[1..].match_indices("{\"") {
        match object_end(&text[before + 1..]) {
            Ok(_) => return Some(before + 1),
            Err(fault) => *budget = budget.checked_sub(fault.at + 1)?,
        }
    }
    None
}

/// Returns the end of the JSON value at the start of `text`.
fn object_end(text: &str) -> Result<usize, Fault> {
    let mut reader = Reader::new(text);
    reader.skip()?;
    Ok(reader.offset())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> Vec<String> {
        pieces(line)
            .into_iter()
            .map(|piece| match piece {
                Piece::Noise => "noise".to_owned(),
                Piece::Object(text) => text,
                Piece::Broken { .. } => "broken".to_owned(),
            })
            .collect()
    }

    #[test]
    fn what_terminals_and_crashes_add_is_taken_off() {
        assert_eq!(shape("\u{1b}[2K{\"a\":1}"), ["{\"a\":1}"]);
        assert_eq!(shape("\u{feff}{\"a\":1}"), ["{\"a\":1}"]);
        assert_eq!(shape("{\"a\":1}\0\0"), ["{\"a\":1}"]);
    }

    #[test]
    fn several_objects_share_a_line() {
        assert_eq!(shape(r#"{"a":1}{"b":2}"#), [r#"{"a":1}"#, r#"{"b":2}"#]);
        assert_eq!(shape(r#"{"a":1,"p{"b":2}"#), ["broken", r#"{"b":2}"#]);
        assert_eq!(shape(r#"{"a":"#), ["broken"]);
        assert_eq!(shape("npm warn {deprecated}"), ["noise"]);
    }

    #[test]
    fn depth_is_no_danger() {
        assert_eq!(shape(&"{\"a\":".repeat(100_000)), ["broken"]);
    }
}
