//! Start of an input, from which the format is detected.

use super::dialect::Dialect;
use super::limits::DETECTION_BYTES;
use super::record::Members;
use std::cell::OnceCell;

/// Start of an input, split and parsed once for the detection of all formats.
pub(crate) struct Head<'h> {
    text: &'h str,
    /// Whether it is the whole input.
    pub(crate) is_whole: bool,
    /// User-defined vocabulary.
    pub(crate) dialect: &'h Dialect,
    lines: Vec<&'h str>,
    objects: OnceCell<Vec<Option<Members<'h>>>>,
}

/// Returns the part of `front` that detection looks at. `front` is the first [`DETECTION_BYTES`] bytes of an input, or
/// all of it. A line cut off at its end is left out, unless it is the only line.
pub(super) fn whole_lines(front: &[u8]) -> &[u8] {
    let end = if front.len() < DETECTION_BYTES { None } else { memchr::memrchr(b'\n', front) };
    end.map_or(front, |newline| &front[..=newline])
}

impl<'h> Head<'h> {
    /// Creates a head of whole lines.
    pub(crate) fn new(text: &'h str, is_whole: bool, dialect: &'h Dialect) -> Head<'h> {
        let lines = text.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
        let lines = lines.filter(|line| !line.is_empty()).collect();
        Head { text, is_whole, dialect, lines, objects: OnceCell::new() }
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> &'h str {
        self.text
    }

    /// Whether `text` occurs anywhere in it.
    pub(crate) fn contains(&self, text: &str) -> bool {
        memchr::memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// Returns the non-empty lines, trimmed.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'h str> {
        self.lines.iter().copied()
    }

    /// Returns the same lines, each with its members if it is a JSON object.
    pub(in crate::ingest) fn parsed(&self) -> impl Iterator<Item = (&'h str, Option<&Members<'h>>)> {
        let parse = || self.lines().map(|line| Members::of(line).ok()).collect();
        self.lines().zip(self.objects.get_or_init(parse)).map(|(line, members)| (line, members.as_ref()))
    }

    /// Returns the members of the lines that are JSON objects.
    pub(in crate::ingest) fn objects(&self) -> impl Iterator<Item = &Members<'h>> {
        self.parsed().filter_map(|(_, members)| members)
    }
}
