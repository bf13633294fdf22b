//! Run by run, the costliest first.

use super::NAME;
use super::escape::code;
use super::page::Page;
use crate::model::Outcome;
use crate::render::{money::dollars, words};
use crate::report::{Report, Run};

/// Rows of the table; the JSON report has all of them.
const ROWS: usize = 15;

const HEAD: [&str; 8] = ["run", "calls:", "sends:", "retries:", "outcome", "waited:", "cost:", "errors, warnings"];

pub(super) fn write(report: &Report, page: &mut Page) {
    let rows: Vec<Vec<String>> = report.runs.iter().take(ROWS).map(row).collect();
    page.table("### Runs", &HEAD, &rows, &rest(report.runs.get(ROWS..).unwrap_or_default()));
}

fn row(run: &Run) -> Vec<String> {
    let [errors, warnings, _] = run.findings;
    vec![
        code(&run.run_id, NAME),
        words::number(run.calls),
        words::number(run.attempts),
        words::number(run.retries),
        outcome(run),
        words::span(run.wait_s),
        cost(run),
        format!("{}, {}", words::number(errors), words::number(warnings)),
    ]
}

/// Dollars, else tokens.
fn cost(run: &Run) -> String {
    match (run.usd, run.tokens) {
        (Some(usd), _) => dollars(usd),
        (None, Some(tokens)) => words::counted(tokens, "token"),
        (None, None) => String::new(),
    }
}

fn outcome(run: &Run) -> String {
    match run.outcome {
        Outcome::Failed => format!("{} failed", words::counted(run.calls_failed, "call")),
        Outcome::Open => "open".to_owned(),
        Outcome::Ok if run.green_with_retries => "ok, with retries".to_owned(),
        Outcome::Ok => "ok".to_owned(),
    }
}

fn rest(runs: &[Run]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let failed = runs.iter().filter(|run| run.outcome == Outcome::Failed).count() as u64;
    format!("{} not shown, {} of them failed.", words::counted(runs.len() as u64, "run"), words::number(failed))
}
