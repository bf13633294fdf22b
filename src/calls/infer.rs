//! Calls of a log that names none, in two steps: attempts whose counters continue one another form a
//! series; a series that failed and was followed by a like one within a plausible wait is one call with it.

use super::{Grouping, plausible_wait_us};
use crate::attempt::{Attempt, AttemptTable, Flags, Time};
use smallvec::SmallVec;

/// How many unfinished series of one stream are kept in mind: more than any client has in flight at once.
const MOST_OPEN: usize = 4096;

/// How far an attempt may start before another ended and still not be beside it: rounding of clocks.
const CLOCK_SLACK_US: i64 = 50_000;

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
    let concurrent = is_concurrent(table, &order);
    let singles: Vec<Series> = order
        .into_iter()
        .map(|row| Series { rows: SmallVec::from_slice(&[row]), grouping: alone(&table.rows[row as usize]) })
        .collect();
    let mut counted = join(table, singles, |open, start| first_due(table, open, start));
    counted.sort_by_key(|series| (first(table, series).sent, series.rows[0]));
    let joined = join(table, counted, |open, start| latest(table, open, start, concurrent));
    joined.into_iter().map(|series| (series.rows, series.grouping)).collect()
}

/// What is known of an attempt before others are looked at: with a counter, where in its call it stands.
pub(super) fn alone(row: &Attempt) -> Grouping {
    if row.number > 0 || row.sdk_count().is_some() { Grouping::Counter } else { Grouping::Inferred }
}

/// Appends each series, in time order, to the earlier one that `pick` chooses among those still open.
fn join(
    table: &AttemptTable,
    series: Vec<Series>,
    pick: impl Fn(&[Series], &Attempt) -> Option<(usize, Grouping)>,
) -> Vec<Series> {
    let mut open: Vec<Series> = Vec::new();
    let mut closed = Vec::new();
    for next in series {
        let start = first(table, &next);
        retire(table, start, &mut open, &mut closed);
        let copied = open.iter().rposition(|earlier| is_copy(last(table, earlier), start));
        let found = copied.map(|position| (position, open[position].grouping)).or_else(|| pick(&open, start));
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

/// The series whose counter `start` continues. Of several, the one whose wait was over first: clients that
/// wait as they should then never look early, whoever of them sent. Which of them it was is a guess.
fn first_due(table: &AttemptTable, open: &[Series], start: &Attempt) -> Option<(usize, Grouping)> {
    let rank = |series: &Series| {
        let before = last(table, series);
        let due = due(table, before);
        (before.terminal(), due > start.sent, due)
    };
    let fits = |series: &&Series| {
        let before = last(table, series);
        continues(before, start) && can_continue(before) && alike(table, before, start)
    };
    let best = open.iter().filter(fits).map(rank).min()?;
    let position = open.iter().position(|series| fits(&series) && rank(series) == best)?;
    let rivals = open.iter().filter(fits).map(rank).filter(|rank| (rank.0, rank.1) == (best.0, best.1)).count();
    Some((position, if rivals > 1 { Grouping::Inferred } else { Grouping::Counter }))
}

/// Numbers, or the SDK's own counter, say what follows what.
fn continues(before: &Attempt, next: &Attempt) -> bool {
    if next.number > 0 {
        return next.number > 1 && before.number == next.number - 1;
    }
    match (before.sdk_count(), next.sdk_count()) {
        (Some(before), Some(next)) => next > 0 && before == next - 1,
        _ => false,
    }
}

/// The latest series that failed before a like request was sent. A numbered attempt needs no guess, and an
/// inner counter above 0 belongs to a series whose start is lost.
fn latest(table: &AttemptTable, open: &[Series], start: &Attempt, concurrent: bool) -> Option<(usize, Grouping)> {
    let counted = start.number > 0 || start.sdk_count().is_some_and(|count| count > 0);
    if counted {
        return None;
    }
    let fits = |series: &Series| {
        let before = last(table, series);
        let in_turn = before.number == 0 && start.sent >= before.ended();
        // Where many are under way, a send that one of them has no reason to make is another's.
        let another = concurrent && (before.terminal() || due(table, before) > start.sent);
        in_turn && !another && can_continue(before) && alike(table, before, start) && heals(table, before, start)
    };
    open.iter().rposition(fits).map(|position| (position, Grouping::Inferred))
}

/// Whether a like request may be the same one again: after a failure that cannot heal it is another, unless
/// it fails in the same words.
fn heals(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    let words = |row| table.detail(row).map(|detail| detail.message);
    !before.terminal() || (before.class == next.class && words(before) == words(next))
}

/// When the wait the server asked for is over; the end of the attempt where it asked for none.
fn due(table: &AttemptTable, row: &Attempt) -> Time {
    row.ended().plus_us(table.detail(row).and_then(|detail| detail.hint_us).unwrap_or(0))
}

/// Whether a stream shows more than one request under way: one sent before another ended or, where the log
/// has no durations, four within a second although the first three were answered.
fn is_concurrent(table: &AttemptTable, order: &[u32]) -> bool {
    let row = |index: &u32| &table.rows[*index as usize];
    let overlaps = order.windows(2).any(|pair| {
        let (before, next) = (row(&pair[0]), row(&pair[1]));
        next.sent.us_since(before.ended()) < -CLOCK_SLACK_US && !is_copy(before, next)
    });
    overlaps
        || order.windows(4).any(|sends| {
            let answered = |index| !row(index).failed() && row(index).duration.as_us().is_none();
            let copied = sends.windows(2).any(|pair| is_copy(row(&pair[0]), row(&pair[1])));
            sends[..3].iter().all(answered) && !copied && row(&sends[3]).sent.us_since(row(&sends[0]).sent) <= 1_000_000
        })
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
    before.identified() && before.identity == row.identity && before.sent == row.sent && before.number == row.number
}

/// A request of the same kind: same model, and the same body where both are known.
fn alike(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let (a, b) = (table.origin(before), table.origin(row));
    let hash = |row| table.detail(row).map_or(0, |detail| detail.request_hash);
    let (left, right) = (hash(before), hash(row));
    let body = left == 0 || right == 0 || left == right;
    a.model == b.model && a.provider == b.provider && body && same_tool(table, before, row)
}

/// Whether neither is a tool execution, or both are one of the same tool with the same arguments: the next
/// execution of a tool is the agent's choice, and only a like one may be a retry.
fn same_tool(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let is_tool = |row: &Attempt| row.flags.has(Flags::TOOL);
    let tool = |row| table.detail(row).map(|detail| (detail.tool, detail.request_hash));
    match (is_tool(before), is_tool(row)) {
        (false, false) => true,
        (true, true) => tool(before) == tool(row) && tool(row).is_some_and(|(_, arguments)| arguments != 0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the attempts of each call, calls in the order of their first line.
    fn calls(log: &str) -> Vec<(Vec<u32>, Grouping)> {
        let table = crate::ingest::read_str(log);
        let rows: Vec<u32> = (0..table.rows.len() as u32).collect();
        let lines = |rows: Rows| rows.iter().map(|&row| table.rows[row as usize].line).collect();
        let mut calls: Vec<_> =
            split(&table, &rows).into_iter().map(|(rows, grouping)| (lines(rows), grouping)).collect();
        calls.sort_by_key(|(lines, _): &(Vec<u32>, _)| lines[0]);
        calls
    }

    #[test]
    fn of_two_clients_that_wait_the_first_due_is_back_first() {
        let log = r#"{"ts":"2026-05-20T10:00:00.0Z","attempt":1,"status":429,"retry_after":2,"duration_ms":10}
{"ts":"2026-05-20T10:00:01.5Z","attempt":1,"status":429,"retry_after":2,"duration_ms":10}
{"ts":"2026-05-20T10:00:02.1Z","attempt":2,"status":200,"duration_ms":10}
{"ts":"2026-05-20T10:00:03.6Z","attempt":2,"status":200,"duration_ms":10}"#;
        let expected = vec![(vec![1, 3], Grouping::Counter), (vec![2, 4], Grouping::Counter)];
        assert_eq!(calls(log), expected);
    }

    #[test]
    fn a_final_failure_is_not_continued_while_another_may_be() {
        let log = r#"{"ts":"2026-05-20T10:00:00.0Z","attempt":1,"status":529,"duration_ms":10}
{"ts":"2026-05-20T10:00:00.3Z","attempt":1,"status":400,"error_type":"invalid_request_error","duration_ms":10}
{"ts":"2026-05-20T10:00:00.5Z","attempt":2,"status":200,"duration_ms":10}"#;
        assert_eq!(calls(log), vec![(vec![1, 3], Grouping::Counter), (vec![2], Grouping::Counter)]);
    }

    #[test]
    fn a_like_request_after_a_final_failure_is_the_next_item() {
        let other = r#"{"ts":"2026-05-20T10:00:00Z","status":400,"error":{"type":"invalid_request_error","message":"item 1 is empty"}}
{"ts":"2026-05-20T10:00:03Z","status":200}"#;
        assert_eq!(calls(other).len(), 2);
        let same = r#"{"ts":"2026-05-20T10:00:00Z","status":400,"error":{"type":"invalid_request_error","message":"item 1 is empty"}}
{"ts":"2026-05-20T10:00:03Z","status":400,"error":{"type":"invalid_request_error","message":"item 1 is empty"}}"#;
        assert_eq!(calls(same), vec![(vec![1, 2], Grouping::Inferred)]);
    }

    #[test]
    fn beside_others_a_send_within_a_hint_is_another_request() {
        let serial = r#"{"ts":"2026-05-20T10:00:00.0Z","status":429,"retry_after":9,"duration_ms":10}
{"ts":"2026-05-20T10:00:01.0Z","status":200,"duration_ms":900}"#;
        assert_eq!(calls(serial).len(), 1);
        let beside = r#"{"ts":"2026-05-20T10:00:00.0Z","status":200,"duration_ms":5000}
{"ts":"2026-05-20T10:00:00.2Z","status":429,"retry_after":9,"duration_ms":10}
{"ts":"2026-05-20T10:00:01.0Z","status":200,"duration_ms":900}"#;
        assert_eq!(calls(beside).len(), 3);
    }

    #[test]
    fn a_tool_is_retried_only_with_the_same_arguments() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","kind":"tool_call","tool":"a","args_sha":"1","outcome":"timeout"}
{"ts":"2026-05-20T10:00:30Z","kind":"tool_call","tool":"a","args_sha":"1","outcome":"timeout"}
{"ts":"2026-05-20T10:00:40Z","kind":"tool_call","tool":"a","args_sha":"2","outcome":"timeout"}
{"ts":"2026-05-20T10:00:45Z","kind":"tool_call","tool":"b","args_sha":"2","outcome":"ok"}
{"ts":"2026-05-20T10:00:50Z","status":200}"#;
        let lines: Vec<Vec<u32>> = calls(log).into_iter().map(|(lines, _)| lines).collect();
        assert_eq!(lines, vec![vec![1, 2], vec![3], vec![4], vec![5]]);
    }

    #[test]
    fn no_number_overflows() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","attempt":65535,"status":529}
{"ts":"2026-05-20T10:00:03Z","attempt":1,"status":529}"#;
        assert_eq!(calls(log).len(), 2);
    }
}
