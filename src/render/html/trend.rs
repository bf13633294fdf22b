//! The page of many nights: the chart, a row a night that leads to its own page, the problems that come and go.

use super::evidence::percent_encoded;
use super::figure::figure;
use super::page::{Page, Section, titled};
use super::table::{Cell, Column, Row, Table};
use super::untrusted::{name, prose};
use super::{HtmlOptions, marks};
use crate::compare::{Course, Jump, Measure, Night, Presence, Trend};
use crate::render::{charts, compared, words};
use maud::{Markup, html};
use std::io::{self, Write};
use std::path::{Component, Path};

/// Problems a page shows.
const MOST: usize = 300;

const NIGHTS: [Column; 12] = [
    Column::text("Night"),
    Column::number("Calls"),
    Column::number("Sends").least(),
    Column::number("Failed"),
    Column::number("Open").minor(),
    Column::number("Amplification"),
    Column::number("Wasted").minor(),
    Column::number("Waited").minor(),
    Column::number("429s").minor(),
    Column::number("Errors"),
    Column::number("Warnings").minor(),
    Column::number("Infos").least(),
];

const PROBLEMS: [Column; 7] = [
    Column::text("Rule"),
    Column::text("Problem"),
    Column::text("Where").minor(),
    Column::text("Oldest to newest").least(),
    Column::number("Nights"),
    Column::number("Findings"),
    Column::text("Course"),
];

/// Writes a trend as a page. `pages` are the pages of the nights, relative to this one, where there are any.
///
/// # Errors
/// What writing to `out` fails with, or drawing the chart.
pub fn trend(trend: &Trend, pages: &[Option<&Path>], options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    let labels = compared::labels(trend, options.zone);
    let chart = figure(&charts::nights(trend, options.zone));
    let chart = Section::new("chart", "Course", "night by night", chart.map_err(io::Error::other)?);
    let sections = [
        Some(chart),
        Some(nights(trend, pages, &labels)),
        problems(trend, &labels),
        Some(Section::new(
            "method",
            "Method",
            "when a night departs",
            html! {
                p.prose { (compared::trend_basis(&trend.basis)) }
            },
        )),
    ];
    let page = Page {
        title: &titled("Retries, night by night", trend.title.as_deref()),
        about: html! { (words::counted(trend.nights.len() as u64, "night")) " · " (options.zone) },
        lead: lead(trend, &labels),
        sections: sections.into_iter().flatten().collect(),
        generator: &trend.generator,
    };
    out.write_all(page.render().as_bytes())
}

fn lead(trend: &Trend, labels: &[String]) -> Markup {
    let (first, rest) = trend.verdict.split_once(". ").unwrap_or((trend.verdict.trim_end_matches('.'), ""));
    let last = trend.nights.last().map(|night| night.jumps.as_slice()).unwrap_or_default();
    let sign = if last.iter().any(|jump| jump.up) { "warning" } else { "ok" };
    let jumps: Vec<(&String, &Jump)> = labels
        .iter()
        .zip(&trend.nights)
        .flat_map(|(label, night)| night.jumps.iter().map(move |jump| (label, jump)))
        .collect();
    html! {
        h1 { (marks::alone(sign)) (prose(first)) "." }
        @if !rest.is_empty() { p.rest { (prose(rest)) } }
        @if !trend.notices.is_empty() {
            ul.notices { @for notice in &trend.notices { li { (marks::alone("warning")) (prose(notice)) } } }
        }
        @if !jumps.is_empty() {
            dl.terms { @for (label, jump) in jumps { dt { (arrow(jump)) " " (label) } dd { (jump.words()) } } }
        }
    }
}

fn arrow(jump: &Jump) -> Markup {
    let (class, arrow) = if jump.up { ("error", "▲") } else { ("ok", "▼") };
    html! { span class={ "mark " (class) } { (arrow) } }
}

fn nights(trend: &Trend, pages: &[Option<&Path>], labels: &[String]) -> Section {
    let rows = trend
        .nights
        .iter()
        .zip(labels)
        .enumerate()
        .map(|(at, (night, label))| Row::plain(night_cells(night, label, pages.get(at).copied().flatten())));
    let table =
        Table { id: "night-table", caption: "nights", columns: &NIGHTS, rows: rows.collect(), facets: Vec::new() };
    Section::new("nights", "Nights", "oldest first", table.render())
}

fn night_cells(night: &Night, label: &str, page: Option<&Path>) -> Vec<Cell> {
    let title = name(&night.file);
    let shown = html! {
        @if let Some(page) = page { a href=(link(page)) title=(title) { (label) } } @else { span title=(title) { (label) } }
    };
    let measure = |measure: Measure| {
        let rate = night.measures.get(&measure).copied();
        let text = rate.map_or_else(String::new, |rate| match measure {
            Measure::Errors | Measure::Warnings => words::number(rate.part),
            Measure::WaitMs => words::span(rate.part as f64 / 1000.0),
            _ => measure.shown(rate.rate),
        });
        let key = rate.map_or(0.0, |rate| rate.rate);
        Cell::keyed(html! { @if let Some(jump) = night.jump(measure) { (arrow(jump)) " " } (text) }, key)
    };
    let ends = [Cell::keyed(shown, night.window.first.0), Cell::count(night.calls), Cell::count(night.sends)];
    ends.into_iter().chain(Measure::ALL.map(measure)).chain([Cell::count(night.findings[2])]).collect()
}

/// A path as a link: each name encoded, so that none is taken for a scheme, a query or markup.
fn link(path: &Path) -> String {
    let names = path.components().map(|component| match component {
        Component::RootDir => String::new(),
        Component::ParentDir => "..".to_owned(),
        Component::CurDir => ".".to_owned(),
        other => percent_encoded(&other.as_os_str().to_string_lossy()),
    });
    names.collect::<Vec<_>>().join("/")
}

fn problems(trend: &Trend, labels: &[String]) -> Option<Section> {
    if trend.problems.is_empty() {
        return None;
    }
    let rows = trend.problems.iter().take(MOST).map(|course| Row::plain(problem_cells(course, labels))).collect();
    let left_out = trend.problems.len().saturating_sub(MOST);
    let table = Table { id: "problem-table", caption: "problems", columns: &PROBLEMS, rows, facets: Vec::new() };
    let body = html! {
        (table.render())
        @if left_out > 0 { p.note { (words::counted(left_out as u64, "further problem")) ": see the JSON form." } }
    };
    Some(Section::new("problems", "Problems", "those of the last night first", body))
}

fn problem_cells(course: &Course, labels: &[String]) -> Vec<Cell> {
    let place: Vec<String> = course.key.place().map(name).collect();
    let code = name(&course.key.rule);
    let sign = match course.presence {
        Presence::New | Presence::Back => "warning",
        Presence::Gone => "ok",
        Presence::Untold => "open",
        Presence::Since | Presence::OnAndOff | Presence::Always => "info",
    };
    vec![
        Cell::keyed(marks::coded(course.severity, &code), &code),
        Cell::new(html! { (name(&course.name)) }),
        Cell::new(html! { span.faint { (place.join(" · ")) } }),
        Cell::new(html! { span.nowrap { (compared::sparkline(course.rates.iter().copied())) } }),
        Cell::count(course.nights() as u64),
        Cell::count(course.findings()),
        Cell::new(html! { span class={ "mark " (sign) } { (compared::presence(course, labels)) } }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_paths_and_nothing_else() {
        for (path, shown) in [
            ("night.html", "night.html"),
            ("../a b/ü\".html", "../a%20b/%C3%BC%22.html"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29"),
            ("/a/b?c#d.html", "/a/b%3Fc%23d.html"),
        ] {
            assert_eq!(link(Path::new(path)), shown);
        }
    }
}
