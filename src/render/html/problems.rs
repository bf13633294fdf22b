//! Findings folded into problems, worst first; each opens its meaning, its fix and its evidence.

use super::evidence::{self, Evidences};
use super::marks;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::{name, prose};
use super::view::View;
use crate::model::{Severity, units::seconds};
use crate::render::words::{self, counted};
use crate::report::Problem;
use crate::rules::find;
use maud::{Markup, html};
use std::collections::HashMap;

/// Problems a page shows; beyond that it would not open at once.
const MOST: usize = 150;

const COLUMNS: [Column; 8] = [
    Column::text("Rule"),
    Column::text("Problem"),
    Column::text("Where").minor(),
    Column::number("Findings"),
    Column::number("Runs").minor(),
    Column::number("Needless attempts").minor(),
    Column::number("Waited").least(),
    Column::number("Last seen").least(),
];

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let mut problems: Vec<&Problem> = view.report.problems.iter().collect();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    let left_out = problems.len().saturating_sub(MOST);
    problems.truncate(MOST);
    if problems.is_empty() {
        return None;
    }
    let evidences = Evidences::of(view.report, &problems);
    let mut ids = Ids::default();
    let rows = problems.iter().map(|problem| row(view, problem, &evidences, ids.next(problem.rule))).collect();
    let facets = [Severity::Error, Severity::Warning, Severity::Info];
    let table = Table {
        id: "problem-table",
        caption: "problems",
        columns: &COLUMNS,
        rows,
        facets: facets.map(|severity| (severity.name(), marks::severity(severity))).into(),
    };
    let body = html! {
        (table.render())
        @if left_out > 0 { p.note { (counted(left_out as u64, "further problem")) " of less weight: see the JSON report." } }
    };
    Some(Section::new("problems", "Problems", found(view), body))
}

fn found(view: &View<'_>) -> String {
    let totals = &view.report.totals;
    let counts = [(totals.errors, "error"), (totals.warnings, "warning"), (totals.infos, "info")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| counted(*n, word));
    let findings = counted(totals.errors + totals.warnings + totals.infos, "finding");
    format!("{findings} ({}); repeats folded by rule, provider, model and class", counts.collect::<Vec<_>>().join(", "))
}

/// The first problem of a rule is `RL101`, the next `RL101-2`.
#[derive(Default)]
struct Ids(HashMap<&'static str, u32>);

impl Ids {
    fn next(&mut self, rule: &'static str) -> String {
        let nth = self.0.entry(rule).or_default();
        *nth += 1;
        if *nth == 1 { rule.to_owned() } else { format!("{rule}-{nth}") }
    }
}

fn row<'a>(view: &View<'_>, problem: &'a Problem, evidences: &Evidences<'a>, id: String) -> Row {
    // Worst first in ascending order, and then by code.
    let rank = format!("{} {}", Severity::Error as u8 - problem.severity as u8, problem.rule);
    let rule = html! { span class={ "rule-cell " (problem.severity.name()) } { (marks::coded(problem.severity, problem.rule)) } };
    Row {
        cells: vec![
            Cell::keyed(rule, rank),
            Cell::new(
                html! { (problem.name) @if problem.known { " " span.faint { "known" } } @if problem.grew { " " span.faint { "grew" } } },
            ),
            Cell::new(html! { span.faint { (place(problem)) } }),
            Cell::count(problem.count),
            Cell::count(problem.runs),
            Cell::count(problem.cost.sends),
            Cell::span(problem.cost.wait_s),
            Cell::keyed(view.time(problem.last_seen), problem.last_seen.0),
        ],
        more: Some(more(view, problem, evidences)),
        id: Some(id),
        link: None,
        facet: problem.severity.name(),
    }
}

fn place(problem: &Problem) -> String {
    let place = [problem.provider.as_deref(), problem.model.as_deref(), problem.class];
    place.into_iter().flatten().map(name).collect::<Vec<_>>().join(" · ")
}

fn more<'a>(view: &View<'_>, problem: &'a Problem, evidences: &Evidences<'a>) -> Markup {
    html! {
        div.about-problem {
            div {
                p.prose { (prose(&problem.example)) }
                div.fix { h3 { "Fix" } p.prose { (prose(&problem.fix)) } }
                @if let Some(rule) = find(problem.rule) {
                    div.fix.faint { h3 { "Why" } p.prose { (rule.why) } }
                }
            }
            (facts(view, problem))
            (evidence::of_problem(view, problem, evidences))
        }
    }
}

fn facts(view: &View<'_>, problem: &Problem) -> Markup {
    let runs = if problem.runs > 0 { format!(" in {}", counted(problem.runs, "run")) } else { String::new() };
    let cost = words::cost(&problem.cost);
    let long = problem.last_seen.s_since(problem.first_seen);
    html! {
        dl.terms.small {
            @if let Some(provider) = &problem.provider { dt { "Provider" } dd { (name(provider)) } }
            @if let Some(model) = &problem.model { dt { "Model" } dd { (name(model)) } }
            @if let Some(class) = problem.class { dt { "Class" } dd { code { (class) } } }
            dt { "Found" } dd { (words::times(problem.count)) (runs) }
            dt { "Seen" } dd { (view.stretch(problem.first_seen, problem.last_seen)) @if long >= 1.0 { ", over " (seconds(long)) } }
            @if !cost.is_empty() { dt { "Cost" } dd { (cost) } }
            @if !problem.request_ids.is_empty() {
                dt { "Ask about" } dd { @for id in &problem.request_ids { div { code { (name(id)) } } } }
            }
            dt { "More" } dd { code { "retrylens explain " (problem.rule) } }
        }
    }
}
