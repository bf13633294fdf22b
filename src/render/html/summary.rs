//! The first screen: the verdict, its figures, what to do, and what it all rests on.

use super::untrusted::{name, prose};
use super::view::View;
use super::{advice, marks, quality};
use crate::model::{Severity, units::seconds};
use crate::render::words::{self, counted, glued, number, percent};
use crate::report::{Report, Share};
use maud::{Markup, html};

/// The log, in the tab and on top of the page.
pub(super) fn title(view: &View<'_>) -> String {
    format!("Retry report: {}", name(&words::subject(view.report)))
}

/// What the page covers, in one line.
pub(super) fn about(view: &View<'_>) -> Markup {
    let Some(window) = view.report.window else { return html! { "no attempt" } };
    html! { (glued(&words::window(window, view.options.zone))) }
}

pub(super) fn lead(view: &View<'_>) -> Markup {
    let report = view.report;
    let (first, rest) = report.verdict.split_once(". ").unwrap_or((report.verdict.trim_end_matches('.'), ""));
    html! {
        h1 { (worst(report)) (with_options(first)) "." }
        @if !rest.is_empty() { p.rest { (with_options(rest)) } }
        (notices(report))
        (figures(report))
        div.first {
            div { (advice::steps(view)) }
            div { (quality::overview(view)) }
        }
    }
}

/// A sentence in which an option stands between backticks: it never breaks at its hyphens.
fn with_options(text: &str) -> Markup {
    let text = prose(text);
    html! {
        @for (nth, part) in text.split('`').enumerate() {
            @if nth % 2 == 1 { code.nowrap { (part) } } @else { (part) }
        }
    }
}

/// The sign of the worst that is new.
fn worst(report: &Report) -> Markup {
    match report.problems.iter().filter(|problem| !problem.known).map(|problem| problem.severity).max() {
        Some(severity) if severity > Severity::Info => marks::alone(severity.name()),
        _ if report.totals.calls_failed > 0 => marks::alone("failed"),
        _ if report.totals.calls_open > 0 => marks::alone("open"),
        _ => marks::alone("ok"),
    }
}

/// What was set aside, and what is to be known about the judgement itself.
fn notices(report: &Report) -> Markup {
    let known = report.problems.iter().filter(|problem| problem.known).count() as u64;
    let mut aside = Vec::new();
    if report.totals.suppressed > 0 {
        aside.push(format!("{} suppressed", counted(report.totals.suppressed, "finding")));
    }
    if known > 0 {
        aside.push(format!("{} known from the baseline", counted(known, "problem")));
    }
    html! {
        @if !aside.is_empty() { p.note { "Set aside: " (aside.join(", ")) "." } }
        @if !report.notices.is_empty() {
            ul.notices { @for notice in &report.notices { li { (marks::alone("warning")) (prose(notice)) } } }
        }
    }
}

fn figures(report: &Report) -> Markup {
    let totals = &report.totals;
    let wasted = Share { count: totals.wasted_sends, of: totals.sends };
    let ends = [(totals.calls_ok, "ok"), (totals.calls_failed, "failed"), (totals.calls_open, "open")];
    let ends: Vec<String> =
        ends.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", number(*n))).collect();
    html! {
        dl.figures {
            (figure("Calls", &number(totals.calls), &ends.join(", ")))
            (figure("Attempts", &number(totals.sends), &format!("{:.2} a call", totals.amplification)))
            (figure("Needless attempts", &number(totals.wasted_sends), &of_all(wasted, "attempts")))
            (figure("Waited", &seconds(totals.wait_s), &retries(totals.retries)))
            (figure("Runs", &number(totals.runs), &green(report)))
        }
    }
}

fn retries(n: u64) -> String {
    if n == 1 { "before 1 retry".to_owned() } else { format!("before {} retries", number(n)) }
}

fn green(report: &Report) -> String {
    let totals = &report.totals;
    match totals.green_runs_with_retries {
        0 => format!("{} green", number(totals.green_runs)),
        retried => format!("{} green, {} of them only with retries", number(totals.green_runs), number(retried)),
    }
}

fn of_all(share: Share, what: &str) -> String {
    share.ratio().map_or_else(String::new, |ratio| format!("{} of {} {what}", percent(ratio), number(share.of)))
}

fn figure(name: &str, value: &str, note: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } @if !note.is_empty() { dd { (note) } } } }
}
