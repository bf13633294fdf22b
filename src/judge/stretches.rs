//! Calls are judged in the order of the table, stretch by stretch: neighbours there are neighbours in time, and what
//! happened within seconds can be judged and forgotten as soon as a stretch is over.

use super::{Judgement, Options, call_rules};
use crate::attempt::{Attempt, AttemptTable, Time};
use crate::calls::{Groups, Horizon, Piece, Plain};
use crate::rules::{self, Rule};
use rayon::prelude::*;

/// Rows of a stretch: more take more memory, fewer more putting together.
pub(super) const STRETCH: usize = 1 << 16;

/// Takes in all calls, `stretch` rows at a time: the plain ones, and the others with their first row.
pub(super) fn judge_all<'a>(
    groups: &Groups<'a>,
    plain: &Plain,
    horizon: &Horizon,
    stretch: usize,
    options: &Options,
) -> Judgement<'a> {
    let (table, terms, rules) = (groups.table(), rules::terms(&options.settings), call_rules(options));
    let mut workers = Worker::team(groups);
    let mut whole = Judgement::new(table);
    let (mut new, mut kept) = (0, 0);
    for (n, until) in sent_after(table, stretch).into_iter().enumerate() {
        let rows = n * stretch..table.rows.len().min((n + 1) * stretch);
        let share = rows.len().div_ceil(workers.len());
        workers.par_iter_mut().enumerate().for_each(|(worker, part)| {
            let begin = rows.end.min(rows.start + worker * share);
            let own = begin..rows.end.min(begin + share);
            plain.among(own).for_each(|row| part.judgement.absorb_plain(row, Time(i64::MIN), options));
            part.absorb_others(groups, rows.end as u32, horizon, &rules, options);
        });
        for part in &mut workers {
            whole.fleet.sums.take_instants(table, &mut part.judgement.fleet.sums);
        }
        new += rows.len();
        // Where stretches are not in the order of time, little can be forgotten: then it is seldom tried.
        if new >= kept && until < Time(i64::MAX) {
            whole.fleet.sums.settle(table, until, &terms);
            (new, kept) = (0, whole.fleet.sums.instants());
        }
    }
    workers.into_iter().for_each(|part| whole.merge(part.judgement));
    whole
}

/// What one thread judges: its share of the plain calls of each stretch, and all others of some pieces.
struct Worker<'g, 'a> {
    judgement: Judgement<'a>,
    /// And how far each is judged.
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

    /// Takes in the calls of its pieces whose first row is before `until`.
    fn absorb_others(
        &mut self,
        groups: &Groups<'a>,
        until: u32,
        horizon: &Horizon,
        rules: &[&'static Rule],
        options: &Options,
    ) {
        for (piece, place) in &mut self.pieces {
            *place = groups.calls_until(piece, *place, until, horizon, |call| {
                self.judgement.absorb(call, rules, options);
            });
        }
    }
}

/// For each stretch, when the first row was sent of those that stand behind it; the end of time where none does.
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
    use crate::ingest;
    use crate::judge::{FoldKey, Kept, judge_by};
    use std::path::Path;

    /// Everything that was found.
    fn found(table: &AttemptTable, stretch: usize) -> Vec<(String, Vec<String>)> {
        let judgement = judge_by(table, &Options { complete: true, ..Options::default() }, stretch);
        let kept = |kept: &Kept| format!("{:?} {:?} {:?}", kept.hit, kept.call, kept.cost);
        let mut found: Vec<_> = judgement
            .folds
            .iter()
            .map(|(key, fold): (&FoldKey, _)| {
                (format!("{key:?} {}", fold.total()), fold.kept.values().map(kept).collect())
            })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn the_length_of_stretches_does_not_matter() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["samples", "tests/captures"] {
            let files = ingest::resolve(&[root.join(folder).display().to_string()]).unwrap();
            let table = ingest::read(&files, &ingest::Options::default(), &|_| {}).unwrap().table;
            let whole = found(&table, STRETCH);
            assert!(whole.len() > 5, "{folder}: {} kinds of findings", whole.len());
            for stretch in [7, 100] {
                assert_eq!(found(&table, stretch), whole, "{folder} by {stretch}");
            }
        }
    }
}
