//! Removal of terminal escape sequences and NUL bytes from lines.

use std::borrow::Cow;

/// Returns `line` without terminal escape sequences such as colours, and without the NULs that a crash leaves in a file
/// being written.
pub(in crate::ingest) fn without(line: &str) -> Cow<'_, str> {
    if !line.contains(['\u{1b}', '\0']) {
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
    Cow::Owned(clean.replace('\0', ""))
}
