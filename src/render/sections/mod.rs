//! Sections of a page, one file each: the contents of a report, a comparison or a trend as plain data.
//!
//! To add a section to the report, add its data to [`crate::report`], a file and a `mod` line here, and a line in
//! [`SECTIONS`]; `docs/development.md` names the other places.

mod backoff;
mod data;
mod diff;
mod evidence;
mod failed_on;
mod headroom;
mod incidents;
mod load;
mod method;
mod plan;
mod problems;
mod recovery;
mod retries;
mod runs;
mod scripted;
mod simulation;
mod steps;
pub(in crate::render) mod trace;
mod trend;
mod what_if;
mod who;

pub(crate) use diff::diff;
pub(crate) use plan::plan;
pub(crate) use scripted::scripted;
pub(crate) use simulation::simulation;
pub(crate) use trend::trend;
pub(crate) use what_if::what_if;

use super::charts::{Chart, ChartKind, fleet_charts};
use super::document::{Block, Cell, Charts, Clock, Column, Document, Figure, Limits, Section, Sign};
use super::money::dollars;
use super::words::{self, counted, number, percent};
use crate::model::units::seconds;
use crate::model::{Severity, Zone};
use crate::report::{Report, Share};

/// Input of the sections.
pub(crate) struct View<'a> {
    pub(crate) report: &'a Report,
    pub(crate) clock: Clock,
    /// All charts that are not about a single run.
    charts: Vec<Chart<'a>>,
}

impl<'a> View<'a> {
    /// Returns the charts of one kind.
    fn charts(&self, kind: ChartKind) -> Vec<Chart<'a>> {
        self.charts.iter().filter(|chart| chart.kind == kind).cloned().collect()
    }
}

/// Builds a section; `None` if there is nothing to show.
type BuildSection = for<'a> fn(&View<'a>) -> Option<Section<'a>>;

/// The sections below the first screen, in order.
const SECTIONS: [BuildSection; 11] = [
    problems::section,
    incidents::section,
    what_if::section,
    runs::section,
    who::section,
    retries::section,
    recovery::section,
    backoff::section,
    load::section,
    headroom::section,
    method::section,
];

/// Returns the page of a report.
pub(crate) fn report(report: &Report, zone: Zone) -> Document<'_> {
    let view = View { report, clock: Clock::over(report.window, zone), charts: fleet_charts(report) };
    Document {
        kind: "Retry report",
        subject: Some(words::subject(report)),
        about: match report.window {
            Some(window) => words::window(window, zone),
            None if report.ledger.attempts > 0 => "no times".to_owned(),
            None => "no attempt".to_owned(),
        },
        window: report.window,
        sign: sign(report),
        verdict: report.verdict.clone(),
        failed_on: failed_on::line(&view),
        aside: aside(report),
        notices: report.notices.clone(),
        figures: figures(report),
        lead: [steps::section(&view), Some(data::section(&view))].into_iter().flatten().collect(),
        sections: SECTIONS.iter().filter_map(|build| build(&view)).collect(),
        generator: &report.generator,
    }
}

/// Returns whether there is nothing to act on; a terminal then shows a short page.
fn has_nothing_to_do(report: &Report) -> bool {
    report.advice.is_empty() && report.problems.iter().all(|problem| problem.severity == Severity::Info)
}

/// Returns the sign of the worst new problem, or else of the outcomes of the calls.
fn sign(report: &Report) -> Sign {
    match report.problems.iter().filter(|problem| !problem.known).map(|problem| problem.severity).max() {
        Some(severity) if severity > Severity::Info => severity.into(),
        _ if report.totals.calls_failed > 0 => Sign::Failed,
        _ if report.totals.calls_open > 0 => Sign::Open,
        _ => Sign::Ok,
    }
}

fn aside(report: &Report) -> String {
    let parts = [
        (report.totals.suppressed, "finding", "suppressed"),
        (report.problems_hidden, "problem", "below --min-severity"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, ..)| *n > 0).map(|(n, what, why)| format!("{} {why}", counted(*n, what))).collect();
    if parts.is_empty() { String::new() } else { format!("Set aside: {}.", parts.join(", ")) }
}

fn figures(report: &Report) -> Vec<Figure> {
    let totals = &report.totals;
    let figure = |name, value: u64, note| Figure { name, value: number(value), note };
    let outcomes = [(totals.calls_ok, "ok"), (totals.calls_failed, "failed"), (totals.calls_open, "open")];
    let needless = Share { count: totals.wasted_sends, of: totals.sends };
    let of_all = needless.ratio().map(|ratio| format!("{} of {}", percent(ratio), counted(needless.of, "attempt")));
    let waited = format!("before {}", retries(totals.retries));
    let bound = if totals.waits_measured.count < totals.waits_measured.of { "≤ " } else { "" };
    vec![
        figure("Calls", totals.calls, nonzero_counts(&outcomes).join(", ")),
        figure("Attempts", totals.sends, format!("{:.2} a call", totals.amplification)),
        figure("Needless attempts", totals.wasted_sends, of_all.unwrap_or_default()),
        Figure { name: "Waited", value: format!("{bound}{}", seconds(totals.wait_s)), note: waited },
        figure("Runs", totals.runs, green_runs(report)),
    ]
}

fn retries(n: u64) -> String {
    if n == 1 { "1 retry".to_owned() } else { format!("{} retries", number(n)) }
}

/// Formats the green runs: "3 green, 2 of them only with retries".
fn green_runs(report: &Report) -> String {
    let totals = &report.totals;
    let green_runs = format!("{} green", number(totals.green_runs));
    match totals.green_runs_with_retries {
        0 => green_runs,
        retried => format!("{green_runs}, {} of them only with retries", number(retried)),
    }
}

/// Returns each count that is not 0 with its word.
fn nonzero_counts(counts: &[(u64, &str)]) -> Vec<String> {
    counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", number(*n))).collect()
}

/// Returns the columns with "Cost" replaced by "Tokens" if the log has no prices.
fn with_cost_column(columns: &[Column], is_priced: bool) -> Vec<Column> {
    let named = |column: &Column| match column.name {
        "Cost" if !is_priced => Column { name: "Tokens", short: "Tokens", ..*column },
        _ => *column,
    };
    columns.iter().map(named).collect()
}

/// Returns the cell of the cost column; empty if unknown.
fn cost<'a>(usd: Option<f64>, tokens: Option<u64>, is_priced: bool) -> Cell<'a> {
    match tokens {
        Some(tokens) if !is_priced => Cell::count(tokens),
        _ => Cell::optional(usd, dollars),
    }
}

/// Returns the block of all charts of one kind.
fn charts<'a>(view: &View<'a>, kind: ChartKind, unit: &'static str) -> Block<'a> {
    Block::Charts(Charts { charts: view.charts(kind), limits: Limits::NONE, unit })
}

/// Returns a sentence on the number of problems hidden by their severity.
fn hidden(problems: u64) -> String {
    if problems == 0 {
        return String::new();
    }
    format!("Set aside: {} below --min-severity.", counted(problems, "problem"))
}
