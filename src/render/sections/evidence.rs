//! Single findings, and the attempts they are based on, in order.

use super::View;
use crate::judge::KEPT_PER_PROBLEM;
use crate::model::Evidence;
use crate::model::units::seconds;
use crate::render::document::{Block, Cell, Column, RichText, Row, SpanKind, Table, Target};
use crate::render::words::{self, number};
use crate::report::{AttemptRef, Finding, Problem, ProblemIdentity, Report};
use std::collections::HashMap;

/// Maximum number of findings on a page, over all problems.
const MAX_FINDINGS: usize = 250;
/// Maximum number of findings shown of one problem.
const MAX_PER_PROBLEM: usize = 20;
/// Maximum number of values shown of a list.
const MAX_NUMBERS: usize = 16;

const ATTEMPTS: [Column; 7] = [
    Column::number("Attempt"),
    Column::words("Sent"),
    Column::number("After the last"),
    Column::number("Status"),
    Column::words("Class"),
    Column::id("Request id"),
    Column::id("Line"),
];

/// The findings of each problem. At most `max_per_problem` of each are shown, to keep the page small.
pub(super) struct EvidenceByProblem<'a> {
    by_problem: HashMap<ProblemIdentity<'a>, Vec<&'a Finding>>,
    max_per_problem: usize,
}

impl<'a> EvidenceByProblem<'a> {
    pub(super) fn of(report: &'a Report, problems: usize) -> EvidenceByProblem<'a> {
        let by_problem = report.findings_by_problem();
        EvidenceByProblem { by_problem, max_per_problem: (MAX_FINDINGS / problems.max(1)).clamp(1, MAX_PER_PROBLEM) }
    }

    /// Returns the first finding of a problem.
    pub(super) fn first(&self, problem: &'a Problem) -> Option<&'a Finding> {
        self.by_problem.get(&problem.key()).and_then(|findings| findings.first().copied())
    }

    pub(super) fn blocks(&self, view: &View<'a>, problem: &'a Problem) -> Vec<Block<'a>> {
        let all = self.by_problem.get(&problem.key()).map_or(&[][..], Vec::as_slice);
        let shown = &all[..all.len().min(self.max_per_problem)];
        let mut blocks = vec![Block::Heading("Evidence".to_owned())];
        for finding in shown {
            // With a single finding there is nothing to choose from, and its message is already above.
            match problem.count {
                1 => blocks.extend(finding_blocks(view, finding)),
                _ => blocks.push(Block::Details(finding.message.as_str().into(), finding_blocks(view, finding))),
            }
        }
        if problem.count > shown.len() as u64 {
            let (shown, all) = (number(shown.len() as u64), number(problem.count));
            blocks.push(Block::Note(format!(
                "The {shown} costliest of {all} findings; --output json=FILE keeps up to {KEPT_PER_PROBLEM} of each problem."
            )));
        }
        blocks
    }
}

fn finding_blocks<'a>(view: &View<'_>, finding: &'a Finding) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::Prose(description(finding))];
    let attempts = &finding.attempts;
    if !attempts.is_empty() {
        let rows = (0..attempts.len()).map(|nth| attempt(view, attempts, nth)).collect();
        let table = Table::new("", "attempt", &ATTEMPTS, rows);
        blocks.push(Block::Table(Table { fixed: true, ..table }));
    }
    let facts = finding.evidence.iter().map(|(key, value)| (key_in_words(key), figure(view, key, value)));
    let facts = facts.map(|(key, value)| RichText::new(SpanKind::Faint, format!("{key} ")).then(value));
    let facts = facts.fold(RichText::default(), |all, fact| {
        let gap = if all.is_empty() { "" } else { " · " };
        all.and(SpanKind::Faint, gap).join(fact)
    });
    if !facts.is_empty() {
        blocks.push(Block::Prose(facts));
    }
    blocks
}

fn description(finding: &Finding) -> RichText {
    let mut text = RichText::default();
    if let Some(run) = &finding.run_id {
        text = text.then("run ").and(SpanKind::Link(Target::Run(run.clone())), run).then(" · ");
    }
    if let Some(call) = &finding.call_id {
        text = text.then("call ").and(SpanKind::Name, call).then(" · ");
    }
    if let Some(grouping) = finding.grouping {
        text = text.then(format!("{} · ", grouping_in_words(grouping)));
    }
    let cost = words::cost(&finding.cost);
    let gap = if cost.is_empty() { "" } else { " · " };
    text.then(format!("{} confidence{gap}{cost}", finding.confidence.name()))
}

/// Describes how the attempts of the call were grouped.
fn grouping_in_words(grouping: &str) -> &str {
    match grouping {
        "explicit" => "a call the log names",
        "counter" => "a call identified by its attempt numbers",
        "body" => "a call identified by its request body",
        "inferred" => "a call inferred from its shape",
        other => other,
    }
}

fn attempt<'a>(view: &View<'_>, attempts: &[AttemptRef], nth: usize) -> Row<'a> {
    let attempt = &attempts[nth];
    let previous = nth.checked_sub(1).map(|last| &attempts[last]);
    let not_shown = previous.map_or(0, |previous| attempt.attempt.saturating_sub(previous.attempt).saturating_sub(1));
    let attempt_number = match not_shown {
        0 => RichText::from(attempt.attempt.to_string()),
        n => RichText::new(SpanKind::Faint, format!("({n} more between) ")).then(attempt.attempt.to_string()),
    };
    let after = previous.map_or_else(String::new, |previous| match attempt.ts.s_since(previous.ts) {
        s if s < 0.0 => format!("−{}", seconds(-s)),
        s => seconds(s),
    });
    Row::new(vec![
        Cell::new(attempt_number),
        Cell::new(view.clock.exact(attempt.ts)),
        Cell::new(after),
        Cell::new(attempt.status.map_or_else(String::new, |status| status.to_string())),
        attempt.class.map_or_else(|| Cell::new(RichText::new(SpanKind::Good, "ok")), Cell::code),
        Cell::name(attempt.request_id.clone().unwrap_or_default()),
        Cell::name(format!("{}:{}", attempt.file, attempt.line)),
    ])
}

/// Formats a key in words: `waited_s` is "waited".
fn key_in_words(key: &str) -> String {
    // Keys use the word of the JSON contract.
    key.strip_suffix("_s").unwrap_or(key).replace("sends", "attempts").replace('_', " ")
}

fn figure(view: &View<'_>, key: &str, value: &Evidence) -> String {
    let figure = |x: f64| {
        if key.ends_with("_s") && x >= 0.0 { seconds(x) } else { crate::model::rounded(x).to_string() }
    };
    match value {
        Evidence::Count(n) => number(*n),
        Evidence::Number(x) => figure(*x),
        Evidence::Text(text) => text.clone(),
        Evidence::Word(word) => (*word).to_owned(),
        Evidence::At(time) => view.clock.full(*time),
        Evidence::Numbers(list) => {
            let mut shown: Vec<String> = list.iter().take(MAX_NUMBERS).map(|x| figure(*x)).collect();
            if list.len() > MAX_NUMBERS {
                shown.push(format!("and {} more", list.len() - MAX_NUMBERS));
            }
            shown.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_in_words() {
        assert_eq!(key_in_words("waited_s"), "waited");
        assert_eq!(key_in_words("sends_after"), "attempts after");
    }
}
