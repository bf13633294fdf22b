//! Judges calls in the order of the table, one batch of rows at a time. Neighbouring rows are close in time, so
//! summaries of events within seconds can be evaluated and dropped at the end of each batch.

use super::{CallRules, Judgement, Options};
use crate::calls::{Groups, Horizon, Piece, SingleSuccesses};
use crate::model::{Attempt, AttemptTable, Time};
use crate::rules;
use rayon::prelude::*;

/// Rows of a batch: larger batches need more memory, smaller ones more merging.
pub(super) const BATCH_ROWS: usize = 1 << 16;
/// Number of rows whose judgement costs about as much as visiting a scope or run without events.
const ROWS_PER_VISIT: usize = 16;

/// Judges all calls, in batches of `batch_rows` rows. `singles` are the calls of one successful attempt; any other call
/// belongs to the batch of its first row.
pub(super) fn judge_all<'a>(
    groups: &Groups<'a>,
    singles: &SingleSuccesses,
    horizon: &Horizon,
    batch_rows: usize,
    options: &Options,
) -> Judgement<'a> {
    let (table, terms, rules) = (groups.table(), rules::terms(&options.settings), CallRules::of(options));
    let mut workers = Worker::all(groups);
    let mut whole = Judgement::new(table);
    let (mut new, mut kept) = (0, 0);
    for (n, until) in earliest_send_after(table, batch_rows).into_iter().enumerate() {
        let rows = n * batch_rows..table.rows.len().min((n + 1) * batch_rows);
        let share = rows.len().div_ceil(workers.len());
        workers.par_iter_mut().enumerate().for_each(|(worker, part)| {
            let begin = rows.end.min(rows.start + worker * share);
            let own = begin..rows.end.min(begin + share);
            part.judgement.absorb_single_success(singles.among(own), Time(i64::MIN), options);
            part.absorb_other_calls(groups, rows.end as u32, horizon, &rules, options);
        });
        new += rows.len();
        // If the rows are not in time order, little can be dropped, and dropping is attempted less often.
        let visited = workers.iter().map(|part| part.judgement.fleet.runs.len() + part.judgement.fleet.scopes.len());
        let visited = visited.max().unwrap_or(0);
        if new >= kept.max(visited * ROWS_PER_VISIT) && until < Time(i64::MAX) {
            for part in &mut workers {
                whole.fleet.stats.take_short_windows(table, &mut part.judgement.fleet.stats);
            }
            whole.fleet.stats.settle(table, until, &terms);
            (new, kept) = (0, whole.fleet.stats.short_window_len());
        }
    }
    workers.into_iter().for_each(|part| whole.merge(part.judgement));
    whole
}

/// What one thread judges: its share of the single successes of each batch, and all other calls of some pieces.
struct Worker<'g, 'a> {
    judgement: Judgement<'a>,
    /// Pieces of this worker, each with the offset up to which it is judged.
    pieces: Vec<(&'g Piece, usize)>,
}

impl<'g, 'a> Worker<'g, 'a> {
    fn all(groups: &'g Groups<'a>) -> Vec<Worker<'g, 'a>> {
        let count = rayon::current_num_threads();
        let pieces = |worker: usize| groups.pieces().iter().skip(worker).step_by(count).map(|piece| (piece, 0));
        let workers = (0..count)
            .map(|worker| Worker { judgement: Judgement::new(groups.table()), pieces: pieces(worker).collect() });
        workers.collect()
    }

    /// Judges the calls of its pieces whose first row is before `until`.
    fn absorb_other_calls(
        &mut self,
        groups: &Groups<'a>,
        until: u32,
        horizon: &Horizon,
        rules: &CallRules,
        options: &Options,
    ) {
        // Single successes that are grouped because their keys have the same bit as another key.
        let mut single_successes: Vec<u32> = Vec::new();
        for (piece, offset) in &mut self.pieces {
            *offset = groups.calls_until(piece, *offset, until, horizon, |call| match call.single_success_row() {
                Some(row) => single_successes.push(row),
                None => self.judgement.absorb(call, rules, options),
            });
        }
        self.judgement.absorb_single_success(single_successes.into_iter(), Time(i64::MIN), options);
    }
}

/// For each batch, returns the earliest send time of all rows after it, or the latest possible time if there are none.
fn earliest_send_after(table: &AttemptTable, batch_rows: usize) -> Vec<Time> {
    let first = |rows: &[Attempt]| rows.iter().map(|row| row.sent).min().unwrap_or(Time(i64::MAX));
    let mut firsts: Vec<Time> = table.rows.par_chunks(batch_rows).map(first).collect();
    let mut after = Time(i64::MAX);
    for first in firsts.iter_mut().rev() {
        after = std::mem::replace(first, after).min(after);
    }
    firsts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_str;
    use crate::judge::{KeptFinding, ProblemStatsKey, judge_in_batches};

    /// A log of steady calls, with a group of calls every minute that start together, are refused and retry too early.
    fn busy_log() -> String {
        let mut lines: Vec<(u64, String)> = Vec::new();
        let mut add = |call: u64, attempt: u64, at: u64, rest: &str| {
            let (run, model) = (call % 3, call % 5 / 4);
            let head = format!(
                r#"{{"ts":{},"run_id":"r{run}","call_id":"c{call}","model":"m{model}""#,
                1_773_133_200_000 + at
            );
            lines.push((at, format!(r#"{head},"attempt":{attempt},"duration_ms":40,{rest}}}"#)));
        };
        for call in 0..3_000 {
            add(call, 1, call * 400 + call * call % 70, r#""status":200"#);
        }
        for call in 3_000..4_200 {
            let at = (call - 3_000) / 60 * 60_000 + call * 7 % 300;
            add(call, 1, at, r#""status":429,"retry_after":5,"error_type":"rate_limit_error""#);
            add(call, 2, at + 900, r#""status":429,"error_type":"rate_limit_error""#);
            add(call, 3, at + 6_900, r#""status":200"#);
        }
        // Loggers write when a response is complete, so lines are only nearly in send order.
        lines.sort_by_key(|(at, line)| at + line.len() as u64 * 37 % 500);
        lines.into_iter().map(|(_, line)| line + "\n").collect()
    }

    /// Returns every problem with its kept findings, sorted.
    fn found(table: &AttemptTable, batch_rows: usize) -> Vec<(String, Vec<String>)> {
        let judgement = judge_in_batches(table, &Options { complete: true, ..Options::default() }, batch_rows);
        let kept = |kept: &KeptFinding| format!("{:?} {:?} {:?}", kept.hit, kept.call, kept.cost);
        let problem = |(key, problem): (&ProblemStatsKey, &crate::judge::ProblemStats)| {
            (format!("{key:?} {}", problem.total()), problem.kept.values().map(kept).collect())
        };
        let mut found: Vec<_> = judgement.problems.iter().map(problem).collect();
        found.sort();
        found
    }

    #[test]
    fn the_size_of_batches_does_not_matter() {
        let table = read_str(&busy_log());
        let whole = found(&table, table.rows.len());
        for rule in ["RL301", "RL501", "RL506"] {
            assert!(whole.iter().any(|(problem, _)| problem.contains(rule)), "no {rule} in {whole:#?}");
        }
        for batch_rows in [50, 333, 1_000] {
            assert_eq!(found(&table, batch_rows), whole, "batches of {batch_rows} rows");
        }
    }
}
