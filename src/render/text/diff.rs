//! Two reports side by side.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{TextOptions, style, words};
use crate::compare::{Change, Changed, Diff, Shift};
use crate::render::compared;
use std::io::{self, Write};

/// Columns the body of a problem is indented by.
const BODY: usize = 2;
/// Lines of an example.
const EXAMPLE_LINES: usize = 2;
/// Unchanged problems before `--verbose`.
const SAME: usize = 10;

const COLUMNS: [Column; 6] = [
    Column::new("", Fit::Words),
    Column::new("old", Fit::Number),
    Column::new("", Fit::Words),
    Column::new("new", Fit::Number),
    Column::new("", Fit::Words),
    Column::new("", Fit::Words),
];

/// Writes a comparison.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn diff(diff: &Diff, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::over(diff.window(), *options, out);
    if let Some(title) = &diff.title {
        page.paragraph(&Text::styled(style::FAINT, title))?;
    }
    page.paragraph(&Text::styled(style::BOLD, &diff.verdict))?;
    for notice in &diff.notices {
        page.paragraph(&Text::styled(style::YELLOW, "! ").then(notice))?;
    }
    page.heading("SIDES", &format!("{}, times in {}", diff.generator, options.zone))?;
    for (label, side) in [("old", &diff.old), ("new", &diff.new)] {
        let text = Text::plain(&side.name).then(": ").then(compared::side(side, options.zone));
        page.hanging(Text::styled(style::FAINT, label), 5, &text)?;
    }
    page.heading("MEASURES", "")?;
    let mut table = Table::new(&COLUMNS);
    for (label, old, new) in [("calls", diff.old.calls, diff.new.calls), ("sends", diff.old.sends, diff.new.sends)] {
        let [old, new] = [old, new].map(|n| Text::plain(words::number(n)));
        table.row(vec![Text::plain(label), old, Text::new(), new]);
    }
    diff.measures.iter().for_each(|shift| table.row(measure(shift)));
    page.table(&table)?;
    for change in Change::ALL {
        problems(diff, change, &mut page)?;
    }
    page.blank()?;
    hidden(diff.problems_hidden, &mut page)?;
    page.remark(&compared::basis(&diff.basis))
}

/// That problems were left out.
pub(super) fn hidden(count: u64, page: &mut Page<'_>) -> io::Result<()> {
    match count {
        0 => Ok(()),
        _ => page.remark(&format!("{} below --min-severity not shown", words::counted(count, "problem"))),
    }
}

fn measure(shift: &Shift) -> Vec<Text> {
    let measure = shift.measure;
    let label = [measure.label(), measure.unit()].join(" ");
    let figures = [shift.old, shift.new].map(|rate| {
        [Text::plain(measure.bare(rate.rate)), Text::styled(style::FAINT, format!("({})", measure.part(rate)))]
    });
    let verdict = Text::styled(of(shift.change), compared::verdict(shift));
    [Text::plain(label)].into_iter().chain(figures.into_iter().flatten()).chain([verdict]).collect()
}

fn of(change: Change) -> anstyle::Style {
    match change {
        Change::New | Change::Worse => style::RED.bold(),
        Change::Fixed | Change::Better => style::GREEN.bold(),
        Change::Untold => style::YELLOW.bold(),
        Change::Same => style::FAINT,
    }
}

fn problems(diff: &Diff, change: Change, page: &mut Page<'_>) -> io::Result<()> {
    let all: Vec<&Changed> = diff.changed(change).collect();
    if all.is_empty() {
        return Ok(());
    }
    page.heading(&change.name().to_uppercase(), &words::counted(all.len() as u64, "problem"))?;
    let most = if change == Change::Same && !page.options.verbose { SAME } else { usize::MAX };
    for problem in all.iter().take(most) {
        page.line(head(problem, problem.may_be_chance(&diff.basis)).cut(page.inner(), Fit::Words))?;
        body("", &place(problem), style::PLAIN, usize::MAX, page)?;
        if change != Change::Same || page.options.verbose {
            in_full(problem, &compared::remarks(problem, &diff.basis), page)?;
        }
    }
    if all.len() > most {
        page.remark(&format!(
            "and {} (--verbose shows all)",
            words::counted((all.len() - most) as u64, "more problem")
        ))?;
    }
    Ok(())
}

/// What chance may explain is faint.
fn head(problem: &Changed, faint: bool) -> Text {
    let mark = format!("{} {}", style::mark(problem.severity), problem.severity.name());
    let (first, rest) =
        if faint { (style::FAINT, style::FAINT) } else { (style::severity(problem.severity).bold(), style::BOLD) };
    Text::styled(first, mark).then(" ").and(rest, format!("{} {}", problem.key.rule, problem.name))
}

/// Where it is and how often.
fn place(problem: &Changed) -> String {
    let place: Vec<&str> = problem.key.place().collect();
    let rates = compared::rates(problem);
    if place.is_empty() { rates } else { format!("{}: {rates}", place.join(" · ")) }
}

fn in_full(problem: &Changed, remarks: &[String], page: &mut Page<'_>) -> io::Result<()> {
    body("", &remarks.join("; "), style::FAINT, usize::MAX, page)?;
    if problem.change != Change::Better {
        let lines = if page.options.verbose { usize::MAX } else { EXAMPLE_LINES };
        body("", &problem.example, style::PLAIN, lines, page)?;
    }
    if matches!(problem.change, Change::New | Change::Worse) {
        body("fix", &problem.fix, style::PLAIN, usize::MAX, page)?;
    }
    Ok(())
}

fn body(label: &str, text: &str, style: anstyle::Style, lines: usize, page: &mut Page<'_>) -> io::Result<()> {
    let hang = if label.is_empty() { BODY } else { BODY + label.len() + 2 };
    let label = Text::plain(" ".repeat(BODY)).and(style::FAINT, label);
    page.hanging_at_most(label, hang, &Text::styled(style, text), lines)
}
