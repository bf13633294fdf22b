//! Attempts, calls, runs and findings as columns, for those who ask their own questions of them.

use super::{Anonymizer, Outcome, Report};
use crate::attempt::{Attempt, AttemptTable, Flags};
use crate::calls::{Call, group};
use crate::judge::{self, horizon};
use std::collections::HashSet;

/// A table with a name.
#[derive(Clone, Debug)]
pub struct Frame {
    /// File stem and table name.
    pub name: &'static str,
    /// Columns of equal length.
    pub columns: Vec<(&'static str, Cells)>,
}

/// The cells of one column.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Words.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Int(Vec<Option<i64>>),
    /// Numbers.
    Float(Vec<Option<f64>>),
    /// Truth values.
    Bool(Vec<Option<bool>>),
    /// Points in time, µs since the Unix epoch, UTC.
    Time(Vec<Option<i64>>),
}

/// The four frames of an analysis. The table must have been read with its ids kept; with `anonymizer`, `report` is
/// one it has been through.
#[must_use]
pub fn frames(
    table: &AttemptTable,
    report: &Report,
    options: &judge::Options,
    anonymizer: Option<&Anonymizer>,
) -> Vec<Frame> {
    let (horizon, groups) = (horizon(table, options.complete), group(table));
    let mut rows: Vec<CallRow> = Vec::new();
    let mut wanted: Option<HashSet<u32>> = (!options.filter.is_empty()).then(HashSet::new);
    let mut take = |call: &Call<'_>| {
        if options.filter.wants_call(call) {
            rows.push(call_row(call));
            wanted.iter_mut().for_each(|wanted| wanted.extend(call.rows()));
        }
    };
    for piece in groups.pieces() {
        groups.calls(piece, &horizon, |_| true, &mut take);
    }
    let shown = |frame: Frame| match anonymizer {
        Some(anonymizer) => anonymizer.frame(frame),
        None => frame,
    };
    vec![shown(attempts(table, wanted.as_ref())), shown(calls(rows)), runs(report), findings(report)]
}

fn text<T>(rows: &[T], cell: impl Fn(&T) -> Option<&str>) -> Cells {
    Cells::Text(rows.iter().map(|row| cell(row).map(str::to_owned)).collect())
}

fn int<T>(rows: &[T], cell: impl Fn(&T) -> Option<i64>) -> Cells {
    Cells::Int(rows.iter().map(cell).collect())
}

fn float<T>(rows: &[T], cell: impl Fn(&T) -> Option<f64>) -> Cells {
    Cells::Float(rows.iter().map(cell).collect())
}

fn time<T>(rows: &[T], cell: impl Fn(&T) -> i64) -> Cells {
    Cells::Time(rows.iter().map(|row| Some(cell(row))).collect())
}

fn truth<T>(rows: &[T], cell: impl Fn(&T) -> bool) -> Cells {
    Cells::Bool(rows.iter().map(|row| Some(cell(row))).collect())
}

/// Every record that is an attempt, in the order it was read; a second delivery is a row of its own. Of calls that
/// were chosen, each attempt once.
fn attempts(table: &AttemptTable, wanted: Option<&HashSet<u32>>) -> Frame {
    let is_wanted = |row: usize| wanted.is_none_or(|wanted| wanted.contains(&(row as u32)));
    let rows = table.rows.iter().enumerate().filter(|(row, _)| is_wanted(*row));
    let rows: Vec<(usize, &Attempt)> = rows.collect();
    let name = |symbol| table.names.get(symbol);
    let detail = |row: &(usize, &Attempt)| table.detail(row.1);
    let positive = |n: u16| (n > 0).then_some(i64::from(n));
    let counted = |n: u32| (n > 0).then_some(i64::from(n));
    Frame {
        name: "attempts",
        columns: vec![
            ("ts", time(&rows, |row| row.1.sent.0)),
            ("run_id", text(&rows, |row| name(row.1.run))),
            ("call_id", text(&rows, |row| table.text(detail(row)?.call_id))),
            ("request_id", text(&rows, |row| table.text(detail(row)?.request_id))),
            ("provider", text(&rows, |row| name(table.origin(row.1).provider))),
            ("model", text(&rows, |row| name(table.origin(row.1).model))),
            ("layer", text(&rows, |row| name(table.origin(row.1).layer))),
            ("attempt", int(&rows, |row| positive(row.1.number))),
            ("sdk_retry_count", int(&rows, |row| row.1.sdk_count().map(i64::from))),
            ("max_attempts", int(&rows, |row| positive(row.1.max_attempts))),
            ("status", int(&rows, |row| positive(row.1.status))),
            ("class", text(&rows, |row| row.1.class.map(|class| class.name()))),
            ("bucket", text(&rows, |row| row.1.bucket().map(|bucket| bucket.name()))),
            ("error_type", text(&rows, |row| name(detail(row)?.error_type))),
            ("error_code", text(&rows, |row| name(detail(row)?.error_code))),
            ("mid_stream", truth(&rows, |row| row.1.flags.has(Flags::MID_STREAM))),
            ("duration_ms", float(&rows, |row| row.1.duration.as_ms())),
            ("retry_after_s", float(&rows, |row| detail(row)?.hint_us.map(|us| us as f64 / 1e6))),
            ("input_tokens", int(&rows, |row| counted(table.usage(row.0).input_tokens))),
            ("output_tokens", int(&rows, |row| counted(table.usage(row.0).output_tokens))),
            ("file", text(&rows, |row| table.files.get(row.1.file as usize).map(String::as_str))),
            ("line", int(&rows, |row| Some(i64::from(row.1.line)))),
        ],
    }
}

/// One row of the frame of calls.
struct CallRow {
    first: i64,
    last: i64,
    run_id: Option<String>,
    call_id: Option<String>,
    model: Option<String>,
    attempts: i64,
    outcome: Outcome,
    waited_s: f64,
    grouping: &'static str,
    first_class: Option<&'static str>,
    last_class: Option<&'static str>,
}

fn calls(mut rows: Vec<CallRow>) -> Frame {
    rows.sort_by(|a, b| (a.first, &a.run_id, &a.call_id, a.last).cmp(&(b.first, &b.run_id, &b.call_id, b.last)));
    Frame {
        name: "calls",
        columns: vec![
            ("first_sent", time(&rows, |row| row.first)),
            ("ended", time(&rows, |row| row.last)),
            ("run_id", text(&rows, |row| row.run_id.as_deref())),
            ("call_id", text(&rows, |row| row.call_id.as_deref())),
            ("model", text(&rows, |row| row.model.as_deref())),
            ("attempts", int(&rows, |row| Some(row.attempts))),
            ("outcome", text(&rows, |row| Some(outcome(row.outcome)))),
            ("waited_s", float(&rows, |row| Some(row.waited_s))),
            ("grouping", text(&rows, |row| Some(row.grouping))),
            ("first_class", text(&rows, |row| row.first_class)),
            ("last_class", text(&rows, |row| row.last_class)),
        ],
    }
}

fn call_row(call: &Call<'_>) -> CallRow {
    let name = |symbol| call.table().names.get(symbol).map(str::to_owned);
    CallRow {
        first: call.first().sent.0,
        last: call.ended().0,
        run_id: name(call.first().run),
        call_id: call.id().map(str::to_owned),
        model: name(call.origin(0).model),
        attempts: call.len() as i64,
        outcome: call.outcome,
        waited_s: call.waited_us() as f64 / 1e6,
        grouping: call.grouping.name(),
        first_class: call.first().class.map(|class| class.name()),
        last_class: call.last().class.map(|class| class.name()),
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Open => "open",
    }
}

fn runs(report: &Report) -> Frame {
    let rows = &report.runs;
    Frame {
        name: "runs",
        columns: vec![
            ("run_id", text(rows, |row| Some(&row.run_id))),
            ("calls", int(rows, |row| Some(row.calls as i64))),
            ("attempts", int(rows, |row| Some(row.attempts as i64))),
            ("retries", int(rows, |row| Some(row.retries as i64))),
            ("amplification", float(rows, |row| Some(row.amplification))),
            ("outcome", text(rows, |row| Some(outcome(row.outcome)))),
            ("calls_failed", int(rows, |row| Some(row.calls_failed as i64))),
            ("first", time(rows, |row| row.first.0)),
            ("last", time(rows, |row| row.last.0)),
            ("wait_s", float(rows, |row| Some(row.wait_s))),
            ("wasted_sends", int(rows, |row| Some(row.wasted_sends as i64))),
            ("worst_call_attempts", int(rows, |row| Some(i64::from(row.worst_call_attempts)))),
            ("green_with_retries", truth(rows, |row| row.green_with_retries)),
        ],
    }
}

fn findings(report: &Report) -> Frame {
    let rows = &report.findings;
    Frame {
        name: "findings",
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
            ("first_seen", Cells::Time(rows.iter().map(|row| row.attempts.first().map(|at| at.ts.0)).collect())),
            ("wasted_sends", int(rows, |row| Some(row.cost.sends as i64))),
            ("wait_s", float(rows, |row| Some(super::rounded(row.cost.wait_s)))),
            ("tokens", int(rows, |row| row.cost.tokens.map(|tokens| tokens as i64))),
            ("usd", float(rows, |row| row.cost.usd)),
            ("fix", text(rows, |row| Some(&row.fix))),
        ],
    }
}
