//! Runs and findings as tables.

use super::{Frame, boolean, float, int, outcome, text, time};
use crate::report::Report;

/// Returns the runs and the findings of a report.
#[must_use]
pub fn of_report(report: &Report) -> [Frame<'_>; 2] {
    [runs(report), findings(report)]
}

fn runs(report: &Report) -> Frame<'_> {
    let rows = &report.runs;
    Frame {
        name: "runs",
        rows: rows.len(),
        columns: vec![
            ("run_id", text(rows, |row| Some(&row.run_id))),
            ("calls", int(rows, |row| Some(row.calls as i64))),
            ("attempts", int(rows, |row| Some(row.attempts as i64))),
            ("retries", int(rows, |row| Some(row.retries as i64))),
            ("amplification", float(rows, |row| Some(row.amplification))),
            ("outcome", text(rows, |row| Some(outcome(row.outcome)))),
            ("calls_failed", int(rows, |row| Some(row.calls_failed as i64))),
            ("first", time(rows, |row| Some(row.first.0))),
            ("last", time(rows, |row| Some(row.last.0))),
            ("wait_s", float(rows, |row| Some(row.wait_s))),
            ("wasted_sends", int(rows, |row| Some(row.wasted_sends as i64))),
            ("worst_call_attempts", int(rows, |row| Some(i64::from(row.worst_call_attempts)))),
            ("tokens", int(rows, |row| row.tokens.map(|tokens| tokens as i64))),
            ("usd", float(rows, |row| row.usd)),
            ("wasted_tokens", int(rows, |row| row.wasted_tokens.map(|tokens| tokens as i64))),
            ("wasted_usd", float(rows, |row| row.wasted_usd)),
            ("green_with_retries", boolean(rows, |row| row.green_with_retries)),
        ],
    }
}

fn findings(report: &Report) -> Frame<'_> {
    let rows = &report.findings;
    Frame {
        name: "findings",
        rows: rows.len(),
        columns: vec![
            ("rule", text(rows, |row| Some(row.rule))),
            ("name", text(rows, |row| Some(row.name))),
            ("severity", text(rows, |row| Some(row.severity.name()))),
            ("confidence", text(rows, |row| Some(row.confidence.name()))),
            ("run_id", text(rows, |row| row.run_id.as_deref())),
            ("call_id", text(rows, |row| row.call_id.as_deref())),
            ("provider", text(rows, |row| row.provider.as_deref())),
            ("model", text(rows, |row| row.model.as_deref())),
            ("class", text(rows, |row| row.class)),
            ("message", text(rows, |row| Some(&row.message))),
            ("first_seen", time(rows, |row| row.attempts.first().map(|at| at.ts.0))),
            ("wasted_sends", int(rows, |row| Some(row.cost.sends as i64))),
            ("wait_s", float(rows, |row| Some(crate::model::rounded(row.cost.wait_s)))),
            ("tokens", int(rows, |row| row.cost.tokens.map(|tokens| tokens as i64))),
            ("usd", float(rows, |row| row.cost.usd)),
            ("fix", text(rows, |row| Some(&row.fix))),
        ],
    }
}
