//! Finds the value that contains a match, and its key, in the bytes around it without parsing the line.

use crate::ingest::{IdField, Mapping, id_field, ids_of};
use std::borrow::Cow;

/// Maximum number of bytes examined in either direction; no id is longer.
const REACH: usize = 512;

/// A value of a record, as far as it is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token<'l> {
    /// The value, unescaped.
    pub(super) value: Cow<'l, str>,
    /// What the value names, if its key is that of an id.
    pub(super) field: Option<IdField>,
}

/// Returns the value around `start..end` of a line. `own` holds the user's field names.
pub(super) fn around<'l>(line: &'l [u8], start: usize, end: usize, own: &Mapping) -> Token<'l> {
    let near = start.saturating_sub(REACH);
    let from = line[near..start].iter().rposition(|byte| ends_a_value(*byte)).map_or(near, |at| near + at + 1);
    // An unquoted number follows its colon, which follows the closing quote of the key.
    let is_bare = line[from..start].first() == Some(&b':');
    let is_quoted = !is_bare && from > 0 && line[from - 1] == b'"';
    let from = from + usize::from(is_bare);
    let far = (end + REACH).min(line.len());
    let to = end + stretch(&line[end..far], is_quoted);
    let value = unescaped(&line[from..to]);
    let field = key_before(line, from).and_then(|key| own_field(line, key, &value, own).or_else(|| id_field(key)));
    Token { value, field }
}

/// Returns what `key` names if it is one of the user's own. The line is parsed to check that it is at the configured
/// path.
fn own_field(line: &[u8], key: &str, value: &str, own: &Mapping) -> Option<IdField> {
    let field = own.id_field_anywhere(key)?;
    let is_there = |(of, id): &(IdField, String)| *of == field && id == value;
    ids_of(&String::from_utf8_lossy(line), own).iter().any(is_there).then_some(field)
}

/// Whether a byte cannot be part of an id in a log: quotes and separators.
fn ends_a_value(byte: u8) -> bool {
    matches!(byte, b'"' | b',' | b'{' | b'}' | b'[' | b']' | b'(' | b')') || byte.is_ascii_whitespace()
}

/// Number of bytes of `rest` that belong to the value.
fn stretch(rest: &[u8], is_quoted: bool) -> usize {
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        match byte {
            // `\"` ends a value inside a nested JSON string.
            b'"' => return at,
            b'\\' if rest.get(at + 1) == Some(&b'"') => return at,
            b'\\' => at += 1,
            byte if !is_quoted && ends_a_value(byte) => return at,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

fn unescaped(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if !text.contains('\\') {
        return text;
    }
    // A value inside a nested JSON string is escaped twice.
    let read = |text: &str| serde_json::from_str::<String>(&format!("\"{text}\"")).ok();
    let once = read(&text);
    let twice = once.as_deref().filter(|text| text.contains('\\')).and_then(read);
    twice.or(once).map_or(text, Cow::Owned)
}

/// Returns the key of the value that begins at `from`.
fn key_before(line: &[u8], from: usize) -> Option<&str> {
    let before = line[from.saturating_sub(REACH)..from].trim_ascii_end();
    let before = before.strip_suffix(b"\"").map_or(before, |rest| rest.strip_suffix(b"\\").unwrap_or(rest));
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b":").or_else(|| before.strip_suffix(b",")).unwrap_or(before).trim_ascii_end();
    let before = before.strip_suffix(b"\"")?;
    let before = before.strip_suffix(b"\\").unwrap_or(before);
    let start = memchr::memrchr(b'"', before)? + 1;
    std::str::from_utf8(&before[start..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token<'l>(line: &'l str, hit: &str) -> Token<'l> {
        let start = line.find(hit).unwrap_or_default();
        around(line.as_bytes(), start, start + hit.len(), &Mapping::NONE)
    }

    #[test]
    fn the_value_and_its_key() {
        for (line, hit, value, field) in [
            (r#"{"request_id":"req_1","a":1}"#, "req_1", "req_1", Some(IdField::Request)),
            (r#"{"request_id": "req_12"}"#, "req_1", "req_12", Some(IdField::Request)),
            (r#"{"run_id":12345}"#, "123", "12345", Some(IdField::Run)),
            (r#"{"call_id":"run-1-c1"}"#, "c1", "run-1-c1", Some(IdField::Call)),
            (r#"{"body":"{\"request_id\":\"req_1\"}"}"#, "req_1", "req_1", Some(IdField::Request)),
            (r#"{"headers":[["request-id","req_1"]]}"#, "req_1", "req_1", Some(IdField::Request)),
            (r#"{"message":"failed (request id: req_1)"}"#, "req_1", "req_1", None),
            (r#"{"call_id":"a\/b"}"#, r"a\/b", "a/b", Some(IdField::Call)),
            (r#"{"call_id":"two words"}"#, "two", "two words", Some(IdField::Call)),
        ] {
            let token = token(line, hit);
            assert_eq!((&*token.value, token.field), (value, field), "{line}");
        }
    }
}
