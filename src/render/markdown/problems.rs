//! Problems: a table, and each in full behind a fold.

use super::escape::{code, inline};
use super::page::Page;
use super::{NAME, SENTENCE};
use crate::model::{Severity, Zone};
use crate::render::words;
use crate::report::{Finding, Problem, Report};

/// Rows of the table; the JSON report has all of them.
const ROWS: usize = 100;
/// Problems told in full.
const IN_FULL: usize = 40;
/// Attempts named of one problem.
const PLACES: usize = 5;

const HEAD: [&str; 5] = ["severity", "rule", "where", "found", "cost"];

pub(super) fn write(report: &Report, zone: Zone, page: &mut Page) {
    let rows: Vec<Vec<String>> = report.problems.iter().take(ROWS).map(row).collect();
    let rest = match report.problems.len().saturating_sub(ROWS) {
        0 => String::new(),
        more => format!("{} in the JSON report only.", words::counted(more as u64, "more problem")),
    };
    page.table("### Problems", &HEAD, &rows, &rest);
    for problem in report.problems.iter().filter(|problem| problem.severity > Severity::Info).take(IN_FULL) {
        let finding = report.findings.iter().find(|finding| finding.problem_key() == problem.key());
        page.block(&in_full(problem, finding, zone));
    }
}

fn row(problem: &Problem) -> Vec<String> {
    let known = match (problem.known, problem.grew) {
        (true, _) => " (known)",
        (_, true) => " (grew)",
        _ => "",
    };
    vec![
        format!("{} {}{known}", mark(problem.severity), problem.severity.name()),
        format!("{} {}", problem.rule, problem.name),
        place(problem),
        often(problem),
        inline(&words::cost(&problem.cost), NAME),
    ]
}

fn mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "❌",
        Severity::Warning => "⚠️",
        Severity::Info => "ℹ️",
    }
}

fn place(problem: &Problem) -> String {
    let parts = [problem.provider.as_deref(), problem.model.as_deref(), problem.class];
    parts.into_iter().flatten().map(|part| inline(part, NAME)).collect::<Vec<_>>().join(" · ")
}

fn often(problem: &Problem) -> String {
    match problem.runs {
        0 => words::times(problem.count),
        runs => format!("{} in {}", words::times(problem.count), words::counted(runs, "run")),
    }
}

/// Inside `<summary>` Markdown has no meaning, so nothing of a log may stand there.
fn in_full(problem: &Problem, finding: Option<&Finding>, zone: Zone) -> String {
    let (rule, name, severity) = (problem.rule, problem.name, problem.severity.name());
    let mut lines = vec![format!("Found: {}", inline(&problem.example, SENTENCE))];
    let place = place(problem);
    if !place.is_empty() {
        lines.push(format!("Where: {place}"));
    }
    let when = |time| zone.show(time, "%Y-%m-%d %H:%M:%S %Z");
    lines.push(match (when(problem.first_seen), when(problem.last_seen)) {
        (first, last) if first == last => format!("Seen: {first}"),
        (first, last) => format!("Seen: {first} to {last}"),
    });
    lines.push(format!("Fix: {}", inline(&problem.fix, SENTENCE)));
    if !problem.request_ids.is_empty() {
        let ids: Vec<String> = problem.request_ids.iter().map(|id| code(id, NAME)).collect();
        lines.push(format!("Request ids: {}", ids.join(", ")));
    }
    if let Some(places) = finding.map(places).filter(|places| !places.is_empty()) {
        lines.push(format!("Attempts: {places}"));
    }
    let list = lines.iter().map(|line| format!("- {line}\n")).collect::<String>();
    format!("<details><summary>{severity} {rule} {name}, {}</summary>\n\n{list}\n</details>", often(problem))
}

/// `file:line` of the attempts the earliest finding rests on.
fn places(finding: &Finding) -> String {
    let place = |at: &crate::report::Sighting| code(&format!("{}:{}", at.file, at.line), NAME);
    let mut shown: Vec<String> = finding.attempts.iter().take(PLACES).map(place).collect();
    if finding.attempts.len() > PLACES {
        shown.push(format!("{} more", finding.attempts.len() - PLACES));
    }
    shown.join(", ")
}
