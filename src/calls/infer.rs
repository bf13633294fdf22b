//! Calls of a log that names none, in two steps: attempts whose counters continue one another form a
//! series; a series that failed and was followed by a like one within a plausible wait is one call with it.

use super::{Grouping, plausible_wait_us};
use crate::attempt::{Attempt, AttemptTable, Flags};
use smallvec::SmallVec;

/// How many unfinished series of one stream are kept in mind: more than any client has in flight at once.
const MOST_OPEN: usize = 4096;

type Rows = SmallVec<[u32; 8]>;

/// Attempts in a row, and what brought them together.
struct Series {
    rows: Rows,
    grouping: Grouping,
}

/// Splits the rows of one run, or of one file where no run is named, into calls.
pub(super) fn split(table: &AttemptTable, rows: &[u32]) -> Vec<(Rows, Grouping)> {
    let mut order = rows.to_vec();
    order.sort_unstable_by_key(|&index| {
        let row = &table.rows[index as usize];
        (row.sent, row.number, row.sdk_retry, row.identity, row.file, row.line)
    });
    let singles = order.into_iter().map(|row| Series {
        rows: SmallVec::from_slice(&[row]),
        grouping: Grouping::Counter,
    });
    let mut counted = join(table, singles.collect(), by_counter);
    counted.sort_by_key(|series| (first(table, series).sent, series.rows[0]));
    let joined = join(table, counted, by_shape);
    joined.into_iter().map(|series| (series.rows, series.grouping)).collect()
}

/// Appends each series, in time order, to the latest earlier one that `continues` accepts.
fn join(
    table: &AttemptTable,
    series: Vec<Series>,
    continues: fn(&AttemptTable, &Attempt, &Attempt) -> Option<Grouping>,
) -> Vec<Series> {
    let mut open: Vec<Series> = Vec::new();
    let mut closed = Vec::new();
    for next in series {
        let start = first(table, &next);
        retire(table, start, &mut open, &mut closed);
        let found = open.iter().enumerate().rev().find_map(|(position, earlier)| {
            let before = last(table, earlier);
            let grouping = if is_copy(before, start) {
                Some(earlier.grouping)
            } else if can_continue(before) && alike(table, before, start) {
                continues(table, before, start)
            } else {
                None
            };
            Some((position, grouping?))
        });
        match found {
            Some((position, grouping)) => {
                let call = &mut open[position];
                call.rows.extend(next.rows);
                call.grouping = call.grouping.max(grouping).max(next.grouping);
            }
            None => open.push(next),
        }
    }
    closed.extend(open);
    closed
}

/// Numbers, or the SDK's own counter, say what follows what.
fn by_counter(_: &AttemptTable, before: &Attempt, next: &Attempt) -> Option<Grouping> {
    let continues = if next.number > 0 {
        next.number > 1 && before.number + 1 == next.number
    } else {
        match (before.sdk_count(), next.sdk_count()) {
            (Some(before), Some(next)) => next > 0 && before + 1 == next,
            _ => false,
        }
    };
    continues.then_some(Grouping::Counter)
}

/// A failure, then a like request that was not sent beside it. A numbered attempt needs no guess, and an
/// inner counter above 0 belongs to a series whose start is lost.
fn by_shape(_: &AttemptTable, before: &Attempt, next: &Attempt) -> Option<Grouping> {
    let guessable = next.number == 0 && before.number == 0 && next.sdk_count().is_none_or(|count| count == 0);
    (guessable && next.sent >= before.ended()).then_some(Grouping::Inferred)
}

fn first<'a>(table: &'a AttemptTable, series: &Series) -> &'a Attempt {
    &table.rows[series.rows[0] as usize]
}

fn last<'a>(table: &'a AttemptTable, series: &Series) -> &'a Attempt {
    &table.rows[series.rows[series.rows.len() - 1] as usize]
}

/// Lets go of series that nothing sent at or after `row` can continue.
fn retire(table: &AttemptTable, row: &Attempt, open: &mut Vec<Series>, closed: &mut Vec<Series>) {
    let crowded = open.len() >= MOST_OPEN;
    let mut position = 0;
    while position < open.len() {
        let before = last(table, &open[position]);
        let in_time = row.sent.us_since(before.ended()) <= patience(table, before);
        if (can_continue(before) && in_time && !crowded) || before.sent == row.sent {
            position += 1;
        } else {
            closed.push(open.remove(position));
        }
    }
}

fn patience(table: &AttemptTable, row: &Attempt) -> i64 {
    let detail = table.detail(row);
    plausible_wait_us(detail.and_then(|d| d.hint_us), detail.and_then(|d| d.planned_us))
}

fn can_continue(before: &Attempt) -> bool {
    before.failed() && !before.flags.has(Flags::DECIDED_FAIL)
}

/// The same record delivered again.
fn is_copy(before: &Attempt, row: &Attempt) -> bool {
    before.identity == row.identity && before.sent == row.sent && before.number == row.number
}

/// A request of the same kind: same model, and the same body where both are known.
fn alike(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let (a, b) = (table.origin(before), table.origin(row));
    let hash = |row| table.detail(row).map_or(0, |detail| detail.request_hash);
    let (left, right) = (hash(before), hash(row));
    a.model == b.model && a.provider == b.provider && (left == 0 || right == 0 || left == right)
}
