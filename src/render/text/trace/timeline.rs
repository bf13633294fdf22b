//! The attempts of a call, one below the other, with the waits between them.

use super::super::layout::{Fit, Text};
use super::super::page::Page;
use super::super::table::Table;
use super::super::{style, words};
use super::ended;
use super::shown_attempts::{self, Step};
use crate::model::{Time, Zone};
use crate::render::document::Column;
use crate::render::sections::trace::{after_last, correct_action, view_remarks, wait_before};
use crate::trace::{Kind, Trace, TracedAttempt, TracedCall};
use anstyle::Style;
use std::io;

/// Minimum width of a page for a bar beside each attempt, in columns.
pub(super) const WIDE: usize = 100;

/// Maximum number of lines of an error message without `--verbose`.
const MAX_MESSAGE_LINES: usize = 3;
/// Maximum width of the table without bars, in columns.
const MAX_TABLE_WIDTH: usize = 78;
/// Minimum and maximum width of the bars, in columns.
const BAR_WIDTHS: (usize, usize) = (12, 40);

/// A call, and the layout that all its lines share.
struct Timeline<'a> {
    call: &'a TracedCall,
    /// Attempts that carry the requested id, unless all do.
    marked: Vec<usize>,
    /// Remark beside the marked attempts.
    remark: &'static str,
    /// Indentation of details, in columns.
    indent: usize,
    /// Width of the bars, in columns; 0 for none.
    bar_width: usize,
    /// Width before the bars, in columns.
    offset: usize,
}

/// Writes the timeline of `call`.
pub(super) fn write(trace: &Trace, call: &TracedCall, page: &mut Page<'_>) -> io::Result<()> {
    let marked = marked(trace, call);
    let steps = shown_attempts::steps(call, &marked, page.options.verbose);
    let remark = if trace.matched == Kind::Mention { "◀ mentions it" } else { "◀ the id asked for" };
    let bar_width =
        if page.width < WIDE { 0 } else { (page.inner() - MAX_TABLE_WIDTH).clamp(BAR_WIDTHS.0, BAR_WIDTHS.1) };
    let mut timeline =
        Timeline { call, indent: if marked.is_empty() { 2 } else { 5 }, marked, remark, bar_width, offset: 0 };
    let mut rows = timeline.table(&steps, page).lines(page.inner()).into_iter();
    let head = rows.next().unwrap_or_default();
    timeline.offset = head.width().saturating_sub(bar_width);
    page.line(head)?;
    let mut shown_message = None;
    for step in steps {
        match step {
            Step::Attempt(nth) => {
                timeline.wait(nth, page)?;
                page.line(rows.next().unwrap_or_default())?;
                timeline.details(nth, &mut shown_message, page)?;
            }
            Step::LeftOut(range) => {
                let more = format!("⋮ {}; --verbose shows them", shown_attempts::describe_left_out(call, &range));
                page.hanging(Text::new(), timeline.indent, &Text::styled(style::FAINT, more))?;
            }
        }
    }
    match after_last(call) {
        Some((kind, text)) => page.hanging(Text::new(), timeline.indent, &Text::styled(style::kind(&kind), text)),
        None => Ok(()),
    }
}

/// Returns the attempts that carry the requested id; empty if all do or the id is that of the call.
fn marked(trace: &Trace, call: &TracedCall) -> Vec<usize> {
    let named: Vec<usize> = (0..call.attempts.len()).filter(|&nth| call.attempts[nth].named).collect();
    let distinguishes =
        matches!(trace.matched, Kind::Request | Kind::Platform | Kind::Mention) && named.len() < call.attempts.len();
    let is_only_attempt = matches!(trace.matched, Kind::Request | Kind::Platform) && call.attempts.len() == 1;
    if distinguishes || is_only_attempt { named } else { Vec::new() }
}

impl Timeline<'_> {
    fn table(&self, steps: &[Step], page: &Page<'_>) -> Table<'static> {
        let zone = page.options.zone;
        let format = clock(self.call, zone);
        let mut table = Table::new(&[
            Column::words(""),
            Column::words("time"),
            Column::number("#"),
            Column::number("sdk").rank(1),
            Column::words("status"),
            Column::words("class").min_width(10),
            Column::number("answer"),
            Column::words("right was").min_width(6),
            Column::words(""),
        ]);
        for step in steps {
            if let Step::Attempt(nth) = step {
                table.row(self.row(*nth, &zone.show(self.call.attempts[*nth].attempt_ref.ts, format)));
            }
        }
        table
    }

    fn row(&self, nth: usize, time: &str) -> Vec<Text> {
        let attempt = &self.call.attempts[nth];
        let is_marked = self.marked.contains(&nth);
        let strong = if is_marked { style::BOLD } else { style::PLAIN };
        let (color, class) = class(attempt);
        let status = attempt.attempt_ref.status.map_or_else(|| "none".to_owned(), |status| status.to_string());
        vec![
            Text::styled(style::BOLD, if is_marked { "▶" } else { "" }),
            Text::styled(strong, time),
            Text::styled(strong, attempt.attempt_ref.attempt.to_string()),
            Text::plain(attempt.sdk_retry_count.map_or_else(String::new, |count| count.to_string())),
            Text::plain(status),
            Text::styled(color, class),
            Text::plain(words::compact_duration(attempt.duration_ms.unwrap_or(0.0) / 1e3)),
            Text::plain(attempt.action.filter(|_| attempt.attempt_ref.class.is_some()).map_or("", correct_action)),
            self.bar(attempt.attempt_ref.ts, ended(attempt), '█', color),
        ]
    }

    /// Draws the time from `from` to `to`, in proportion to the call.
    fn bar(&self, from: Time, to: Time, c: char, color: Style) -> Text {
        let attempts = &self.call.attempts;
        let (Some(start), Some(end)) =
            (attempts.iter().map(|s| s.attempt_ref.ts).min(), attempts.iter().map(ended).max())
        else {
            return Text::new();
        };
        if self.bar_width == 0 || end <= start {
            return Text::new();
        }
        let column = |time: Time| {
            (time.s_since(start) / end.s_since(start) * self.bar_width as f64).clamp(0.0, self.bar_width as f64)
        };
        let first = (column(from).floor() as usize).min(self.bar_width - 1);
        let last = (column(to).ceil() as usize).clamp(first + 1, self.bar_width);
        Text::plain(" ".repeat(first)).and(color, c.to_string().repeat(last - first))
    }

    /// Writes the wait before attempt `nth`.
    fn wait(&self, nth: usize, page: &mut Page<'_>) -> io::Result<()> {
        let Some((kind, text)) = wait_before(self.call, nth) else { return Ok(()) };
        let text = Text::styled(style::FAINT, "│ ").and(style::kind(&kind), text);
        let (previous, attempt) = (&self.call.attempts[nth - 1], &self.call.attempts[nth]);
        let room = self.offset.saturating_sub(self.indent);
        if self.bar_width == 0 || text.width() >= room {
            return page.hanging(Text::new(), self.indent, &text);
        }
        let bar = self.bar(ended(previous), attempt.attempt_ref.ts, '░', style::FAINT);
        page.line(Text::plain(" ".repeat(self.indent)).join(text.fitted(room, Fit::Words)).join(bar))
    }

    /// Writes the error message, the request id and the place of the record. `shown_message` is the message shown last.
    fn details(&self, nth: usize, shown_message: &mut Option<String>, page: &mut Page<'_>) -> io::Result<()> {
        let attempt = &self.call.attempts[nth];
        let mut is_same_message = false;
        if let Some(message) = attempt.message.as_ref().filter(|_| attempt.attempt_ref.class.is_some()) {
            is_same_message = shown_message.as_ref() == Some(message);
            if !is_same_message {
                let lines = if page.options.verbose { usize::MAX } else { MAX_MESSAGE_LINES };
                page.hanging_at_most(Text::new(), self.indent, &Text::plain(format!("“{message}”")), lines)?;
                *shown_message = Some(message.clone());
            }
        }
        if attempt.mid_stream {
            page.hanging(Text::new(), self.indent, &Text::plain("inside a stream that had begun with a success"))?;
        }
        self.write_fitting(self.id_and_place(nth, is_same_message), page)?;
        for line in view_remarks(attempt) {
            page.hanging(Text::new(), self.indent, &Text::styled(style::FAINT, line))?;
        }
        Ok(())
    }

    /// Returns request id, file and line, and remarks.
    fn id_and_place(&self, nth: usize, same_message: bool) -> Vec<Text> {
        let attempt_ref = &self.call.attempts[nth].attempt_ref;
        let mut id = match &attempt_ref.request_id {
            Some(id) => Text::styled(style::FAINT, id),
            None => Text::styled(style::FAINT, "no request id"),
        };
        if self.marked.contains(&nth) {
            id = id.then(" ").and(style::BOLD, self.remark);
        }
        // The folder is in the heading if it is the same for all.
        let file = one_file(self.call).and_then(|path| path.rsplit(['/', '\\']).next()).unwrap_or(&attempt_ref.file);
        let mut parts = vec![id, Text::styled(style::FAINT, format!("{file}:{}", attempt_ref.line))];
        if same_message {
            parts.push(Text::styled(style::FAINT, "same message"));
        }
        parts
    }

    /// Writes parts side by side if they fit, else below one another; paths are cut in the middle.
    fn write_fitting(&self, parts: Vec<Text>, page: &mut Page<'_>) -> io::Result<()> {
        let room = page.inner() - self.indent;
        let mut line = Text::new();
        for part in parts {
            if line.width() > 0 && line.width() + 2 + part.width() > room {
                page.line(self.indented(std::mem::take(&mut line)))?;
            }
            let gap = if line.width() > 0 { "  " } else { "" };
            line = line.then(gap).join(part.cut(room, Fit::Id));
        }
        page.line(self.indented(line))
    }

    fn indented(&self, text: Text) -> Text {
        Text::plain(" ".repeat(self.indent)).join(text)
    }
}

/// Returns the style and the word for the result of an attempt.
fn class(attempt: &TracedAttempt) -> (Style, &'static str) {
    attempt.attempt_ref.class.map_or((style::GREEN, "ok"), |class| (style::RED, class))
}

/// Returns the format of times: as precise as the log, with the date if there are several days.
fn clock(call: &TracedCall, zone: Zone) -> &'static str {
    let times = || call.attempts.iter().map(|attempt| attempt.attempt_ref.ts);
    let mut days = times().map(|time| zone.show(time, "%m-%d"));
    let first = days.next();
    if days.any(|day| first.as_ref() != Some(&day)) {
        "%m-%d %H:%M:%S"
    } else if times().all(|time| time.0 % 1_000_000 == 0) {
        "%H:%M:%S"
    } else {
        "%H:%M:%S%.3f"
    }
}

/// Returns the file that contains all attempts, if there is one.
pub(super) fn one_file(call: &TracedCall) -> Option<&str> {
    let mut files = call.attempts.iter().map(|attempt| attempt.attempt_ref.file.as_str());
    let first = files.next()?;
    files.all(|file| file == first).then_some(first)
}
