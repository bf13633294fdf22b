//! Attempts, calls, runs and findings as tables, for further analysis.

#[cfg(feature = "polars")]
mod polars;

use crate::calls::{Call, group};
use crate::judge::{self, horizon};
use crate::measure::Spent;
use crate::model::{Attempt, AttemptTable, Flags, Outcome};
use crate::report::Report;

/// A named table.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Stem of the file name, and name of the table.
    pub name: &'static str,
    /// Columns of equal length, with their names.
    pub columns: Vec<(&'static str, Cells)>,
}

/// The cells of one column.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Text.
    Text(Vec<Option<String>>),
    /// Integers.
    Int(Vec<Option<i64>>),
    /// Floating-point numbers.
    Float(Vec<Option<f64>>),
    /// Booleans.
    Bool(Vec<Option<bool>>),
    /// Points in time, in microseconds since the Unix epoch, UTC.
    Time(Vec<Option<i64>>),
}

/// Returns the attempts and the calls of a log, which must have been read with its ids.
#[must_use]
pub fn of_log(table: &AttemptTable, options: &judge::Options) -> [Frame; 2] {
    let (horizon, groups) = (horizon(table, options.complete), group(table));
    let mut call_rows: Vec<(CallRow, Vec<u32>)> = Vec::new();
    let mut add_call = |call: &Call<'_>| {
        if options.filter.wants_call(call) {
            call_rows.push((call_row(call), call.rows().to_vec()));
        }
    };
    for piece in groups.pieces() {
        groups.calls(piece, &horizon, |_| true, &mut add_call);
    }
    call_rows.sort_by(|(a, _), (b, _)| {
        (a.first, &a.run_id, &a.call_id, a.last).cmp(&(b.first, &b.run_id, &b.call_id, b.last))
    });
    // The number of each attempt's call.
    let mut calls_of = vec![None; table.rows.len()];
    for (number, (_, rows)) in call_rows.iter().enumerate() {
        rows.iter().for_each(|row| calls_of[*row as usize] = Some(number as i64 + 1));
    }
    let rows: Vec<CallRow> = call_rows.into_iter().map(|(row, _)| row).collect();
    [attempts(table, &calls_of, options.filter.is_empty()), calls(rows)]
}

/// Returns the runs and the findings of a report.
#[must_use]
pub fn of_report(report: &Report) -> [Frame; 2] {
    [runs(report), findings(report)]
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

fn boolean<T>(rows: &[T], cell: impl Fn(&T) -> bool) -> Cells {
    Cells::Bool(rows.iter().map(|row| Some(cell(row))).collect())
}

/// Returns the table of attempts in the order they were read. If `all`, it contains every record of an attempt,
/// including duplicates; otherwise the attempts of selected calls, each once.
fn attempts(table: &AttemptTable, calls_of: &[Option<i64>], all: bool) -> Frame {
    let rows = table.rows.iter().enumerate().filter(|(row, _)| all || calls_of[*row].is_some());
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
            ("call_id", text(&rows, |row| table.call_id(row.1))),
            ("request_id", text(&rows, |row| table.request_id(row.1))),
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
            ("mid_stream", boolean(&rows, |row| row.1.flags.has(Flags::MID_STREAM))),
            ("duration_ms", float(&rows, |row| row.1.duration.as_ms())),
            ("retry_after_s", float(&rows, |row| detail(row)?.hint_us.map(|us| us as f64 / 1e6))),
            ("input_tokens", int(&rows, |row| counted(table.usage(row.0).input_tokens))),
            ("output_tokens", int(&rows, |row| counted(table.usage(row.0).output_tokens))),
            ("cache_read_tokens", int(&rows, |row| counted(table.usage(row.0).cache_read_tokens))),
            ("cache_write_tokens", int(&rows, |row| counted(table.usage(row.0).cache_write_tokens))),
            ("usd", float(&rows, |row| Spent::of(table, row.1, row.0 as u32).usd())),
            ("cost_source", text(&rows, |row| cost_source(row.1))),
            ("client", text(&rows, |row| name(table.origin(row.1).client))),
            ("client_version", text(&rows, |row| name(table.origin(row.1).client_version))),
            ("org", text(&rows, |row| name(table.origin(row.1).org))),
            ("api_key_id", text(&rows, |row| name(table.origin(row.1).api_key))),
            ("workspace", text(&rows, |row| name(table.origin(row.1).workspace))),
            ("host", text(&rows, |row| name(table.origin(row.1).host))),
            ("endpoint", text(&rows, |row| name(table.origin(row.1).endpoint))),
            ("call", int(&rows, |row| calls_of[row.0])),
            ("file", text(&rows, |row| table.files.get(row.1.file as usize).map(String::as_str))),
            ("line", int(&rows, |row| Some(i64::from(row.1.line)))),
        ],
    }
}

/// Returns where the cost of an attempt comes from: the log or the configured prices.
fn cost_source(attempt: &Attempt) -> Option<&'static str> {
    match (attempt.flags.has(Flags::COST), attempt.flags.has(Flags::PRICED)) {
        (true, true) => Some("prices"),
        (true, false) => Some("log"),
        (false, _) => None,
    }
}

/// One row of the table of calls.
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
    provider: Option<String>,
    client: Option<String>,
    client_version: Option<String>,
    layer: Option<String>,
    org: Option<String>,
    api_key: Option<String>,
    workspace: Option<String>,
    host: Option<String>,
    endpoint: Option<String>,
    spent: Spent,
}

/// Returns the table of calls, in the order of the call numbers in the table of attempts.
fn calls(rows: Vec<CallRow>) -> Frame {
    let numbers = Cells::Int((1..=rows.len() as i64).map(Some).collect());
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
            ("call", numbers),
            ("provider", text(&rows, |row| row.provider.as_deref())),
            ("client", text(&rows, |row| row.client.as_deref())),
            ("client_version", text(&rows, |row| row.client_version.as_deref())),
            ("layer", text(&rows, |row| row.layer.as_deref())),
            ("org", text(&rows, |row| row.org.as_deref())),
            ("api_key_id", text(&rows, |row| row.api_key.as_deref())),
            ("workspace", text(&rows, |row| row.workspace.as_deref())),
            ("host", text(&rows, |row| row.host.as_deref())),
            ("endpoint", text(&rows, |row| row.endpoint.as_deref())),
            ("tokens", int(&rows, |row| row.spent.known_tokens().map(|tokens| tokens as i64))),
            ("usd", float(&rows, |row| row.spent.usd())),
        ],
    }
}

fn call_row(call: &Call<'_>) -> CallRow {
    let name = |symbol| call.table().names.get(symbol).map(str::to_owned);
    let origin = call.origin(0);
    let mut spent = Spent::default();
    call.attempts().zip(call.rows()).for_each(|(attempt, row)| spent.add(Spent::of(call.table(), attempt, *row)));
    CallRow {
        first: call.first().sent.0,
        last: call.ended().0,
        run_id: name(call.first().run),
        call_id: call.id().map(str::to_owned),
        model: name(call.origin(0).model),
        attempts: call.len() as i64,
        outcome: call.outcome,
        waited_s: call.waited().s(),
        grouping: call.grouping.name(),
        first_class: call.first().class.map(|class| class.name()),
        last_class: call.last().class.map(|class| class.name()),
        provider: name(origin.provider),
        client: name(origin.client),
        client_version: name(origin.client_version),
        layer: name(origin.layer),
        org: name(origin.org),
        api_key: name(origin.api_key),
        workspace: name(origin.workspace),
        host: name(origin.host),
        endpoint: name(origin.endpoint),
        spent,
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
            ("tokens", int(rows, |row| row.tokens.map(|tokens| tokens as i64))),
            ("usd", float(rows, |row| row.usd)),
            ("wasted_tokens", int(rows, |row| row.wasted_tokens.map(|tokens| tokens as i64))),
            ("wasted_usd", float(rows, |row| row.wasted_usd)),
            ("green_with_retries", boolean(rows, |row| row.green_with_retries)),
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
            ("wait_s", float(rows, |row| Some(crate::model::rounded(row.cost.wait_s)))),
            ("tokens", int(rows, |row| row.cost.tokens.map(|tokens| tokens as i64))),
            ("usd", float(rows, |row| row.cost.usd)),
            ("fix", text(rows, |row| Some(&row.fix))),
        ],
    }
}
