//! Judges calls in the order of the table, one stretch of rows at a time. Neighbouring rows are close in time, so what
//! happened within seconds can be judged and dropped at the end of each stretch.

use super::{CallRules, Judgement, Options};
use crate::calls::{Groups, Horizon, Piece, SingleSuccesses};
use crate::model::{Attempt, AttemptTable, Time};
use crate::rules;
use rayon::prelude::*;

/// Rows per stretch: more take more memory, fewer cost more merging.
pub(super) const STRETCH: usize = 1 << 16;
/// Visiting a scope or run on which nothing happened costs about as much as judging this many rows.
const WORTH_A_LOOK: usize = 16;

/// Judges all calls, `stretch` rows at a time. `singles` are the calls of one successful attempt; any other call
/// belongs to the stretch of its first row.
pub(super) fn judge_all<'a>(
    groups: &Groups<'a>,
    singles: &SingleSuccesses,
    horizon: &Horizon,
    stretch: usize,
    options: &Options,
) -> Judgement<'a> {
    let (table, terms, rules) = (groups.table(), rules::terms(&options.settings), CallRules::of(options));
    let mut workers = Worker::team(groups);
    let mut whole = Judgement::new(table);
    let (mut new, mut kept) = (0, 0);
    for (n, until) in sent_after(table, stretch).into_iter().enumerate() {
        let rows = n * stretch..table.rows.len().min((n + 1) * stretch);
        let share = rows.len().div_ceil(workers.len());
        workers.par_iter_mut().enumerate().for_each(|(worker, part)| {
            let begin = rows.end.min(rows.start + worker * share);
            let own = begin..rows.end.min(begin + share);
            part.judgement.absorb_single_success(singles.among(own), Time(i64::MIN), options);
            part.absorb_others(groups, rows.end as u32, horizon, &rules, options);
        });
        new += rows.len();
        // If stretches are not in the order of time, little can be dropped; then it is attempted less often.
        let looked_at = workers.iter().map(|part| part.judgement.fleet.runs.len() + part.judgement.fleet.scopes.len());
        let looked_at = looked_at.max().unwrap_or(0);
        if new >= kept.max(looked_at * WORTH_A_LOOK) && until < Time(i64::MAX) {
            for part in &mut workers {
                whole.fleet.stats.take_instants(table, &mut part.judgement.fleet.stats);
            }
            whole.fleet.stats.settle(table, until, &terms);
            (new, kept) = (0, whole.fleet.stats.instants());
        }
    }
    workers.into_iter().for_each(|part| whole.merge(part.judgement));
    whole
}

/// What one thread judges: its share of the single successes of each stretch, and all other calls of some pieces.
struct Worker<'g, 'a> {
    judgement: Judgement<'a>,
    /// Pieces of this worker, and how far each is judged.
    pieces: Vec<(&'g Piece, usize)>,
}

impl<'g, 'a> Worker<'g, 'a> {
    fn team(groups: &'g Groups<'a>) -> Vec<Worker<'g, 'a>> {
        let count = rayon::current_num_threads();
        let pieces = |worker: usize| groups.pieces().iter().skip(worker).step_by(count).map(|piece| (piece, 0));
        let workers = (0..count)
            .map(|worker| Worker { judgement: Judgement::new(groups.table()), pieces: pieces(worker).collect() });
        workers.collect()
    }

    /// Judges the calls of its pieces whose first row is before `until`.
    fn absorb_others(
        &mut self,
        groups: &Groups<'a>,
        until: u32,
        horizon: &Horizon,
        rules: &CallRules,
        options: &Options,
    ) {
        // Single successes that were not known as such.
        let mut plain: Vec<u32> = Vec::new();
        for (piece, place) in &mut self.pieces {
            *place = groups.calls_until(piece, *place, until, horizon, |call| match call.plain_row() {
                Some(row) => plain.push(row),
                None => self.judgement.absorb(call, rules, options),
            });
        }
        self.judgement.absorb_single_success(plain.into_iter(), Time(i64::MIN), options);
    }
}

/// For each stretch, returns the earliest send time of all rows after it, or the end of time if there are none.
fn sent_after(table: &AttemptTable, stretch: usize) -> Vec<Time> {
    let first = |rows: &[Attempt]| rows.iter().map(|row| row.sent).min().unwrap_or(Time(i64::MAX));
    let mut firsts: Vec<Time> = table.rows.par_chunks(stretch).map(first).collect();
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
    use crate::judge::{KeptFinding, ProblemStatsKey, judge_by};

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
        // Loggers write when an answer is complete, so lines are only nearly in the order of sends.
        lines.sort_by_key(|(at, line)| at + line.len() as u64 * 37 % 500);
        lines.into_iter().map(|(_, line)| line + "\n").collect()
    }

    /// Returns every problem with its kept findings, sorted.
    fn found(table: &AttemptTable, stretch: usize) -> Vec<(String, Vec<String>)> {
        let judgement = judge_by(table, &Options { complete: true, ..Options::default() }, stretch);
        let kept = |kept: &KeptFinding| format!("{:?} {:?} {:?}", kept.hit, kept.call, kept.cost);
        let fold = |(key, fold): (&ProblemStatsKey, &crate::judge::ProblemStats)| {
            (format!("{key:?} {}", fold.total()), fold.kept.values().map(kept).collect())
        };
        let mut found: Vec<_> = judgement.folds.iter().map(fold).collect();
        found.sort();
        found
    }

    #[test]
    fn the_length_of_stretches_does_not_matter() {
        let table = read_str(&busy_log());
        let whole = found(&table, table.rows.len());
        for rule in ["RL301", "RL501", "RL506"] {
            assert!(whole.iter().any(|(problem, _)| problem.contains(rule)), "no {rule} in {whole:#?}");
        }
        for stretch in [50, 333, 1_000] {
            assert_eq!(found(&table, stretch), whole, "stretches of {stretch} rows");
        }
    }
}
