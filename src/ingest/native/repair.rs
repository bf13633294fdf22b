//! The tolerant path: what shippers, terminals and crashed writers do to a line of JSON.

use serde::de::IgnoredAny;
use std::borrow::Cow;

/// A part of a line.
pub(super) enum Piece {
    /// No JSON object at all.
    Noise,
    /// A whole JSON object, repaired where needed.
    Object(String),
    /// The start of an object that has no end, or one that no repair makes whole.
    Broken { column: u64, reason: String },
}

/// How many objects, whole or torn, are looked for in one line.
const MOST_PIECES: usize = 1024;
/// How often a torn line is read again, in its own length, in search of a whole object.
const REREAD: usize = 8;

/// Cuts a line into its objects.
pub(super) fn pieces(line: &str) -> Vec<Piece> {
    let clean = without_escapes(line);
    let text = clean.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\0'));
    if !text.starts_with('{') {
        // Words before an object are a prefix of some logger; its record formats know more of it.
        return vec![Piece::Noise];
    }
    let offset = line.len() - line.trim_start().len();
    split(&repair(text), offset as u64)
}

/// One object after another; where one is torn, the next start of an object is tried.
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
            Err(error) => {
                pieces.push(Piece::Broken { column: offset + (start + error.column()) as u64, reason: reason(&error) });
                // A torn record may have a whole one fused to it.
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

/// Where the next whole object of a torn text begins, as far as `budget` bytes of reading reach.
fn next_object(text: &str, budget: &mut usize) -> Option<usize> {
    for (before, _) in text[1..].match_indices("{\"") {
        match object_end(&text[before + 1..]) {
            Ok(_) => return Some(before + 1),
            Err(error) => *budget = budget.checked_sub(error.column())?,
        }
    }
    None
}

/// Where the first JSON value of `text` ends.
fn object_end(text: &str) -> Result<usize, serde_json::Error> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Err(error)) => Err(error),
        _ => Ok(values.byte_offset()),
    }
}

/// A parser's complaint, without its own position: ours is counted in the file.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let words = text.split(" at line ").next().unwrap_or(&text);
    if error.is_eof() { format!("cut off: {words}") } else { format!("not JSON: {words}") }
}

/// Terminals' colours and line clearing, with or without their ESC.
fn without_escapes(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut clean = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        clean.push_str(&rest[..at]);
        let tail = rest[at + 1..].strip_prefix('[').unwrap_or(&rest[at + 1..]);
        let end = tail.find(|c: char| c.is_ascii_alphabetic()).map_or(tail.len(), |end| end + 1);
        rest = &tail[end..];
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// Words that are no JSON outside strings, and halves of surrogate pairs inside them.
fn repair(text: &str) -> Cow<'_, str> {
    let suspicious = ["NaN", "Infinity", "\\ud", "\\uD", "\0"].iter().any(|word| text.contains(word));
    if !suspicious {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let step = if in_string {
            string_step(rest, first, &mut in_string, &mut out)
        } else {
            plain_step(rest, first, &mut in_string, &mut out)
        };
        rest = &rest[step..];
    }
    Cow::Owned(out)
}

fn plain_step(rest: &str, first: char, in_string: &mut bool, out: &mut String) -> usize {
    for word in ["-Infinity", "Infinity", "NaN"] {
        if rest.starts_with(word) {
            out.push_str("null");
            return word.len();
        }
    }
    *in_string = first == '"';
    if first != '\0' {
        out.push(first);
    }
    first.len_utf8()
}

fn string_step(rest: &str, first: char, in_string: &mut bool, out: &mut String) -> usize {
    match first {
        '\\' => {
            let length = escape_length(rest);
            match surrogate(rest) {
                Some(0xd800..=0xdbff) if matches!(rest.get(6..).and_then(surrogate), Some(0xdc00..=0xdfff)) => {
                    out.push_str(&rest[..12]);
                    12
                }
                Some(_) => {
                    out.push_str("\\ufffd");
                    6
                }
                None => {
                    out.push_str(&rest[..length]);
                    length
                }
            }
        }
        '"' => {
            *in_string = false;
            out.push('"');
            1
        }
        '\0' => 1,
        other => {
            out.push(other);
            other.len_utf8()
        }
    }
}

/// The length of the escape `rest` starts with: the backslash and the character after it.
fn escape_length(rest: &str) -> usize {
    rest[1..].chars().next().map_or(1, |next| 1 + next.len_utf8())
}

/// The half of a surrogate pair `rest` starts with, as `\uXXXX`.
fn surrogate(rest: &str) -> Option<u32> {
    let digits = rest.strip_prefix("\\u")?.get(..4)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    (0xd800..=0xdfff).contains(&value).then_some(value)
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
    fn what_terminals_and_encoders_add_is_taken_off() {
        assert_eq!(shape("\u{1b}[2K{\"a\":1}"), ["{\"a\":1}"]);
        assert_eq!(shape("\u{feff}{\"a\":1}"), ["{\"a\":1}"]);
        assert_eq!(shape("{\"a\":NaN,\"b\":-Infinity,\"c\":\"NaN\"}"), ["{\"a\":null,\"b\":null,\"c\":\"NaN\"}"]);
        assert_eq!(shape(r#"{"a":"\ud83d x"}"#), [r#"{"a":"\ufffd x"}"#]);
        assert_eq!(shape(r#"{"a":"\ud83d\ude00"}"#), [r#"{"a":"\ud83d\ude00"}"#]);
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
