//! Findings grouped into problems, worst first; each opens to its meaning, fix and evidence.

use super::evidence::Evidences;
use super::{View, each};
use crate::model::Severity;
use crate::render::document::{Block, Card, Cell, Column, Facet, Field, Place, Rich, Row, Section, Table, Tone};
use crate::render::words::{self, counted};
use crate::report::Problem;
use crate::rules::find;
use std::collections::HashMap;

/// Maximum number of problems on an HTML page; a page with more would open slowly.
const PAGE: usize = 150;
/// Maximum number of lines of an example in a terminal; some servers send whole pages as error messages.
const EXAMPLE: usize = 4;
/// Maximum number of attempts named of a problem, by file and line.
const PLACES: usize = 5;
/// The same for a problem without request ids.
const PLACES_ALONE: usize = 2;

const COLUMNS: [Column; 8] = [
    Column::words("Rule"),
    Column::words("Problem"),
    Column::id("Where").rank(1),
    Column::number("Findings"),
    Column::number("Runs").rank(1),
    Column::number("Needless attempts").rank(2),
    Column::number("Waited").rank(3),
    Column::number("Last seen").rank(4),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let report = view.report;
    let mut problems: Vec<&Problem> = report.problems.iter().collect();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    if problems.is_empty() {
        return None;
    }
    let evidences = Evidences::of(report, problems.len().min(PAGE));
    let mut nth: HashMap<&str, u32> = HashMap::new();
    let rows = problems.iter().enumerate().map(|(at, problem)| {
        let nth = nth.entry(problem.rule).or_default();
        *nth += 1;
        // The first problem of a rule has the id `RL101`, the next `RL101-2`.
        let id = if *nth == 1 { problem.rule.to_owned() } else { format!("{}-{nth}", problem.rule) };
        let more = if at < PAGE { evidences.blocks(view, problem) } else { Vec::new() };
        Row { id: Some(id), more, ..row(view, problem) }
    });
    let table = Table::new("problem-table", "problem", &COLUMNS, rows.collect()).limits(15, 100, PAGE);
    let hint = "why: retrylens explain CODE; the attempts of one: retrylens trace ID INPUT";
    let blocks = vec![Block::Table(table), Block::Prose(Rich::new(Tone::Faint, hint))];
    Some(Section::new("problems", "Problems", found(view), blocks))
}

fn found(view: &View<'_>) -> String {
    let totals = &view.report.totals;
    let counts = [(totals.errors, "error"), (totals.warnings, "warning"), (totals.infos, "info")];
    let findings = counted(counts.iter().map(|(n, _)| n).sum(), "finding");
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| counted(*n, word));
    format!("{findings} ({}), repeats folded", counts.collect::<Vec<_>>().join(", "))
}

fn row<'a>(view: &View<'a>, problem: &'a Problem) -> Row<'a> {
    // Sorts ascending by severity, worst first, then by code.
    let rank = format!("{} {}", Severity::Error as u8 - problem.severity as u8, problem.rule);
    let tag = tag(problem);
    Row {
        facet: Some(Facet::of(problem.severity)),
        card: Some(card(view, problem)),
        ..Row::new(vec![
            Cell::keyed(Rich::new(Tone::Sign(problem.severity.into()), problem.rule), rank),
            Cell::new(Rich::from(problem.name).and(Tone::Faint, tag)),
            Cell::new(place(problem)),
            Cell::count(problem.count),
            Cell::count(problem.runs),
            Cell::count(problem.cost.sends),
            Cell::span(problem.cost.wait_s),
            Cell::keyed(view.clock.time(problem.last_seen), problem.last_seen.0),
        ])
    }
}

/// Returns a remark on the problem if it is in the baseline.
fn tag(problem: &Problem) -> &'static str {
    match (problem.known, problem.grew) {
        (true, _) => " (known)",
        (_, true) => " (grew)",
        _ => "",
    }
}

fn place(problem: &Problem) -> Rich {
    Rich::place([problem.provider.as_deref(), problem.model.as_deref(), problem.class])
}

/// Formats the number of findings: "13 times in 2 runs".
fn often(problem: &Problem) -> String {
    let runs = each(&[(problem.runs, if problem.runs == 1 { "run" } else { "runs" })]);
    runs.iter().fold(words::times(problem.count), |often, runs| format!("{often} in {runs}"))
}

fn card(view: &View<'_>, problem: &Problem) -> Card {
    let (place, seen) = (place(problem), view.clock.stretch(problem.first_seen, problem.last_seen));
    let gap = if place.is_empty() { "" } else { " · " };
    let finding = view.report.findings.iter().find(|finding| finding.problem_key() == problem.key());
    let places = |most: usize| {
        let attempts = finding.into_iter().flat_map(|finding| &finding.attempts).take(most);
        attempts.fold(Rich::default(), |all, at| all.and(Tone::Name, format!("{}:{}", at.file, at.line)))
    };
    let alone = if problem.request_ids.is_empty() { places(PLACES_ALONE) } else { Rich::default() };
    let ids = problem.request_ids.iter().fold(Rich::default(), |ids, id| ids.and(Tone::Name, id));
    Card {
        severity: problem.severity,
        title: format!("{} {}", problem.rule, problem.name),
        tag: tag(problem).to_owned(),
        right: often(problem).into(),
        under: place.clone().then(gap).join(seen.clone()),
        fields: vec![
            Field::new("", problem.example.as_str(), Place::Body).lines(EXAMPLE),
            Field::new("Cost", words::cost(&problem.cost), Place::Fact),
            Field::new("Fix", problem.fix.as_str(), Place::Body),
            Field::new("Why", find(problem.rule).map_or("", |rule| rule.why), Place::Page),
            Field::new("Where", place, Place::Aside),
            Field::new("Found", often(problem), Place::Aside),
            Field::new("Seen", seen, Place::Aside),
            Field::new("IDs", ids, Place::Fact).lines(1),
            Field::new("At", alone, Place::Fact),
            Field::new("Attempts", places(PLACES), Place::Comment),
        ],
        compact: problem.severity == Severity::Info,
        faint: false,
    }
}
