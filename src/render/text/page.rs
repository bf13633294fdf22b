//! The page that sections are written to, with its width, times and colours.

use super::layout::{Fit, Text, WIDE};
use super::style;
use super::{TextOptions, table::Table};
use crate::model::Time;
use crate::render::document::Clock;
use crate::report::Window;
use std::io::{self, Write};

/// Minimum width of a page, in columns.
const MIN_WIDTH: usize = 40;
/// Maximum width of a page, in columns: longer lines are hard to read.
const MAX_WIDTH: usize = 120;
/// Indentation of the content of a section, in columns.
const INDENT: usize = 2;

/// Writes lines that are never longer than the page is wide.
pub(super) struct Page<'a> {
    out: &'a mut dyn Write,
    pub(super) options: TextOptions,
    pub(super) width: usize,
    pub(super) clock: Clock,
}

impl<'a> Page<'a> {
    /// Creates a page about the time range `window`, if there is one.
    pub(super) fn over(window: Option<Window>, options: TextOptions, out: &'a mut dyn Write) -> Page<'a> {
        let width = options.width.clamp(MIN_WIDTH, MAX_WIDTH);
        Page { out, options, width, clock: Clock::over(window, options.zone) }
    }

    /// Returns whether there is room for optional content.
    pub(super) fn is_wide(&self) -> bool {
        self.width >= WIDE
    }

    /// Width of the content of a section, in columns.
    pub(super) fn inner(&self) -> usize {
        self.width - INDENT
    }

    /// Formats a time briefly; the zone is named once, in the section on the data.
    pub(super) fn time(&self, time: Time) -> String {
        self.clock.short(time)
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }

    /// Writes the name of a section after a blank line, with a note beside it.
    pub(super) fn heading(&mut self, name: &str, note: &str) -> io::Result<()> {
        self.blank()?;
        let gap = if note.is_empty() { "" } else { "  " };
        self.raw(Text::styled(style::BOLD, name).then(gap).and(style::FAINT, note))
    }

    /// Writes a horizontal line, to separate two subjects.
    pub(super) fn separator(&mut self) -> io::Result<()> {
        self.blank()?;
        self.raw(Text::styled(style::FAINT, "─".repeat(self.width)))
    }

    /// Writes one line of a section, cut if too long.
    pub(super) fn line(&mut self, text: Text) -> io::Result<()> {
        self.raw(Text::plain(" ".repeat(INDENT)).join(text))
    }

    /// Writes a paragraph over the whole width.
    pub(super) fn paragraph(&mut self, text: &Text) -> io::Result<()> {
        text.wrap(self.width).into_iter().try_for_each(|line| self.raw(line))
    }

    /// Writes `label`, and beside it `text` wrapped in a column that begins `hang` columns into the section.
    pub(super) fn hanging(&mut self, label: Text, hang: usize, text: &Text) -> io::Result<()> {
        self.hanging_at_most(label, hang, text, usize::MAX)
    }

    /// Like [`Page::hanging`], with at most `max_lines` lines; an ellipsis marks missing text.
    pub(super) fn hanging_at_most(
        &mut self,
        label: Text,
        hang: usize,
        text: &Text,
        max_lines: usize,
    ) -> io::Result<()> {
        let width = self.inner().saturating_sub(hang);
        let lines = at_most(text.wrap(width), max_lines, width);
        let mut label = Some(label);
        for line in lines {
            self.line(label.take().unwrap_or_default().fitted(hang, Fit::Words).join(line))?;
        }
        Ok(())
    }

    /// Writes `text` with its further lines indented by `hang`, at most `max_lines` lines of it.
    pub(super) fn item(&mut self, text: &Text, hang: usize, max_lines: usize) -> io::Result<()> {
        let indent = |nth: usize| Text::plain(" ".repeat(if nth == 0 { 0 } else { hang }));
        let lines = at_most(text.wrap(self.inner() - hang), max_lines, self.inner() - hang);
        lines.into_iter().enumerate().try_for_each(|(nth, line)| self.line(indent(nth).join(line)))
    }

    /// Writes a table.
    pub(super) fn table(&mut self, table: &Table<'_>) -> io::Result<()> {
        table.lines(self.inner()).into_iter().try_for_each(|line| self.line(line))
    }

    /// Writes text to be copied: on one line, even if longer than the page is wide.
    pub(super) fn whole(&mut self, text: &str) -> io::Result<()> {
        Text::plain(text).write(self.out, false)?;
        self.blank()
    }

    /// Writes a remark, usually that something is not shown.
    pub(super) fn remark(&mut self, text: &str) -> io::Result<()> {
        self.hanging(Text::new(), 0, &Text::styled(style::FAINT, text))
    }

    fn raw(&mut self, text: Text) -> io::Result<()> {
        text.cut(self.width, Fit::Words).trimmed().write(self.out, self.options.color)?;
        self.blank()
    }
}

/// Returns the first `max_lines` lines, with an ellipsis if there are more.
fn at_most(mut lines: Vec<Text>, max_lines: usize, width: usize) -> Vec<Text> {
    if lines.len() > max_lines {
        lines.truncate(max_lines);
        if let Some(last) = lines.pop() {
            lines.push(last.then(" …").cut(width, Fit::Words));
        }
    }
    lines
}
