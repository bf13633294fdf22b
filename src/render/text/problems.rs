//! Findings folded into problems, worst first.

use super::layout::{Fit, Text};
use super::page::Page;
use super::{style, words};
use crate::model::Severity;
use crate::report::{Problem, Report};
use std::io;

/// Columns the body of a problem is indented by.
const BODY: usize = 2;
/// Columns of the labels in it.
const LABEL: usize = BODY + 6;
/// Lines of an example; servers send whole pages as error messages.
const EXAMPLE_LINES: usize = 4;
/// Columns from which a page is wide.
const WIDE: usize = 100;
/// Problems above info before `--verbose`.
const GRAVE: usize = 15;
/// Infos before `--verbose`.
const INFOS: usize = 10;

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.problems.is_empty() && report.problems_hidden == 0 {
        return Ok(());
    }
    page.heading("PROBLEMS", &found(report))?;
    let shown = worst_first(report);
    let is_compact = |problem: &&Problem| problem.severity == Severity::Info && !page.options.verbose;
    let infos = shown.iter().position(is_compact).unwrap_or(shown.len());
    let (grave, infos) = shown.split_at(infos);
    let most = if page.options.verbose { grave.len() } else { GRAVE };
    for (nth, problem) in grave.iter().take(most).enumerate() {
        let told = grave[..nth].iter().any(|other| (other.rule, &other.fix) == (problem.rule, &problem.fix));
        in_full(problem, told, page)?;
        page.blank()?;
    }
    if grave.len() > most {
        page.remark(&more(&grave[most..]))?;
    }
    compact(infos, page)?;
    if report.problems_hidden > 0 {
        let hidden = words::counted(report.problems_hidden, "problem");
        page.remark(&format!("{hidden} below --min-severity not shown"))?;
    }
    page.remark("why: retrylens explain CODE; the attempts of one: retrylens trace ID INPUT")
}

fn found(report: &Report) -> String {
    let totals = &report.totals;
    let counts = [(totals.errors, "error"), (totals.warnings, "warning"), (totals.infos, "info")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| words::counted(*n, word));
    let findings = words::counted(totals.errors + totals.warnings + totals.infos, "finding");
    format!("{findings} ({}), repeats folded", counts.collect::<Vec<_>>().join(", "))
}

/// What is left out, by severity.
fn more(rest: &[&Problem]) -> String {
    let of = |severity| rest.iter().filter(|problem| problem.severity == severity).count() as u64;
    let counts = [(of(Severity::Error), "error"), (of(Severity::Warning), "warning")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| words::counted(*n, word)).collect::<Vec<_>>();
    let kinds = words::counted(rest.len() as u64, "more kind");
    format!("and {kinds} ({}): --verbose shows all, as does --format json", counts.join(", "))
}

/// Within a severity, as the report orders them.
fn worst_first(report: &Report) -> Vec<&Problem> {
    let mut problems: Vec<&Problem> = report.problems.iter().collect();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    problems
}

/// `told`: the same fix stands above.
fn in_full(problem: &Problem, told: bool, page: &mut Page<'_>) -> io::Result<()> {
    page.line(head(problem, page.inner()))?;
    let (place, seen) = (place(problem).join(" · "), page.stretch(problem.first_seen, problem.last_seen));
    let both = format!("{place} · {seen}");
    if place.is_empty() || Text::plain(&both).width() + BODY > page.inner() {
        labelled("", style::PLAIN, &place, usize::MAX, page)?;
        labelled("", style::FAINT, &seen, usize::MAX, page)?;
    } else {
        labelled("", style::PLAIN, &both, usize::MAX, page)?;
    }
    let lines = if page.options.verbose { usize::MAX } else { EXAMPLE_LINES };
    labelled("", style::PLAIN, &problem.example, lines, page)?;
    labelled("cost", style::PLAIN, &words::cost(&problem.cost), usize::MAX, page)?;
    if told {
        labelled("fix", style::FAINT, "as above", usize::MAX, page)?;
    } else {
        labelled("fix", style::PLAIN, &problem.fix, usize::MAX, page)?;
    }
    labelled("ids", style::FAINT, &ids(problem, page), usize::MAX, page)
}

/// As many request ids as fit on one line; all of them where everything is shown.
fn ids(problem: &Problem, page: &Page<'_>) -> String {
    let list = |n: usize| problem.request_ids.iter().take(n).map(String::as_str).collect::<Vec<_>>().join(", ");
    let fits = |n: &usize| Text::plain(list(*n)).width() + LABEL <= page.inner();
    let all = problem.request_ids.len();
    if page.options.verbose { list(all) } else { list((1..=all).rev().find(fits).unwrap_or(1)) }
}

/// Mark, severity, rule and name; at the right how often.
fn head(problem: &Problem, width: usize) -> Text {
    let style = style::severity(problem.severity);
    let left = Text::styled(style.bold(), format!("{} {}", style::mark(problem.severity), problem.severity.name()))
        .then(" ")
        .and(style::BOLD, format!("{} {}", problem.rule, problem.name))
        .and(style::FAINT, status(problem));
    let often = Text::plain(often(problem));
    let room = width.saturating_sub(often.width() + 2);
    left.fitted(room, Fit::Words).then("  ").join(often)
}

/// What the baseline says of it.
fn status(problem: &Problem) -> &'static str {
    match (problem.known, problem.grew) {
        (true, _) => " (known)",
        (_, true) => " (grew)",
        _ => "",
    }
}

fn often(problem: &Problem) -> String {
    match problem.runs {
        0 => words::times(problem.count),
        runs => format!("{} in {}", words::times(problem.count), words::counted(runs, "run")),
    }
}

fn place(problem: &Problem) -> Vec<String> {
    [problem.provider.as_deref(), problem.model.as_deref(), problem.class]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect()
}

fn labelled(label: &str, style: anstyle::Style, text: &str, lines: usize, page: &mut Page<'_>) -> io::Result<()> {
    let (label, hang) = match label {
        "" => (Text::new(), BODY),
        label => (Text::plain(" ".repeat(BODY)).and(style::FAINT, label), LABEL),
    };
    page.hanging_at_most(label, hang, &Text::styled(style, text), lines)
}

/// Infos, one line each; where and in how many runs on wide pages only.
fn compact(infos: &[&Problem], page: &mut Page<'_>) -> io::Result<()> {
    for problem in infos.iter().take(INFOS) {
        let style = style::severity(problem.severity);
        let mut note = format!(" {} {}, ", problem.rule, problem.name);
        if page.width < WIDE {
            note.push_str(&words::times(problem.count));
        } else {
            note.push_str(&[often(problem), place(problem).join(" ")].join(", "));
        }
        let line = Text::styled(style.bold(), format!("{} {}", style::mark(problem.severity), problem.severity.name()));
        page.line(line.then(note).then(": ").and(style::FAINT, &problem.example).cut(page.inner(), Fit::Words))?;
    }
    match infos.len().saturating_sub(INFOS) {
        0 => Ok(()),
        more => page.remark(&format!("and {} (--verbose shows all)", words::counted(more as u64, "more info"))),
    }
}
