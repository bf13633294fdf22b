//! The sheet the sections write on: its width, its times, its colours.

use super::layout::{Fit, Text, WIDE};
use super::style;
use super::{TextOptions, table::Table};
use crate::model::Time;
use crate::render::document::Clock;
use crate::report::Window;
use std::io::{self, Write};

/// What no terminal is narrower than, in earnest.
const LEAST_WIDTH: usize = 40;
/// Beyond this, lines are hard to follow with the eye.
const MOST_WIDTH: usize = 120;
/// Columns a section's content is indented by.
const INDENT: usize = 2;
/// Writes lines, never one longer than the page is wide.
pub(super) struct Page<'a> {
    out: &'a mut dyn Write,
    pub(super) options: TextOptions,
    pub(super) width: usize,
    pub(super) clock: Clock,
}

impl<'a> Page<'a> {
    /// A page about the time of `window`, where there is one.
    pub(super) fn over(window: Option<Window>, options: TextOptions, out: &'a mut dyn Write) -> Page<'a> {
        let width = options.width.clamp(LEAST_WIDTH, MOST_WIDTH);
        Page { out, options, width, clock: Clock::over(window, options.zone) }
    }

    /// Whether there is room for what is only nice to have.
    pub(super) fn is_wide(&self) -> bool {
        self.width >= WIDE
    }

    /// Columns a section's content has.
    pub(super) fn inner(&self) -> usize {
        self.width - INDENT
    }

    /// A point in time, short: the zone is named once, with the data.
    pub(super) fn time(&self, time: Time) -> String {
        self.clock.short(time)
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }

    /// The name of a section after an empty line, with the figures that sum it up.
    pub(super) fn heading(&mut self, name: &str, note: &str) -> io::Result<()> {
        self.blank()?;
        let gap = if note.is_empty() { "" } else { "  " };
        self.raw(Text::styled(style::BOLD, name).then(gap).and(style::FAINT, note))
    }

    /// A line across the page, between two subjects.
    pub(super) fn rule(&mut self) -> io::Result<()> {
        self.blank()?;
        self.raw(Text::styled(style::FAINT, "─".repeat(self.width)))
    }

    /// One line of a section, cut where it is too long.
    pub(super) fn line(&mut self, text: Text) -> io::Result<()> {
        self.raw(Text::plain(" ".repeat(INDENT)).join(text))
    }

    /// A paragraph over the whole width.
    pub(super) fn paragraph(&mut self, text: &Text) -> io::Result<()> {
        text.wrap(self.width).into_iter().try_for_each(|line| self.raw(line))
    }

    /// `label`, and `text` wrapped in a column of its own that begins `hang` columns into the section.
    pub(super) fn hanging(&mut self, label: Text, hang: usize, text: &Text) -> io::Result<()> {
        self.hanging_at_most(label, hang, text, usize::MAX)
    }

    /// The same, with no more than `most` lines; an ellipsis tells of the rest.
    pub(super) fn hanging_at_most(&mut self, label: Text, hang: usize, text: &Text, most: usize) -> io::Result<()> {
        let width = self.inner().saturating_sub(hang);
        let lines = at_most(text.wrap(width), most, width);
        let mut label = Some(label);
        for line in lines {
            self.line(label.take().unwrap_or_default().fitted(hang, Fit::Words).join(line))?;
        }
        Ok(())
    }

    /// `text` with its further lines indented by `hang`, no more than `most` lines of it.
    pub(super) fn item(&mut self, text: &Text, hang: usize, most: usize) -> io::Result<()> {
        let indent = |nth: usize| Text::plain(" ".repeat(if nth == 0 { 0 } else { hang }));
        let lines = at_most(text.wrap(self.inner() - hang), most, self.inner() - hang);
        lines.into_iter().enumerate().try_for_each(|(nth, line)| self.line(indent(nth).join(line)))
    }

    /// A table.
    pub(super) fn table(&mut self, table: &Table<'_>) -> io::Result<()> {
        table.lines(self.inner()).into_iter().try_for_each(|line| self.line(line))
    }

    /// A text to be copied: on one line however long, the width of the page notwithstanding.
    pub(super) fn whole(&mut self, text: &str) -> io::Result<()> {
        Text::plain(text).write(self.out, false)?;
        self.blank()
    }

    /// A remark that something is not shown.
    pub(super) fn remark(&mut self, text: &str) -> io::Result<()> {
        self.hanging(Text::new(), 0, &Text::styled(style::FAINT, text))
    }

    fn raw(&mut self, text: Text) -> io::Result<()> {
        text.cut(self.width, Fit::Words).trimmed().write(self.out, self.options.color)?;
        self.blank()
    }
}

/// The first `most` lines, with an ellipsis where there are more.
fn at_most(mut lines: Vec<Text>, most: usize, width: usize) -> Vec<Text> {
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.pop() {
            lines.push(last.then(" …").cut(width, Fit::Words));
        }
    }
    lines
}
