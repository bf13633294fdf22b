//! Plain calls are judged in the order of the table, stretch by stretch: neighbours there are neighbours in time, and
//! what happened within seconds can be judged and forgotten as soon as a stretch is over.

use super::{Judgement, Options};
use crate::attempt::{AttemptTable, Time};
use crate::calls::Plain;
use crate::rules;
use rayon::prelude::*;

/// Rows of a stretch: more take more memory, fewer more putting together.
pub(super) const STRETCH: usize = 1 << 18;

/// Takes in every plain call, after every other: `stretch` rows at a time.
pub(super) fn absorb_all<'a>(whole: &mut Judgement<'a>, plain: &Plain, stretch: usize, options: &Options) {
    let (table, terms) = (whole.fleet.table, rules::terms(&options.settings));
    let mut workers: Vec<Judgement<'a>> = (0..rayon::current_num_threads()).map(|_| Judgement::new(table)).collect();
    let share = stretch.div_ceil(workers.len());
    let (mut new, mut kept) = (0, whole.fleet.sums.instants());
    for (n, until) in sent_after(table, stretch).into_iter().enumerate() {
        let rows = |worker: usize| {
            let (begin, end) = (n * stretch + worker * share, table.rows.len().min((n + 1) * stretch));
            begin.min(end)..(begin + share).min(end)
        };
        workers.par_iter_mut().enumerate().for_each(|(worker, part)| {
            plain.among(rows(worker)).for_each(|row| part.absorb_plain(row, Time(i64::MIN), options));
        });
        for part in &mut workers {
            whole.fleet.sums.take_instants(table, &mut part.fleet.sums);
        }
        new += stretch;
        // Where stretches are not in the order of time, little can be forgotten: then it is seldom tried.
        if new >= kept && until < Time(i64::MAX) {
            whole.fleet.sums.settle(table, until, &terms);
            (new, kept) = (0, whole.fleet.sums.instants());
        }
    }
    workers.into_iter().for_each(|part| whole.merge(part));
}

/// For each stretch, when the first row was sent of those that stand behind it; the end of time where none does.
fn sent_after(table: &AttemptTable, stretch: usize) -> Vec<Time> {
    let first = |rows: &[crate::attempt::Attempt]| rows.iter().map(|row| row.sent).min().unwrap_or(Time(i64::MAX));
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
