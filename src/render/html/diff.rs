//! The page of a comparison: what changed first, all measures below it.

use super::page::{Page, Section, titled};
use super::table::{Cell, Column, Row, Table};
use super::untrusted::{name, prose};
use super::{HtmlOptions, marks};
use crate::compare::{Basis, Change, Changed, Diff, Shift};
use crate::model::{Severity, units::per_thousand};
use crate::render::{compared, words};
use crate::rules::find;
use maud::{Markup, html};
use std::io::{self, Write};

/// Problems a page shows.
const MOST: usize = 300;

const MEASURES: [Column; 5] = [
    Column::text("Measure"),
    Column::number("Old"),
    Column::number("New"),
    Column::text("Change"),
    Column::text("Counted").minor(),
];

const PROBLEMS: [Column; 7] = [
    Column::text("Change"),
    Column::text("Rule"),
    Column::text("Problem"),
    Column::text("Where").minor(),
    Column::number("Old"),
    Column::number("New"),
    Column::number("p").least(),
];

/// Writes a comparison as a page.
///
/// # Errors
/// What writing to `out` fails with.
pub fn diff(diff: &Diff, options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    let sections = [problems(diff), Some(measures(diff)), Some(method(diff))];
    let page = Page {
        title: &titled("Retries compared", diff.title.as_deref()),
        about: html! { (name(&diff.old.name)) " → " (name(&diff.new.name)) " · " (options.zone) },
        lead: lead(diff, options),
        sections: sections.into_iter().flatten().collect(),
        generator: &diff.generator,
    };
    out.write_all(page.render().as_bytes())
}

fn lead(diff: &Diff, options: &HtmlOptions) -> Markup {
    let (first, rest) = diff.verdict.split_once(". ").unwrap_or((diff.verdict.trim_end_matches('.'), ""));
    let sign = match diff.worst() {
        Some(severity) if severity > Severity::Info => severity.name(),
        _ => "ok",
    };
    html! {
        h1 { (marks::alone(sign)) (prose(first)) "." }
        @if !rest.is_empty() { p.rest { (prose(rest)) } }
        @if !diff.notices.is_empty() {
            ul.notices { @for notice in &diff.notices { li { (marks::alone("warning")) (prose(notice)) } } }
        }
        dl.terms {
            dt { "Old" } dd { (name(&diff.old.name)) ": " (compared::side(&diff.old, options.zone)) }
            dt { "New" } dd { (name(&diff.new.name)) ": " (compared::side(&diff.new, options.zone)) }
        }
    }
}

fn sign(change: Change) -> Markup {
    let sign = match change {
        Change::New | Change::Worse => "error",
        Change::Fixed | Change::Better => "ok",
        Change::Untold => "open",
        Change::Same => "info",
    };
    html! { span class={ "mark " (sign) } { (marks::alone(sign)) (change.name()) } }
}

fn measures(diff: &Diff) -> Section {
    let rows = diff.measures.iter().map(|shift| Row::plain(measure(shift))).collect();
    let table = Table { id: "measure-table", caption: "measures", columns: &MEASURES, rows, facets: Vec::new() };
    Section::new("measures", "Measures", "of the whole, side by side", table.render())
}

fn measure(shift: &Shift) -> Vec<Cell> {
    let measure = shift.measure;
    let rate = |rate: f64| Cell::keyed(html! { (measure.shown(rate)) }, rate);
    let change = if shift.change == Change::Same {
        html! {}
    } else {
        sign(shift.change)
    };
    let counted = format!("{}; {}", measure.counted(shift.old), measure.counted(shift.new));
    vec![
        Cell::new(html! { (measure.label()) }),
        rate(shift.old.rate),
        rate(shift.new.rate),
        Cell::keyed(change, compared::verdict(shift)),
        Cell::new(html! { span.faint { (counted) } }),
    ]
}

fn problems(diff: &Diff) -> Option<Section> {
    if diff.problems.is_empty() {
        return None;
    }
    let rows = diff.problems.iter().take(MOST).map(|problem| row(problem, &diff.basis)).collect();
    let left_out = diff.problems.len().saturating_sub(MOST);
    let facets = Change::ALL.map(|change| (change.name(), sign(change))).into();
    let table = Table { id: "problem-table", caption: "problems", columns: &PROBLEMS, rows, facets };
    let body = html! {
        (table.render())
        @if left_out > 0 { p.note { (words::counted(left_out as u64, "further problem")) ": see the JSON form." } }
    };
    Some(Section::new("problems", "Problems", "findings per 1,000 calls", body))
}

fn row(problem: &Changed, basis: &Basis) -> Row {
    let place: Vec<String> = problem.key.place().map(name).collect();
    let rate = |rate: f64| Cell::keyed(html! { @if rate > 0.0 { (per_thousand(rate)) } }, rate);
    let code = name(&problem.key.rule);
    Row {
        cells: vec![
            Cell::keyed(sign(problem.change), problem.change as u8),
            Cell::keyed(marks::coded(problem.severity, &code), &code),
            Cell::new(html! { span.faint[problem.may_be_chance(basis)] { (name(&problem.name)) } }),
            Cell::new(html! { span.faint { (place.join(" · ")) } }),
            rate(problem.old.rate),
            rate(problem.new.rate),
            Cell::keyed(
                html! { span.faint[problem.may_be_chance(basis)] { (compared::chance(problem.p_value)) } },
                problem.p_value,
            ),
        ],
        more: Some(more(problem, basis)),
        id: None,
        link: None,
        facet: problem.change.name(),
    }
}

fn more(problem: &Changed, basis: &Basis) -> Markup {
    html! {
        div.about-problem {
            div {
                p.prose { (prose(&problem.example)) }
                div.fix { h3 { "Fix" } p.prose { (prose(&problem.fix)) } }
                @if let Some(rule) = find(&problem.key.rule) {
                    div.fix.faint { h3 { "Why" } p.prose { (rule.why) } }
                }
            }
            div.small {
                p { (compared::rates(problem)) }
                @for remark in compared::remarks(problem, basis) { p.faint { (remark) } }
            }
        }
    }
}

fn method(diff: &Diff) -> Section {
    let body = html! { p.prose { (compared::basis(&diff.basis)) } };
    Section::new("method", "Method", "when a change counts", body)
}
