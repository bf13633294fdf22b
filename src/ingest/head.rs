//! The front of an input, by which it is told how the input is read.

use super::dialect::Dialect;
use super::limits::FRONT;
use super::record::Members;
use std::cell::OnceCell;

/// The front of an input, as detection sees it. It is cut and parsed once for all formats.
pub(crate) struct Head<'h> {
    text: &'h str,
    /// It is the whole input.
    pub(crate) is_whole: bool,
    /// What the user's own words mean.
    pub(crate) dialect: &'h Dialect,
    lines: Vec<&'h str>,
    objects: OnceCell<Vec<Option<Members<'h>>>>,
}

/// The part of the first [`FRONT`] bytes of an input, or of all of it, that is looked at: a line that breaks off is left
/// out. Of one line that is longer than all of it, the front is what there is to see.
pub(super) fn whole_lines(front: &[u8]) -> &[u8] {
    let end = if front.len() < FRONT { None } else { memchr::memrchr(b'\n', front) };
    end.map_or(front, |newline| &front[..=newline])
}

impl<'h> Head<'h> {
    /// Of whole lines.
    pub(crate) fn new(text: &'h str, is_whole: bool, dialect: &'h Dialect) -> Head<'h> {
        let lines = text.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
        let lines = lines.filter(|line| !line.is_empty()).collect();
        Head { text, is_whole, dialect, lines, objects: OnceCell::new() }
    }

    /// All of it.
    pub(crate) fn text(&self) -> &'h str {
        self.text
    }

    /// Whether these bytes stand anywhere in it.
    pub(crate) fn contains(&self, text: &str) -> bool {
        memchr::memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// Lines that hold something, without space around them.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'h str> {
        self.lines.iter().copied()
    }

    /// The same lines, each with its members where it is a JSON object.
    pub(in crate::ingest) fn parsed(&self) -> impl Iterator<Item = (&'h str, Option<&Members<'h>>)> {
        let parse = || self.lines().map(|line| Members::of(line).ok()).collect();
        self.lines().zip(self.objects.get_or_init(parse)).map(|(line, members)| (line, members.as_ref()))
    }

    /// The lines that are JSON objects.
    pub(in crate::ingest) fn objects(&self) -> impl Iterator<Item = &Members<'h>> {
        self.parsed().filter_map(|(_, members)| members)
    }
}
