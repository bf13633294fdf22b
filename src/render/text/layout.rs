//! Styled text measured in terminal columns: wrapping, cutting and padding.

use crate::render::words::UNITS;
use crate::untrusted;
use anstyle::Style;
use std::io::{self, Write};
use unicode_width::UnicodeWidthChar;

/// Minimum width of a wide page, in columns.
pub(super) const WIDE: usize = 100;

/// A non-breaking space, as inserted by [`crate::render::words::nonbreaking`]; written as an ordinary space.
const NON_BREAKING_SPACE: char = '\u{a0}';

/// Text with styles. Everything added to it is made safe, whatever its origin.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    spans: Vec<(Style, String)>,
}

/// How text is aligned in a column, and where it is cut if too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Left-aligned; cut at the end.
    Words,
    /// Left-aligned; cut in the middle, since ids and paths differ at their ends.
    Id,
    /// Right-aligned; cut at the end.
    Number,
}

#[derive(Clone, Copy)]
struct Cell {
    style: Style,
    c: char,
    width: usize,
}

impl Text {
    pub(super) fn new() -> Text {
        Text::default()
    }

    pub(super) fn plain(text: impl AsRef<str>) -> Text {
        Text::new().and(Style::new(), text)
    }

    pub(super) fn styled(style: Style, text: impl AsRef<str>) -> Text {
        Text::new().and(style, text)
    }

    /// Appends `text` with a style.
    pub(super) fn and(mut self, style: Style, text: impl AsRef<str>) -> Text {
        let safe = untrusted::safe(text.as_ref());
        match self.spans.last_mut() {
            _ if safe.is_empty() => {}
            Some((last, text)) if *last == style => text.push_str(&safe),
            _ => self.spans.push((style, safe.into_owned())),
        }
        self
    }

    /// Appends `text` without a style.
    pub(super) fn then(self, text: impl AsRef<str>) -> Text {
        self.and(Style::new(), text)
    }

    /// Appends `other`.
    pub(super) fn join(mut self, other: Text) -> Text {
        self.spans.extend(other.spans);
        self
    }

    /// Removes spaces at the end.
    pub(super) fn trimmed(mut self) -> Text {
        while let Some((_, text)) = self.spans.last_mut() {
            text.truncate(text.trim_end_matches(' ').len());
            if !text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }

    /// Returns its width in columns.
    pub(super) fn width(&self) -> usize {
        self.spans.iter().flat_map(|(_, text)| text.chars()).map(columns).sum()
    }

    /// Cuts it to at most `width` columns, with an ellipsis where text is missing.
    pub(super) fn cut(self, width: usize, fit: Fit) -> Text {
        if self.width() <= width {
            return self;
        }
        let cells = self.cells();
        let Some(room) = width.checked_sub(1) else { return Text::new() };
        let tail_room = if fit == Fit::Id { room / 2 } else { 0 };
        let head = prefix(cells.iter(), room - tail_room);
        let tail = prefix(cells.iter().rev(), tail_room);
        let ellipsis = [Cell { style: cells.get(head).map_or(Style::new(), |cell| cell.style), c: '…', width: 1 }];
        Text::from_cells(cells[..head].iter().chain(&ellipsis).chain(&cells[cells.len() - tail..]))
    }

    /// Cuts or pads it to exactly `width` columns.
    pub(super) fn fitted(self, width: usize, fit: Fit) -> Text {
        let text = self.cut(width, fit);
        let space = " ".repeat(width.saturating_sub(text.width()));
        match fit {
            Fit::Number => Text::plain(space).join(text),
            Fit::Words | Fit::Id => text.then(space),
        }
    }

    /// Breaks it into lines of at most `width` columns, between words if possible.
    pub(super) fn wrap(&self, width: usize) -> Vec<Text> {
        let cells = self.cells();
        let mut lines = Vec::new();
        let mut rest = &cells[..];
        loop {
            rest = &rest[rest.iter().take_while(|cell| cell.c == ' ').count()..];
            if rest.is_empty() {
                return lines;
            }
            let end = line_end(rest, width.max(2));
            let shown = end - rest[..end].iter().rev().take_while(|cell| cell.c == ' ').count();
            lines.push(Text::from_cells(&rest[..shown]));
            rest = &rest[end..];
        }
    }

    /// Writes it, with styles if `color`.
    pub(super) fn write(&self, out: &mut dyn Write, color: bool) -> io::Result<()> {
        for (style, text) in &self.spans {
            let text = text.replace(NON_BREAKING_SPACE, " ");
            if color && *style != Style::new() {
                write!(out, "{style}{text}{style:#}")?;
            } else {
                out.write_all(text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn cells(&self) -> Vec<Cell> {
        let of_span = |(style, text): &(Style, String)| {
            let style = *style;
            text.chars().map(move |c| Cell { style, c, width: columns(c) }).collect::<Vec<_>>()
        };
        self.spans.iter().flat_map(of_span).collect()
    }

    fn from_cells<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Text {
        let mut spans: Vec<(Style, String)> = Vec::new();
        for cell in cells {
            match spans.last_mut() {
                Some((style, text)) if *style == cell.style => text.push(cell.c),
                _ => spans.push((cell.style, cell.c.to_string())),
            }
        }
        Text { spans }
    }
}

fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Returns how many cells fit into `width`, including zero-width ones after the last.
fn prefix<'a>(cells: impl Iterator<Item = &'a Cell>, width: usize) -> usize {
    let mut used = 0;
    cells
        .take_while(|cell| {
            used += cell.width;
            used <= width
        })
        .count()
}

/// Returns the end of the first line of `cells`: after the last word that fits, or inside a word longer than a line.
fn line_end(cells: &[Cell], width: usize) -> usize {
    let fits = prefix(cells.iter(), width);
    if fits == cells.len() {
        return fits;
    }
    (1..=fits).rev().find(|&at| breaks_before(cells, at)).unwrap_or(fits).max(1)
}

fn breaks_before(cells: &[Cell], at: usize) -> bool {
    let (before, here) = (cells[at - 1], cells[at]);
    if here.c == ' ' {
        return !(before.c.is_ascii_digit() && unit_follows(&cells[at + 1..]));
    }
    // Scripts with wide characters use no spaces.
    here.width == 2 && before.c != ' ' || before.width == 2 && here.c.is_alphanumeric()
}

fn unit_follows(cells: &[Cell]) -> bool {
    let word: String = cells.iter().take(4).map_while(|cell| cell.c.is_ascii_alphabetic().then_some(cell.c)).collect();
    UNITS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &Text) -> String {
        let mut out = Vec::new();
        text.write(&mut out, false).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn wrapped(text: &str, width: usize) -> Vec<String> {
        Text::plain(text).wrap(width).iter().map(shown).collect()
    }

    #[test]
    fn lines_break_between_words_and_keep_units() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("waited 12 min 5 s", 9), ["waited", "12 min", "5 s"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("日本語の文", 5), ["日本", "語の", "文"]);
        assert_eq!(wrapped("seen 1\u{a0}of\u{a0}4", 8), ["seen", "1 of 4"]);
        assert_eq!(wrapped("", 5), [""; 0]);
        assert_eq!(wrapped("   ", 5), [""; 0]);
    }

    #[test]
    fn cuts_show_that_something_is_missing() {
        let cut = |text: &str, width, fit| shown(&Text::plain(text).cut(width, fit));
        assert_eq!(cut("night-eval-0001", 9, Fit::Id), "nigh…0001");
        assert_eq!(cut("night-eval-0001", 9, Fit::Words), "night-ev…");
        assert_eq!(cut("日本語日本語", 6, Fit::Id), "日…語");
        assert_eq!(cut("short", 5, Fit::Id), "short");
        assert_eq!(cut("short", 0, Fit::Id), "");
    }

    #[test]
    fn padding_follows_the_kind() {
        assert_eq!(shown(&Text::plain("12").fitted(4, Fit::Number)), "  12");
        assert_eq!(shown(&Text::plain("ab").fitted(4, Fit::Words)), "ab  ");
        assert_eq!(shown(&Text::plain("日本語").fitted(4, Fit::Words)), "日… ");
    }

    #[test]
    fn styles_are_written_only_in_colour() {
        let bold = Text::styled(Style::new().bold(), "x").then("y");
        let mut out = Vec::new();
        bold.write(&mut out, true).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\x1b[1mx\x1b[0my");
        assert_eq!(shown(&bold), "xy");
    }
}
