//! The front of an input, by which it is told how the input is read.

use super::dialect::Dialect;
use super::limits::FRONT;
use std::borrow::Cow;

/// The front of an input, as detection sees it.
pub(crate) struct Head<'h> {
    pub(super) text: Cow<'h, str>,
    /// It is the whole input.
    pub(crate) is_whole: bool,
    /// What the user's own words mean.
    pub(crate) dialect: &'h Dialect,
}

impl<'h> Head<'h> {
    /// Of the first [`FRONT`] bytes of an input, or all of it. A line that breaks off is left out.
    pub(crate) fn new(front: &'h [u8], dialect: &'h Dialect) -> Head<'h> {
        let is_whole = front.len() < FRONT;
        let end = if is_whole { front.len() } else { memchr::memrchr(b'\n', front).map_or(0, |newline| newline + 1) };
        // Of one line that is longer than all of it, the front is what there is to see.
        Head::new_of(if end == 0 { front } else { &front[..end] }, is_whole, dialect)
    }

    /// Of whole lines.
    pub(super) fn new_of(lines: &'h [u8], is_whole: bool, dialect: &'h Dialect) -> Head<'h> {
        Head { text: String::from_utf8_lossy(lines), is_whole, dialect }
    }

    /// All of it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Lines that hold something, without space around them.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().map(|line| line.trim_start_matches('\u{feff}').trim()).filter(|line| !line.is_empty())
    }
}
