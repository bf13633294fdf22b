//! Runs, costliest first; green runs with retries are marked.

use super::evidence::percent_encoded;
use super::marks;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::name;
use super::view::View;
use crate::model::{Bar, Outcome, Severity};
use crate::render::{
    money::{dollars, known_dollars},
    who,
    words::{self, counted, number},
};
use crate::report::{Histogram, Run};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// Runs a page shows.
const MOST: usize = 400;
/// Models named of one run.
const MODELS: usize = 6;
/// Columns of the small histogram; the last one holds all that took more.
const COLUMNS_OF_BARS: u32 = 8;
/// Its height.
const HEIGHT: f64 = 14.0;

const COLUMNS: [Column; 11] = [
    Column::text("Run"),
    Column::text("Outcome"),
    Column::number("Calls").minor(),
    Column::number("Sends"),
    Column::number("A call").minor(),
    Column::text("Attempts per call").least(),
    Column::number("Waited").minor(),
    Column::number("Wasted").least(),
    Column::number("Cost").minor(),
    Column::number("Worst call").least(),
    Column::text("Found").minor(),
];

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let runs = &view.report.runs;
    if runs.is_empty() {
        return None;
    }
    let problems = problems_by_run(view);
    let rows = runs.iter().take(MOST).map(|run| row(view, run, &problems)).collect();
    let kinds = [(Outcome::Failed, false), (Outcome::Open, false), (Outcome::Ok, true), (Outcome::Ok, false)];
    let facets = kinds.map(|(outcome, retried)| (facet(outcome, retried), marks::outcome(outcome, retried))).into();
    let table = Table { id: "run-table", caption: "runs", columns: &COLUMNS, rows, facets };
    let body = html! {
        (table.render())
        @if runs.len() > MOST {
            p.note { "The " (MOST) " costliest of " (counted(runs.len() as u64, "run")) "; all of them are in the JSON report." }
        }
    };
    let totals = &view.report.totals;
    let mut note = match totals.green_runs_with_retries {
        0 => format!("{}, {} green", counted(totals.runs, "run"), number(totals.green_runs)),
        retried => format!(
            "{}, {} green, {} of them only with retries",
            counted(totals.runs, "run"),
            number(totals.green_runs),
            number(retried)
        ),
    };
    if let Some(spent) = who::spent(totals) {
        note.push_str(&format!("; {spent}"));
    }
    Some(Section::new("runs", "Runs", note, body))
}

fn facet(outcome: Outcome, retried: bool) -> &'static str {
    match (outcome, retried) {
        (Outcome::Failed, _) => "failed",
        (Outcome::Open, _) => "open",
        (Outcome::Ok, true) => "retried",
        (Outcome::Ok, false) => "ok",
    }
}

/// Rules with a finding in each run, as far as the report keeps findings.
fn problems_by_run<'a>(view: &View<'a>) -> BTreeMap<&'a str, BTreeSet<&'static str>> {
    let mut by_run: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    for finding in &view.report.findings {
        if let Some(run) = &finding.run_id {
            by_run.entry(run).or_default().insert(finding.rule);
        }
    }
    by_run
}

fn row(view: &View<'_>, run: &Run, problems: &BTreeMap<&str, BTreeSet<&'static str>>) -> Row {
    let id = name(&run.run_id);
    let [errors, warnings, _] = run.findings;
    let found = html! {
        @if errors > 0 { (marks::findings(Severity::Error, errors)) " " }
        @if warnings > 0 { (marks::findings(Severity::Warning, warnings)) }
    };
    Row {
        cells: vec![
            Cell::keyed(html! { span.id { (id) } }, &id),
            Cell::keyed(outcome(run), format!("{} {}", facet(run.outcome, run.green_with_retries), run.calls_failed)),
            Cell::count(run.calls),
            Cell::count(run.attempts),
            Cell::keyed(html! { (format!("{:.2}", run.amplification)) }, run.amplification),
            Cell::keyed(small_histogram(&run.bars), run.worst_call_attempts),
            Cell::span(run.wait_s),
            Cell::count(run.wasted_sends),
            Cell::keyed(html! { (known_dollars(run.usd)) }, run.usd.unwrap_or(0.0)),
            Cell::count(u64::from(run.worst_call_attempts)),
            Cell::keyed(found, format!("{errors:09} {warnings:09}")),
        ],
        more: Some(more(view, run, problems.get(run.run_id.as_str()))),
        id: None,
        link: Some(format!("run={id}")),
        facet: facet(run.outcome, run.green_with_retries),
    }
}

fn outcome(run: &Run) -> Markup {
    html! {
        (marks::outcome(run.outcome, run.green_with_retries))
        @if run.calls_failed > 0 { span.faint { " " (number(run.calls_failed)) " of " (number(run.calls)) } }
    }
}

/// Cost and tokens, and what of them was needless, as far as they are known.
fn spent(run: &Run) -> Option<String> {
    let of_it = |part: Option<String>| part.map_or_else(String::new, |part| format!(" ({part} of it needless)"));
    let cost = run.usd.map(|usd| format!("{}{}", dollars(usd), of_it(run.wasted_usd.map(dollars))));
    let tokens = run.tokens.map(|n| format!("{}{}", counted(n, "token"), of_it(run.wasted_tokens.map(number))));
    let parts: Vec<String> = [cost, tokens].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn more(view: &View<'_>, run: &Run, rules: Option<&BTreeSet<&'static str>>) -> Markup {
    let mut models: Vec<String> = run.models.iter().take(MODELS).map(|model| name(model)).collect();
    if run.models.len() > MODELS {
        models.push(format!("{} more", run.models.len() - MODELS));
    }
    let waited = if run.wait_s > 0.0 { format!(", waited {}", words::span(run.wait_s)) } else { String::new() };
    html! {
        dl.terms.small {
            dt { "Time" } dd { (view.stretch(run.first, run.last)) }
            @if !models.is_empty() { dt { "Models" } dd { (models.join(", ")) } }
            dt { "Sends" } dd {
                (counted(run.attempts, "send")) " for " (counted(run.calls, "call")) ", " (number(run.wasted_sends)) " wasted" (waited)
            }
            @if let Some(spent) = spent(run) { dt { "Cost" } dd { (spent) } }
            dt { "Attempts" } dd { (in_words(&run.bars)) }
            @if let Some(rules) = rules {
                dt { "Problems" } dd { @for rule in rules { a.rule href={ "#" (rule) } { (rule) } " " } }
            }
            dt { "Link" } dd { a href={ "#run=" (percent_encoded(&name(&run.run_id))) } { code { "#run=" (name(&run.run_id)) } } }
        }
    }
}

/// "1 attempt: 49 ok, 2 failed; 2 attempts: 12 ok".
fn in_words(histogram: &Histogram) -> String {
    let parts = folded(histogram).into_iter().map(|(attempts, last, bar)| {
        let ends = [(bar.ok, "ok"), (bar.failed, "failed"), (bar.open, "open")];
        let ends: Vec<String> =
            ends.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", number(*n))).collect();
        let more = if last { " or more" } else { "" };
        format!("{attempts}{more} {}: {}", if attempts == 1 { "attempt" } else { "attempts" }, ends.join(", "))
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Attempts, whether more are counted with them, and how the calls ended.
fn folded(histogram: &Histogram) -> Vec<(u32, bool, Bar)> {
    let most = histogram.bars.keys().next_back().copied().unwrap_or(0);
    let mut slots: BTreeMap<u32, Bar> = BTreeMap::new();
    for (attempts, bar) in &histogram.bars {
        let sum = slots.entry((*attempts).clamp(1, COLUMNS_OF_BARS)).or_default();
        sum.ok += bar.ok;
        sum.failed += bar.failed;
        sum.open += bar.open;
    }
    slots.into_iter().map(|(at, bar)| (at, at == COLUMNS_OF_BARS && most > at, bar)).collect()
}

/// Columns for 1 to 8 attempts; heights grow with the logarithm, so that one call among thousands shows.
fn small_histogram(histogram: &Histogram) -> Markup {
    let slots = folded(histogram);
    let most = slots.iter().map(|(.., bar)| bar.calls()).max().unwrap_or(0);
    let height = |calls: u64| HEIGHT * (1.0 + (calls as f64).ln()) / (1.0 + (most as f64).ln());
    html! {
        svg.bars viewBox="0 0 88 14" role="img" aria-label=(in_words(histogram)) {
            title { (in_words(histogram)) }
            @for (attempts, _, bar) in &slots {
                @let full = height(bar.calls());
                @let share = |n: u64| full * n as f64 / bar.calls().max(1) as f64;
                @let x = f64::from(*attempts - 1) * 11.0;
                (part("open-part", x, HEIGHT - full, share(bar.open)))
                (part("failed-part", x, HEIGHT - full + share(bar.open), share(bar.failed)))
                (part("ok-part", x, HEIGHT - share(bar.ok), share(bar.ok)))
            }
        }
    }
}

fn part(class: &str, x: f64, y: f64, height: f64) -> Markup {
    if height <= 0.0 {
        return html! {};
    }
    html! { rect class=(class) x=(x) y=(format!("{y:.1}")) width="9" height=(format!("{height:.1}")) {} }
}
