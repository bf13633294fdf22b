//! Blocks of whole lines as decoders receive them, with the position of each line in the input.

use super::limits::LONGEST_LINE;
use super::position::{Defaults, OriginalPosition, Position};
use super::sink::Sink;
use std::borrow::Cow;

/// Whole lines of one input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'b> {
    pub(crate) bytes: &'b [u8],
    positions: Positions<'b>,
}

/// Positions of the lines of a block.
#[derive(Clone, Copy, Debug)]
enum Positions<'b> {
    /// The lines are consecutive; the first has this number.
    Consecutive(u32),
    /// The position of each line that was taken out of an envelope, and the defaults they refer to.
    Each(&'b [OriginalPosition], &'b [Defaults]),
}

impl<'b> Block<'b> {
    /// Creates a block of lines as they are in the input; `first` is the number of the first one.
    pub(crate) fn plain(bytes: &'b [u8], first: u32) -> Block<'b> {
        Block { bytes, positions: Positions::Consecutive(first) }
    }

    /// Creates a block of lines that were taken out of an envelope, with the position of each.
    pub(crate) fn unwrapped(bytes: &'b [u8], positions: &'b [OriginalPosition], defaults: &'b [Defaults]) -> Block<'b> {
        Block { bytes, positions: Positions::Each(positions, defaults) }
    }

    /// Returns the position of line `nth` of the block, counted from 0.
    #[inline]
    pub(crate) fn position(&self, nth: usize) -> Position<'b> {
        match self.positions {
            Positions::Consecutive(first) => {
                Position::line(first.saturating_add(u32::try_from(nth).unwrap_or(u32::MAX)))
            }
            Positions::Each(positions, defaults) => {
                let position = positions.get(nth).or(positions.last()).copied().unwrap_or_default();
                Position {
                    line: position.line,
                    record: position.record,
                    defaults: defaults.get(position.defaults as usize),
                }
            }
        }
    }

    /// Returns the text of the whole block; invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> Cow<'b, str> {
        simdutf8::basic::from_utf8(self.bytes).map_or_else(|_| String::from_utf8_lossy(self.bytes), Cow::Borrowed)
    }

    /// Calls `take` with every line that is neither blank nor too long, without its line ending. Blank lines and
    /// overlong ones are counted here.
    #[inline]
    pub(crate) fn each_line(&self, sink: &mut Sink<'_>, mut take: impl FnMut(&mut Sink<'_>, &str, Position<'b>)) {
        let mut lines = self.lines();
        while let Some(at) = lines.position() {
            if let Some(line) = lines.read(sink, at) {
                take(sink, &line, at);
            }
        }
        sink.newlines = Some(lines.newlines());
    }

    /// Returns a cursor at the first line.
    pub(crate) fn lines(&self) -> LineCursor<'b> {
        // Validated once per block; a block with invalid UTF-8 is decoded line by line.
        LineCursor { block: *self, text: simdutf8::basic::from_utf8(self.bytes).ok(), start: 0, nth: 0 }
    }

    /// Calls `take` with every stanza and its position. A stanza starts with a line for which `begins` is true and
    /// extends to the next such line. Each line before the first such line is a stanza of its own.
    pub(crate) fn each_stanza(
        &self,
        begins: fn(&str) -> bool,
        sink: &mut Sink<'_>,
        mut take: impl FnMut(&mut Sink<'_>, &str, Position<'b>),
    ) {
        let text = self.text();
        let mut open: Option<(usize, usize)> = None;
        let mut offset = 0;
        for (nth, line) in text.split_inclusive('\n').enumerate() {
            let start = offset;
            offset += line.len();
            if begins(line.trim_end()) {
                if let Some((from, first)) = open.replace((start, nth)) {
                    self.take_stanza(&text[from..start], first, sink, &mut take);
                }
            } else if open.is_none() {
                self.take_stanza(line, nth, sink, &mut take);
            }
        }
        if let Some((from, first)) = open {
            self.take_stanza(&text[from..], first, sink, &mut take);
        }
    }

    fn take_stanza(
        &self,
        text: &str,
        first: usize,
        sink: &mut Sink<'_>,
        take: &mut impl FnMut(&mut Sink<'_>, &str, Position<'b>),
    ) {
        let text = text.trim_ascii_end();
        let at = self.position(first);
        if is_blank(text) {
            sink.blank();
        } else if text.len() > LONGEST_LINE {
            sink.reject(&format!("longer than {} MiB", LONGEST_LINE >> 20), 0, text, at);
        } else {
            take(sink, text, at);
        }
    }
}

/// Cursor at the start of a line of a block, or at the block's end.
pub(crate) struct LineCursor<'b> {
    block: Block<'b>,
    /// The block, if it is valid UTF-8.
    text: Option<&'b str>,
    /// Offset of the line.
    start: usize,
    /// Number of lines before it.
    nth: usize,
}

impl<'b> LineCursor<'b> {
    /// Returns the position of the line; `None` at the end.
    #[inline]
    pub(crate) fn position(&self) -> Option<Position<'b>> {
        (self.start < self.block.bytes.len()).then(|| self.block.position(self.nth))
    }

    /// Returns the block from the line on, if it is valid UTF-8.
    #[inline]
    pub(crate) fn rest(&self) -> Option<&'b str> {
        self.text?.get(self.start..)
    }

    /// Moves behind the line, whose length without its ending is `length`.
    #[inline]
    pub(crate) fn skip(&mut self, length: usize) {
        let ending = self.block.bytes.get(self.start + length..).unwrap_or_default();
        self.start += length + 1 + usize::from(ending.starts_with(b"\r\n"));
        self.nth += 1;
    }

    /// Moves behind the line, which is at `at`, and returns it without its ending. One that is blank or too long is
    /// counted instead.
    pub(crate) fn read(&mut self, sink: &mut Sink<'_>, at: Position<'b>) -> Option<Cow<'b, str>> {
        let (bytes, start) = (self.block.bytes, self.start);
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        (self.start, self.nth) = (end + 1, self.nth + 1);
        let line = match self.text {
            Some(text) => Cow::Borrowed(text[start..end].trim_ascii_end()),
            None => match String::from_utf8_lossy(&bytes[start..end]) {
                Cow::Borrowed(line) => Cow::Borrowed(line.trim_ascii_end()),
                Cow::Owned(line) => Cow::Owned(line.trim_ascii_end().to_owned()),
            },
        };
        if !line.starts_with('{') && is_blank(&line) {
            sink.blank();
        } else if line.len() > LONGEST_LINE {
            sink.reject(&format!("longer than {} MiB", LONGEST_LINE >> 20), 0, &line, at);
        } else {
            return Some(line);
        }
        None
    }

    /// Returns the number of line ends, once the cursor is at the end.
    pub(crate) fn newlines(&self) -> u64 {
        let bytes = self.block.bytes;
        (self.nth - usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))) as u64
    }
}

/// Whether a line consists only of white space, NULs and byte order marks.
pub(crate) fn is_blank(line: &str) -> bool {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}')).is_empty()
}
