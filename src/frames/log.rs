//! The attempts and the calls of a log as tables.

use super::{Cells, Frame, boolean, float, int, outcome, text, time};
use crate::calls::{Call, group};
use crate::judge::{self, horizon};
use crate::measure::Spent;
use crate::model::{Attempt, AttemptTable, Flags, Outcome};

/// What the tables of attempts and calls are made from.
pub struct LogTables<'t> {
    table: &'t AttemptTable,
    attempts: Vec<AttemptRow>,
    calls: Vec<CallRow<'t>>,
}

/// One row of the table of attempts.
struct AttemptRow {
    /// Row of the attempt in the [`AttemptTable`].
    row: u32,
    /// Number of its call, counted from 1; 0 if it belongs to no selected call.
    call: u32,
}

/// One row of the table of calls.
struct CallRow<'t> {
    first: &'t Attempt,
    last: &'t Attempt,
    ended: i64,
    id: Option<&'t str>,
    attempts: u32,
    outcome: Outcome,
    waited_s: f64,
    grouping: &'static str,
    tokens: Option<u64>,
    usd: Option<f64>,
}

impl<'t> LogTables<'t> {
    /// Groups the attempts of a log, which must have been read with its ids, into calls.
    ///
    /// The attempts are in the order they were read. Without a filter they include every record of an attempt, also
    /// duplicates; otherwise the attempts of the selected calls, each once.
    #[must_use]
    pub fn new(table: &'t AttemptTable, options: &judge::Options) -> LogTables<'t> {
        let (horizon, groups) = (horizon(table, options.complete), group(table));
        // Each call with the range of its rows in `members`.
        let (mut call_rows, mut members) = (Vec::new(), Vec::new());
        let mut add_call = |call: &Call<'t>| {
            if options.filter.wants_call(call) {
                let start = members.len();
                members.extend_from_slice(call.rows());
                call_rows.push((CallRow::new(call), start..members.len()));
            }
        };
        for piece in groups.pieces() {
            groups.calls(piece, &horizon, |_| true, &mut add_call);
        }
        let run = |call: &CallRow<'t>| table.names.get(call.first.run);
        call_rows.sort_by(|(a, _), (b, _)| {
            (a.first.sent, run(a), a.id, a.ended).cmp(&(b.first.sent, run(b), b.id, b.ended))
        });
        let mut call_of = vec![0; table.rows.len()];
        for (number, (_, rows)) in (1..).zip(&call_rows) {
            members[rows.clone()].iter().for_each(|row| call_of[*row as usize] = number);
        }
        let all = options.filter.is_empty();
        let rows = (0..).zip(call_of).filter(|(_, call)| all || *call > 0);
        LogTables {
            table,
            attempts: rows.map(|(row, call)| AttemptRow { row, call }).collect(),
            calls: call_rows.into_iter().map(|(call, _)| call).collect(),
        }
    }

    /// Returns the table of attempts and that of calls, whose rows are in the order of the numbers of calls in the former.
    #[must_use]
    pub fn frames(&self) -> [Frame<'_>; 2] {
        [self.attempts(), self.calls()]
    }

    fn attempts(&self) -> Frame<'_> {
        let (table, rows) = (self.table, self.attempts.as_slice());
        let at = |row: &AttemptRow| &table.rows[row.row as usize];
        let name = |symbol| table.names.get(symbol);
        let origin = move |row: &AttemptRow| table.origin(at(row));
        let detail = move |row: &AttemptRow| table.detail(at(row));
        let usage = |row: &AttemptRow| table.usage(row.row as usize);
        let positive = |n: u16| (n > 0).then_some(i64::from(n));
        let counted = |n: u32| (n > 0).then_some(i64::from(n));
        Frame {
            name: "attempts",
            rows: rows.len(),
            columns: vec![
                ("ts", time(rows, move |row| Some(at(row).sent.0))),
                ("run_id", text(rows, move |row| name(at(row).run))),
                ("call_id", text(rows, move |row| table.call_id(at(row)))),
                ("request_id", text(rows, move |row| table.request_id(at(row)))),
                ("provider", text(rows, move |row| name(origin(row).provider))),
                ("model", text(rows, move |row| name(origin(row).model))),
                ("layer", text(rows, move |row| name(origin(row).layer))),
                ("attempt", int(rows, move |row| positive(at(row).number))),
                ("sdk_retry_count", int(rows, move |row| at(row).sdk_count().map(i64::from))),
                ("max_attempts", int(rows, move |row| positive(at(row).max_attempts))),
                ("status", int(rows, move |row| positive(at(row).status))),
                ("class", text(rows, move |row| at(row).class.map(|class| class.name()))),
                ("bucket", text(rows, move |row| at(row).bucket().map(|bucket| bucket.name()))),
                ("error_type", text(rows, move |row| name(detail(row)?.error_type))),
                ("error_code", text(rows, move |row| name(detail(row)?.error_code))),
                ("mid_stream", boolean(rows, move |row| at(row).flags.has(Flags::MID_STREAM))),
                ("duration_ms", float(rows, move |row| at(row).duration.as_ms())),
                ("retry_after_s", float(rows, move |row| detail(row)?.hint_us.map(|us| us as f64 / 1e6))),
                ("input_tokens", int(rows, move |row| counted(usage(row).input_tokens))),
                ("output_tokens", int(rows, move |row| counted(usage(row).output_tokens))),
                ("cache_read_tokens", int(rows, move |row| counted(usage(row).cache_read_tokens))),
                ("cache_write_tokens", int(rows, move |row| counted(usage(row).cache_write_tokens))),
                ("usd", float(rows, move |row| Spent::of(table, at(row), row.row).usd())),
                ("cost_source", text(rows, move |row| cost_source(at(row)))),
                ("client", text(rows, move |row| name(origin(row).client))),
                ("client_version", text(rows, move |row| name(origin(row).client_version))),
                ("org", text(rows, move |row| name(origin(row).org))),
                ("api_key_id", text(rows, move |row| name(origin(row).api_key))),
                ("workspace", text(rows, move |row| name(origin(row).workspace))),
                ("host", text(rows, move |row| name(origin(row).host))),
                ("endpoint", text(rows, move |row| name(origin(row).endpoint))),
                ("call", int(rows, |row| (row.call > 0).then_some(i64::from(row.call)))),
                ("file", text(rows, move |row| table.files.get(at(row).file as usize).map(String::as_str))),
                ("line", int(rows, move |row| Some(i64::from(at(row).line)))),
            ],
        }
    }

    fn calls(&self) -> Frame<'_> {
        let (table, rows) = (self.table, self.calls.as_slice());
        let name = |symbol| table.names.get(symbol);
        let origin = |row: &CallRow<'_>| table.origin(row.first);
        Frame {
            name: "calls",
            rows: rows.len(),
            columns: vec![
                ("first_sent", time(rows, |row| Some(row.first.sent.0))),
                ("ended", time(rows, |row| Some(row.ended))),
                ("run_id", text(rows, move |row| name(row.first.run))),
                ("call_id", text(rows, |row| row.id)),
                ("model", text(rows, move |row| name(origin(row).model))),
                ("attempts", int(rows, |row| Some(i64::from(row.attempts)))),
                ("outcome", text(rows, |row| Some(outcome(row.outcome)))),
                ("waited_s", float(rows, |row| Some(row.waited_s))),
                ("grouping", text(rows, |row| Some(row.grouping))),
                ("first_class", text(rows, |row| row.first.class.map(|class| class.name()))),
                ("last_class", text(rows, |row| row.last.class.map(|class| class.name()))),
                ("call", Cells::Int(Box::new(|row| Some(row as i64 + 1)))),
                ("provider", text(rows, move |row| name(origin(row).provider))),
                ("client", text(rows, move |row| name(origin(row).client))),
                ("client_version", text(rows, move |row| name(origin(row).client_version))),
                ("layer", text(rows, move |row| name(origin(row).layer))),
                ("org", text(rows, move |row| name(origin(row).org))),
                ("api_key_id", text(rows, move |row| name(origin(row).api_key))),
                ("workspace", text(rows, move |row| name(origin(row).workspace))),
                ("host", text(rows, move |row| name(origin(row).host))),
                ("endpoint", text(rows, move |row| name(origin(row).endpoint))),
                ("tokens", int(rows, |row| row.tokens.map(|tokens| tokens as i64))),
                ("usd", float(rows, |row| row.usd)),
            ],
        }
    }
}

impl<'t> CallRow<'t> {
    fn new(call: &Call<'t>) -> CallRow<'t> {
        let mut spent = Spent::default();
        call.attempts().zip(call.rows()).for_each(|(attempt, row)| spent.add(Spent::of(call.table(), attempt, *row)));
        CallRow {
            first: call.first(),
            last: call.last(),
            ended: call.ended().0,
            id: call.id(),
            attempts: call.len() as u32,
            outcome: call.outcome,
            waited_s: call.waited().s(),
            grouping: call.grouping.name(),
            tokens: spent.known_tokens(),
            usd: spent.usd(),
        }
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
