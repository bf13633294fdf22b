//! Splits attempts with one call id that belong to several calls: the next request of a conversation turn, another job,
//! a later run, or another process that numbers its calls alike.

use super::callers::same_client;
use super::{clock_slack_us, longest_plausible_wait_us, sort_key};
use crate::model::{Attempt, AttemptTable, Time};
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::HashSet;

/// A first attempt that is sent this long after the previous attempt, in µs, is not a retry but the beginning of
/// another call with the same id.
pub(super) const MAX_RETRY_GAP_US: i64 = 10 * 60 * 1_000_000;
/// Number of most recent calls of one id that an attempt is matched with: more than there are processes that number
/// their calls alike.
const MAX_RECENT_CALLS: usize = 64;
/// Number of most recent attempts of a call among which another record of the same attempt is searched, since such
/// records have nearly the same time.
const MAX_RECENT_ATTEMPTS: usize = 8;

/// One of the calls that share an id.
#[derive(Debug, Default)]
pub(super) struct SplitCall {
    pub(super) rows: SmallVec<[u32; 8]>,
    /// Whether one of its attempts could as well belong to another call of the same id.
    pub(super) guessed: bool,
    /// Whether another call of the same id began before this one ended.
    pub(super) overlapped: bool,
    /// Whether one of its attempts has the number 1. Only then does a further number 1 begin a new call; a first number
    /// 1 after higher ones is a clock error.
    numbered: bool,
    /// Time after which a first attempt is too late to belong to this call; `None` while it has no attempt.
    closes: Option<Time>,
}

/// How well an attempt fits a call; criteria in order of weight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    same_attempt: bool,
    is_sequential: bool,
    same_client: bool,
    continues: bool,
}

/// Splits rows that share a call id into calls. A new call begins at a first or unnumbered attempt that follows a
/// success or is too late to be a retry, and at a first attempt sent by another client or while another is in flight.
pub(super) fn split(table: &AttemptTable, rows: &[u32]) -> Vec<SplitCall> {
    // With few rows, comparing with all calls is cheaper than a set of identities.
    split_rows(table, rows, rows.len() > MAX_RECENT_CALLS)
}

/// Like [`split`]. `skip_closed`: whether to skip calls that a first attempt is too late to belong to.
fn split_rows(table: &AttemptTable, rows: &[u32], skip_closed: bool) -> Vec<SplitCall> {
    let mut order: SmallVec<[u32; 8]> = SmallVec::from_slice(rows);
    order.sort_unstable_by_key(|index| sort_key(table, *index));
    let mut calls: Vec<SplitCall> = Vec::new();
    let mut identities = skip_closed.then(HashSet::<u32, RandomState>::default);
    for row in order {
        let next = &table.rows[row as usize];
        let is_new = identities.as_mut().is_some_and(|known| known.insert(next.identity));
        let (index, guessed) = index_of_call(table, &calls, next, is_new);
        if index == calls.len() {
            calls.push(SplitCall::default());
        }
        let call = &mut calls[index];
        call.closes = Some(next.ended().plus_us(max_retry_gap_us(table, next)));
        call.rows.push(row);
        call.numbered |= next.number == 1;
        call.guessed |= guessed;
    }
    mark_overlaps(table, &mut calls);
    calls
}

/// Marks calls that were in flight when the next one of their id began; `calls` are in order of their start.
fn mark_overlaps(table: &AttemptTable, calls: &mut [SplitCall]) {
    let mut next_begins = Time(i64::MAX);
    for call in calls.iter_mut().rev() {
        let rows = || call.rows.iter().map(|row| &table.rows[*row as usize]);
        let ends = rows().map(Attempt::ended).max().unwrap_or(next_begins);
        let begins = rows().map(|row| row.sent).min().unwrap_or(next_begins);
        call.overlapped = next_begins < ends;
        next_begins = begins;
    }
}

/// Returns how long after an attempt a first attempt may still belong to the same call, in µs.
fn max_retry_gap_us(table: &AttemptTable, row: &Attempt) -> i64 {
    longest_plausible_wait_us(table, row).max(MAX_RETRY_GAP_US)
}

/// Returns whether neither number nor counter shows that other attempts came before.
fn is_first(row: &Attempt) -> bool {
    row.number <= 1 && row.sdk_count().is_none_or(|count| count == 0)
}

/// Returns the index in `calls` of the call the attempt belongs to, or their number for a new call, and whether that is
/// a guess. `is_new`: no call has a record of the same attempt.
fn index_of_call(table: &AttemptTable, calls: &[SplitCall], next: &Attempt, is_new: bool) -> (usize, bool) {
    let oldest = calls.len().saturating_sub(MAX_RECENT_CALLS);
    let mut best: Option<(Rank, Reverse<i64>, usize)> = None;
    let mut equal_matches = 0;
    let may_be_closed = is_new && is_first(next);
    for (index, call) in calls.iter().enumerate().skip(oldest) {
        if may_be_closed && call.is_closed_for(next) {
            continue;
        }
        let Some(rank) = call.rank_of(table, next) else { continue };
        // A numbered retry belongs to the call whose requested wait ends first, any other attempt to the latest call.
        let due = call.last(table).map_or(0, |last| due_us(table, last));
        let candidate = (rank, Reverse(if next.number > 1 { due } else { -(index as i64) }), index);
        equal_matches = match best {
            Some((best_rank, ..)) if best_rank > rank => equal_matches,
            Some((best_rank, ..)) if best_rank == rank => equal_matches + 1,
            _ => 0,
        };
        best = best.max(Some(candidate));
    }
    best.map_or((calls.len(), false), |(rank, _, index)| (index, equal_matches > 0 && !rank.same_attempt))
}

fn due_us(table: &AttemptTable, last: &Attempt) -> i64 {
    let hint_us = table.detail(last).and_then(|detail| detail.hint_us).unwrap_or(0);
    last.ended().0.saturating_add(hint_us)
}

impl SplitCall {
    fn last<'t>(&self, table: &'t AttemptTable) -> Option<&'t Attempt> {
        self.rows.last().map(|index| &table.rows[*index as usize])
    }

    /// Returns whether a first attempt, of which the call has no other record, is too late to belong to it. This agrees
    /// with [`SplitCall::begins_another_call`].
    fn is_closed_for(&self, next: &Attempt) -> bool {
        (next.number != 1 || self.numbered) && self.closes.is_some_and(|closes| next.sent > closes)
    }

    /// Returns how well `next` fits the call, or `None` if it begins another call.
    fn rank_of(&self, table: &AttemptTable, next: &Attempt) -> Option<Rank> {
        let last = self.last(table)?;
        let recent = self.rows.iter().rev().take(MAX_RECENT_ATTEMPTS);
        let same_attempt = recent.into_iter().any(|index| table.rows[*index as usize].identity == next.identity);
        if is_first(next) && !same_attempt && self.begins_another_call(table, last, next) {
            return None;
        }
        let counted = matches!((last.sdk_count(), next.sdk_count()), (Some(a), Some(b)) if b > 0 && a == b - 1);
        Some(Rank {
            same_attempt,
            is_sequential: last.failed() && next.sent.us_since(last.ended()) >= -clock_slack_us(last, next),
            same_client: same_client(table, last, next),
            continues: (next.number > 1 && last.number == next.number - 1) || counted,
        })
    }

    /// Returns whether a first or unnumbered attempt begins another call.
    fn begins_another_call(&self, table: &AttemptTable, last: &Attempt, next: &Attempt) -> bool {
        let is_numbered_first = next.number == 1;
        if is_numbered_first && !self.numbered {
            return false;
        }
        if next.sent.us_since(last.ended()) > max_retry_gap_us(table, last) || self.is_of_another_process(table, next) {
            return true;
        }
        let is_sequential = next.sent.us_since(last.ended()) >= -clock_slack_us(last, next);
        !last.failed() && is_sequential && !same_request(table, last, next)
    }

    /// Returns whether a first attempt belongs to another process: sent by another client, or while the last attempt of
    /// this call was in flight.
    fn is_of_another_process(&self, table: &AttemptTable, next: &Attempt) -> bool {
        let Some(last) = self.last(table).filter(|_| self.numbered && next.number == 1) else { return false };
        let (a, b) = (table.origin(last), table.origin(next));
        if !same_client(table, last, next) && a.provider == b.provider && a.model == b.model && a.layer == b.layer {
            return true;
        }
        let overlap = next.sent.us_since(last.ended()) < -clock_slack_us(last, next);
        // An attempt of one layer within an attempt of another belongs to the same call.
        let within = a.layer != b.layer && (next.ended() <= last.ended() || next.sent == last.sent);
        overlap && !within && !same_request(table, last, next)
    }
}

/// Returns whether the log shows that two attempts sent the same body or the same idempotency key.
fn same_request(table: &AttemptTable, a: &Attempt, b: &Attempt) -> bool {
    let key = |row| table.detail(row).map_or(0, |detail| detail.idempotency);
    let hash = table.request_hash(a);
    (hash != 0 && hash == table.request_hash(b)) || (key(a) != 0 && key(a) == key(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_str;

    fn sizes(log: &str) -> Vec<usize> {
        let table = read_str(log);
        let rows: Vec<u32> = (0..table.rows.len() as u32).collect();
        split(&table, &rows).iter().map(|part| part.rows.len()).collect()
    }

    #[test]
    fn a_request_after_a_success_is_another_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","request_id":"a","status":200,"duration_ms":900}
{"ts":"2026-01-05T10:00:05Z","call_id":"t","request_id":"b","status":529,"duration_ms":900}
{"ts":"2026-01-05T10:00:07Z","call_id":"t","request_id":"c","status":200,"duration_ms":900}"#;
        assert_eq!(sizes(log), [1, 2]);
    }

    /// Creates attempts with one call id over weeks; some are logged twice, some have a number or a counter. The
    /// multiplication by 2^32 divided by the golden ratio spreads the values.
    fn attempts_over_weeks(count: u32) -> String {
        let line = |nth: u32| {
            let mixed = nth.wrapping_mul(2_654_435_761) >> 7;
            let (hour, day) = (mixed % 24, 1 + nth * 27 / count);
            let counted = ["", r#""attempt":1,"#, r#""attempt":2,"#, r#""sdk_retry_count":1,"#][mixed as usize % 4];
            let (id, status) = (mixed % (count / 2), [200, 529, 529][mixed as usize % 3]);
            format!(
                "{{\"ts\":\"2026-01-{day:02}T{hour:02}:00:00Z\",\"call_id\":\"t\",{counted}\"request_id\":\"r{id}\",\"status\":{status},\"duration_ms\":9}}\n"
            )
        };
        (0..count).map(line).collect()
    }

    #[test]
    fn skipping_closed_calls_changes_nothing() {
        for count in [70, 400, 900] {
            let table = read_str(&attempts_over_weeks(count));
            let rows: Vec<u32> = (0..table.rows.len() as u32).collect();
            let parts = |skip_closed| -> Vec<(Vec<u32>, bool)> {
                let parts = split_rows(&table, &rows, skip_closed);
                parts.iter().map(|part| (part.rows.to_vec(), part.guessed)).collect()
            };
            assert!(parts(true).len() > count as usize / 10, "{count}");
            assert_eq!(parts(true), parts(false), "{count}");
        }
    }

    #[test]
    fn a_second_success_with_a_number_is_the_same_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","attempt":1,"request_id":"a","status":200,"duration_ms":900}
{"ts":"2026-01-05T10:00:05Z","call_id":"t","attempt":2,"request_id":"b","status":200,"duration_ms":900}"#;
        assert_eq!(sizes(log), [2]);
    }

    #[test]
    fn a_second_first_attempt_in_flight_with_another_is_another_call() {
        for (name, lines, calls) in [
            (
                "two answers that overlap",
                [r#""attempt":1,"status":200,"duration_ms":900"#, r#""attempt":1,"status":200,"duration_ms":900"#],
                vec![1, 1],
            ),
            (
                "the same body twice",
                [
                    r#""attempt":1,"status":200,"duration_ms":900,"request_hash":"h""#,
                    r#""attempt":1,"status":200,"duration_ms":900,"request_hash":"h""#,
                ],
                vec![2],
            ),
            (
                "an attempt that another layer makes of it",
                [
                    r#""attempt":1,"status":500,"duration_ms":900,"layer":"client""#,
                    r#""attempt":1,"status":529,"duration_ms":100,"layer":"gateway""#,
                ],
                vec![2],
            ),
            (
                "another client",
                [
                    r#""attempt":1,"status":529,"client":{"name":"a"}"#,
                    r#""attempt":1,"status":529,"client":{"name":"b"}"#,
                ],
                vec![1, 1],
            ),
            ("a loop around a loop", [r#""attempt":1,"status":529"#, r#""attempt":1,"status":529"#], vec![2]),
            (
                "a hedge without numbers",
                [r#""status":200,"duration_ms":900"#, r#""status":200,"duration_ms":900"#],
                vec![2],
            ),
        ] {
            let [first, second] = lines;
            let log = format!(
                r#"{{"ts":"2026-01-05T10:00:00.0Z","call_id":"t","request_id":"a",{first}}}
{{"ts":"2026-01-05T10:00:00.5Z","call_id":"t","request_id":"b",{second}}}"#
            );
            assert_eq!(sizes(&log), calls, "{name}");
        }
    }

    #[test]
    fn two_processes_with_the_same_numbering_get_their_own_retries() {
        let log = |a: &str, b: &str| {
            format!(
                r#"{{"ts":"2026-01-05T10:00:00.0Z","call_id":"c0","attempt":1,"request_id":"a","status":529,"duration_ms":400{a}}}
{{"ts":"2026-01-05T10:00:00.2Z","call_id":"c0","attempt":1,"request_id":"b","status":529,"duration_ms":400{b}}}
{{"ts":"2026-01-05T10:00:01.1Z","call_id":"c0","attempt":2,"request_id":"c","status":529,"duration_ms":400{b}}}
{{"ts":"2026-01-05T10:00:01.2Z","call_id":"c0","attempt":2,"request_id":"d","status":200,"duration_ms":400{a}}}
{{"ts":"2026-01-05T10:00:03.0Z","call_id":"c0","attempt":3,"request_id":"e","status":200,"duration_ms":400{b}}}"#
            )
        };
        let parts = |log: &str| {
            let table = read_str(log);
            let rows: Vec<u32> = (0..table.rows.len() as u32).collect();
            split(&table, &rows).into_iter().map(|part| (part.rows.to_vec(), part.guessed)).collect::<Vec<_>>()
        };
        let distinguished = parts(&log(r#","org":"x""#, r#","org":"y""#));
        assert_eq!(distinguished, [(vec![0, 3], false), (vec![1, 2, 4], false)]);
        let guessed = parts(&log("", ""));
        assert!(guessed.len() == 2 && guessed.iter().any(|(_, guessed)| *guessed), "{guessed:?}");
    }

    #[test]
    fn an_attempt_a_day_later_is_another_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","attempt":1,"request_id":"a","status":400}
{"ts":"2026-01-06T10:00:00Z","call_id":"t","attempt":1,"request_id":"b","status":400}"#;
        assert_eq!(sizes(log), [1, 1]);
    }

    #[test]
    fn a_loop_that_restarts_its_numbers_within_seconds_is_the_same_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","attempt":1,"request_id":"a","status":529}
{"ts":"2026-01-05T10:00:01Z","call_id":"t","attempt":2,"request_id":"b","status":529}
{"ts":"2026-01-05T10:00:02Z","call_id":"t","attempt":1,"request_id":"c","status":529}"#;
        assert_eq!(sizes(log), [3]);
    }
}
