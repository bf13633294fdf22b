//! Findings grouped into problems, worst first; each opens to its meaning, fix and evidence.

use super::evidence::EvidenceByProblem;
use super::{View, nonzero_counts};
use crate::model::Severity;
use crate::render::document::{
    Block, Card, Cell, Column, Facet, Field, Place, RichText, Row, Section, SpanKind, Table,
};
use crate::render::words::{self, counted};
use crate::report::{Finding, Problem};
use crate::rules::find;
use std::collections::HashMap;

/// Maximum number of problems on an HTML page; a page with more would open slowly.
const MAX_PROBLEMS: usize = 150;
/// Maximum number of lines of an example in a terminal; some servers send whole pages as error messages.
const MAX_EXAMPLE_LINES: usize = 4;
/// Maximum number of attempts named of a problem, by file and line, in Markdown.
const MAX_PLACES: usize = 5;
/// Maximum number of attempts named of a problem without request ids, in a terminal.
const MAX_PLACES_WITHOUT_IDS: usize = 2;

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
    let evidence = EvidenceByProblem::of(report, problems.len().min(MAX_PROBLEMS));
    let mut number: HashMap<&str, u32> = HashMap::new();
    let rows = problems.iter().enumerate().map(|(at, problem)| {
        let number = number.entry(problem.rule).or_default();
        *number += 1;
        // The first problem of a rule has the id `RL101`, the next `RL101-2`.
        let id = if *number == 1 { problem.rule.to_owned() } else { format!("{}-{number}", problem.rule) };
        let more = if at < MAX_PROBLEMS { evidence.blocks(view, problem) } else { Vec::new() };
        Row { id: Some(id), more, ..row(view, problem, evidence.first(problem)) }
    });
    let table = Table::new("problem-table", "problem", &COLUMNS, rows.collect()).limits(15, 100, MAX_PROBLEMS);
    let hint = "why: retrylens explain CODE; the attempts of one: retrylens trace ID INPUT";
    let blocks = vec![Block::Table(table), Block::Prose(RichText::new(SpanKind::Faint, hint))];
    Some(Section::new("problems", "Problems", note(view), blocks))
}

fn note(view: &View<'_>) -> String {
    let totals = &view.report.totals;
    let counts = [(totals.errors, "error"), (totals.warnings, "warning"), (totals.infos, "info")];
    let findings = counted(counts.iter().map(|(n, _)| n).sum(), "finding");
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| counted(*n, word));
    format!("{findings} ({}), repeats folded", counts.collect::<Vec<_>>().join(", "))
}

fn row<'a>(view: &View<'a>, problem: &'a Problem, finding: Option<&Finding>) -> Row<'a> {
    // Sorts ascending by severity, worst first, then by code.
    let rank = format!("{} {}", Severity::Error as u8 - problem.severity as u8, problem.rule);
    let tag = tag(problem);
    Row {
        facet: Some(Facet::of(problem.severity)),
        card: Some(card(view, problem, finding)),
        ..Row::new(vec![
            Cell::keyed(RichText::new(SpanKind::Sign(problem.severity.into()), problem.rule), rank),
            Cell::new(RichText::from(problem.name).and(SpanKind::Faint, tag)),
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

fn place(problem: &Problem) -> RichText {
    RichText::place([problem.provider.as_deref(), problem.model.as_deref(), problem.class])
}

/// Formats the number of findings: "13 times in 2 runs".
fn occurrences(problem: &Problem) -> String {
    let runs = nonzero_counts(&[(problem.runs, if problem.runs == 1 { "run" } else { "runs" })]);
    runs.iter().fold(words::times(problem.count), |occurrences, runs| format!("{occurrences} in {runs}"))
}

fn card(view: &View<'_>, problem: &Problem, finding: Option<&Finding>) -> Card {
    let (place, seen) = (place(problem), view.clock.range(problem.first_seen, problem.last_seen));
    let gap = if place.is_empty() { "" } else { " · " };
    let places = |max: usize| {
        let attempts = finding.into_iter().flat_map(|finding| &finding.attempts).take(max);
        attempts.fold(RichText::default(), |all, at| all.and(SpanKind::Name, format!("{}:{}", at.file, at.line)))
    };
    let places_without_ids =
        if problem.request_ids.is_empty() { places(MAX_PLACES_WITHOUT_IDS) } else { RichText::default() };
    let ids = problem.request_ids.iter().fold(RichText::default(), |ids, id| ids.and(SpanKind::Name, id));
    Card {
        severity: problem.severity,
        title: format!("{} {}", problem.rule, problem.name),
        tag: tag(problem).to_owned(),
        right: occurrences(problem).into(),
        under: place.clone().then(gap).join(seen.clone()),
        fields: vec![
            Field::new("", problem.example.as_str(), Place::Body).lines(MAX_EXAMPLE_LINES),
            Field::new("Cost", words::cost(&problem.cost), Place::Fact),
            Field::new("Fix", problem.fix.as_str(), Place::Body),
            Field::new("Why", find(problem.rule).map_or("", |rule| rule.why), Place::Page),
            Field::new("Where", place, Place::Aside),
            Field::new("Found", occurrences(problem), Place::Aside),
            Field::new("Seen", seen, Place::Aside),
            Field::new("IDs", ids, Place::Fact).lines(1),
            Field::new("At", places_without_ids, Place::Fact),
            Field::new("Attempts", places(MAX_PLACES), Place::Comment),
        ],
        compact: problem.severity == Severity::Info,
        faint: false,
    }
}
