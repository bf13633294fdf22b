//! Single findings, and the attempts they are based on, in order.

use super::View;
use crate::judge::KEPT_PER_PROBLEM;
use crate::model::Evidence;
use crate::model::units::seconds;
use crate::render::document::{Block, Cell, Column, Rich, Row, Table, Target, Tone};
use crate::render::words::{self, number};
use crate::report::{Finding, Problem, ProblemIdentity, Report, Sighting};
use std::collections::HashMap;

/// Maximum number of findings on a page, over all problems.
const MOST: usize = 250;
/// Maximum number of findings shown of one problem.
const OF_ONE: usize = 20;
/// Maximum number of values shown of a list.
const NUMBERS: usize = 16;

const ATTEMPTS: [Column; 7] = [
    Column::number("Attempt"),
    Column::words("Sent"),
    Column::number("After the last"),
    Column::number("Status"),
    Column::words("Class"),
    Column::id("Request id"),
    Column::id("Line"),
];

/// The findings of each problem, limited to `each` per problem to keep the page small.
pub(super) struct Evidences<'a> {
    by_problem: HashMap<ProblemIdentity<'a>, Vec<&'a Finding>>,
    each: usize,
}

impl<'a> Evidences<'a> {
    pub(super) fn of(report: &'a Report, problems: usize) -> Evidences<'a> {
        let mut by_problem: HashMap<ProblemIdentity<'a>, Vec<&'a Finding>> = HashMap::new();
        for finding in &report.findings {
            by_problem.entry(finding.problem_key()).or_default().push(finding);
        }
        Evidences { by_problem, each: (MOST / problems.max(1)).clamp(1, OF_ONE) }
    }

    pub(super) fn blocks(&self, view: &View<'a>, problem: &'a Problem) -> Vec<Block<'a>> {
        let all = self.by_problem.get(&problem.key()).map_or(&[][..], Vec::as_slice);
        let shown = &all[..all.len().min(self.each)];
        let mut blocks = vec![Block::Heading("Evidence".to_owned())];
        for finding in shown {
            // With a single finding there is nothing to choose from, and its message is already above.
            match problem.count {
                1 => blocks.extend(one(view, finding)),
                _ => blocks.push(Block::Fold(finding.message.as_str().into(), one(view, finding))),
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

fn one<'a>(view: &View<'_>, finding: &'a Finding) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::Prose(whereabouts(finding))];
    let attempts = &finding.attempts;
    if !attempts.is_empty() {
        let rows = (0..attempts.len()).map(|nth| attempt(view, attempts, nth)).collect();
        let table = Table::new("", "attempt", &ATTEMPTS, rows);
        blocks.push(Block::Table(Table { fixed: true, ..table }));
    }
    let facts = finding.evidence.iter().map(|(key, value)| (spoken(key), figure(view, key, value)));
    let facts = facts.map(|(key, value)| Rich::new(Tone::Faint, format!("{key} ")).then(value));
    let facts = facts.fold(Rich::default(), |all, one| {
        let gap = if all.is_empty() { "" } else { " · " };
        all.and(Tone::Faint, gap).join(one)
    });
    if !facts.is_empty() {
        blocks.push(Block::Prose(facts));
    }
    blocks
}

fn whereabouts(finding: &Finding) -> Rich {
    let mut text = Rich::default();
    if let Some(run) = &finding.run_id {
        text = text.then("run ").and(Tone::Link(Target::Run(run.clone())), run).then(" · ");
    }
    if let Some(call) = &finding.call_id {
        text = text.then("call ").and(Tone::Name, call).then(" · ");
    }
    if let Some(grouping) = finding.grouping {
        text = text.then(format!("{} · ", grouped(grouping)));
    }
    let cost = words::cost(&finding.cost);
    let gap = if cost.is_empty() { "" } else { " · " };
    text.then(format!("{} confidence{gap}{cost}", finding.confidence.name()))
}

/// Describes how the attempts of the call were grouped.
fn grouped(grouping: &str) -> &str {
    match grouping {
        "explicit" => "a call the log names",
        "counter" => "a call identified by its attempt numbers",
        "body" => "a call identified by its request body",
        "inferred" => "a call inferred from its shape",
        other => other,
    }
}

fn attempt<'a>(view: &View<'_>, attempts: &[Sighting], nth: usize) -> Row<'a> {
    let attempt = &attempts[nth];
    let before = nth.checked_sub(1).map(|last| &attempts[last]);
    let between = before.map_or(0, |before| attempt.attempt.saturating_sub(before.attempt).saturating_sub(1));
    let number_of = match between {
        0 => Rich::from(attempt.attempt.to_string()),
        n => Rich::new(Tone::Faint, format!("({n} more between) ")).then(attempt.attempt.to_string()),
    };
    let after = before.map_or_else(String::new, |before| match attempt.ts.s_since(before.ts) {
        s if s < 0.0 => format!("−{}", seconds(-s)),
        s => seconds(s),
    });
    Row::new(vec![
        Cell::new(number_of),
        Cell::new(view.clock.exact(attempt.ts)),
        Cell::new(after),
        Cell::new(attempt.status.map_or_else(String::new, |status| status.to_string())),
        attempt.class.map_or_else(|| Cell::new(Rich::new(Tone::Good, "ok")), Cell::code),
        Cell::name(attempt.request_id.clone().unwrap_or_default()),
        Cell::name(format!("{}:{}", attempt.file, attempt.line)),
    ])
}

/// Formats a key in words: `waited_s` is "waited".
fn spoken(key: &str) -> String {
    // Keys use the word of the JSON contract.
    key.strip_suffix("_s").unwrap_or(key).replace("sends", "attempts").replace('_', " ")
}

fn figure(view: &View<'_>, key: &str, value: &Evidence) -> String {
    let number_of = |x: f64| {
        if key.ends_with("_s") && x >= 0.0 { seconds(x) } else { crate::model::rounded(x).to_string() }
    };
    match value {
        Evidence::Count(n) => number(*n),
        Evidence::Number(x) => number_of(*x),
        Evidence::Text(text) => text.clone(),
        Evidence::Word(word) => (*word).to_owned(),
        Evidence::At(time) => view.clock.full(*time),
        Evidence::Numbers(list) => {
            let mut shown: Vec<String> = list.iter().take(NUMBERS).map(|x| number_of(*x)).collect();
            if list.len() > NUMBERS {
                shown.push(format!("and {} more", list.len() - NUMBERS));
            }
            shown.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_spoken() {
        assert_eq!(spoken("waited_s"), "waited");
        assert_eq!(spoken("sends_after"), "attempts after");
    }
}
