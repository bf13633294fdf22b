//! A call id that was used again: for the next step of a turn, by another job, on another day.

use super::{order_of, plausible_wait_us};
use crate::attempt::{Attempt, AttemptTable};
use smallvec::SmallVec;

/// A first attempt that comes so long after the last one is no retry of it, µs.
pub(super) const ANOTHER_DAY_US: i64 = 10 * 60 * 1_000_000;

/// Splits the rows that share a call id where one call ends and another begins: at a first attempt, or one
/// without a number, that follows a success, or comes long after anyone would still have waited.
pub(super) fn split(table: &AttemptTable, rows: &[u32]) -> Vec<SmallVec<[u32; 8]>> {
    let row = |index: &u32| &table.rows[*index as usize];
    let mut order: SmallVec<[u32; 8]> = SmallVec::from_slice(rows);
    order.sort_unstable_by_key(|index| order_of(table, *index));
    let mut calls: Vec<SmallVec<[u32; 8]>> = vec![SmallVec::new()];
    let mut before: Option<&Attempt> = None;
    // A number 1 begins a call only where there was one already: else the clocks disagree with the numbers.
    let mut numbered = false;
    for index in order {
        let next = row(&index);
        let known = next.number != 1 || numbered;
        if known && before.is_some_and(|before| begins_anew(table, before, next)) {
            calls.push(SmallVec::new());
            numbered = false;
        }
        numbered |= next.number == 1;
        before = Some(next);
        if let Some(call) = calls.last_mut() {
            call.push(index);
        }
    }
    calls
}

fn begins_anew(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    let first = next.number <= 1 && next.sdk_count().is_none_or(|count| count == 0);
    if !first || before.identity == next.identity {
        return false;
    }
    let hash = |row| table.detail(row).map_or(0, |detail| detail.request_hash);
    let same_body = hash(before) != 0 && hash(before) == hash(next);
    let after_success = !before.failed() && next.sent >= before.ended() && !same_body;
    let detail = table.detail(before);
    let patience = plausible_wait_us(detail.and_then(|d| d.hint_us), detail.and_then(|d| d.planned_us));
    after_success || next.sent.us_since(before.ended()) > patience.max(ANOTHER_DAY_US)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_str;

    fn sizes(log: &str) -> Vec<usize> {
        let table = read_str(log);
        let rows: Vec<u32> = (0..table.rows.len() as u32).collect();
        split(&table, &rows).iter().map(SmallVec::len).collect()
    }

    #[test]
    fn the_next_step_of_a_turn_is_another_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","request_id":"a","status":200,"duration_ms":900}
{"ts":"2026-01-05T10:00:05Z","call_id":"t","request_id":"b","status":529,"duration_ms":900}
{"ts":"2026-01-05T10:00:07Z","call_id":"t","request_id":"c","status":200,"duration_ms":900}"#;
        assert_eq!(sizes(log), [1, 2]);
    }

    #[test]
    fn a_second_success_with_a_number_is_the_same_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","attempt":1,"request_id":"a","status":200,"duration_ms":900}
{"ts":"2026-01-05T10:00:05Z","call_id":"t","attempt":2,"request_id":"b","status":200,"duration_ms":900}"#;
        assert_eq!(sizes(log), [2]);
    }

    #[test]
    fn another_day_is_another_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","attempt":1,"request_id":"a","status":400}
{"ts":"2026-01-06T10:00:00Z","call_id":"t","attempt":1,"request_id":"b","status":400}"#;
        assert_eq!(sizes(log), [1, 1]);
    }

    #[test]
    fn a_loop_that_counts_anew_within_seconds_is_the_same_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","attempt":1,"request_id":"a","status":529}
{"ts":"2026-01-05T10:00:01Z","call_id":"t","attempt":2,"request_id":"b","status":529}
{"ts":"2026-01-05T10:00:02Z","call_id":"t","attempt":1,"request_id":"c","status":529}"#;
        assert_eq!(sizes(log), [3]);
    }
}
