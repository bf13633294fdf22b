//! Stretches of an input as decoders get them: whole lines, and where each stands.

use super::limits::LONGEST_LINE;
use super::position::{Given, Position, Spot};
use super::sink::Sink;
use std::borrow::Cow;

/// Whole lines of one input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'b> {
    pub(crate) bytes: &'b [u8],
    spots: Spots<'b>,
}

/// Where the lines of a block stand.
#[derive(Clone, Copy, Debug)]
enum Spots<'b> {
    /// One behind the other, from the line of this number.
    From(u32),
    /// As an envelope left them: one for each line, and what they refer to.
    Each(&'b [Spot], &'b [Given]),
}

impl<'b> Block<'b> {
    /// Lines as they stand in the input, the first of them the line of number `first`.
    pub(crate) fn plain(bytes: &'b [u8], first: u32) -> Block<'b> {
        Block { bytes, spots: Spots::From(first) }
    }

    /// Lines that were wrapped in something, and where each of them stands.
    pub(crate) fn unwrapped(bytes: &'b [u8], spots: &'b [Spot], given: &'b [Given]) -> Block<'b> {
        Block { bytes, spots: Spots::Each(spots, given) }
    }

    /// Where the line numbered `nth`, from 0, stands.
    #[inline]
    pub(crate) fn position(&self, nth: usize) -> Position<'b> {
        match self.spots {
            Spots::From(first) => Position::line(first.saturating_add(u32::try_from(nth).unwrap_or(u32::MAX))),
            Spots::Each(spots, given) => {
                let spot = spots.get(nth).or(spots.last()).copied().unwrap_or_default();
                Position { line: spot.line, record: spot.record, given: given.get(spot.given as usize) }
            }
        }
    }

    /// The text of the whole block: what is no UTF-8 is replaced.
    pub(crate) fn text(&self) -> Cow<'b, str> {
        simdutf8::basic::from_utf8(self.bytes).map_or_else(|_| String::from_utf8_lossy(self.bytes), Cow::Borrowed)
    }

    /// Hands on every line that holds something, without what ends it. Blank lines and overlong ones are accounted
    /// for here.
    #[inline]
    pub(crate) fn each_line(&self, sink: &mut Sink<'_>, mut take: impl FnMut(&mut Sink<'_>, &str, Position<'b>)) {
        let bytes = self.bytes;
        // Checked once a block; a block with a broken byte is checked line by line.
        let valid = simdutf8::basic::from_utf8(bytes).ok();
        let (mut start, mut nth) = (0, 0);
        for end in memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len())) {
            if end == bytes.len() && start == end {
                break;
            }
            let line = match valid {
                Some(text) => Cow::Borrowed(&text[start..end]),
                None => String::from_utf8_lossy(&bytes[start..end]),
            };
            let line = line.trim_ascii_end();
            let at = self.position(nth);
            if !line.starts_with('{') && is_blank(line) {
                sink.blank();
            } else if line.len() > LONGEST_LINE {
                sink.reject(&format!("longer than {} MiB", LONGEST_LINE >> 20), 0, line, at);
            } else {
                take(sink, line, at);
            }
            (start, nth) = (end + 1, nth + 1);
        }
        sink.newlines = Some((nth - usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))) as u64);
    }

    /// Hands on every stretch of lines that begins with one that `begins` and goes on to the next such line, with where
    /// it begins. Lines before the first such line are stretches of their own.
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

/// Whether there is nothing to read but what writers and crashes leave.
pub(crate) fn is_blank(line: &str) -> bool {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}')).is_empty()
}
