//! Splits attempts with one call id that belong to several calls: the next step of a turn, another job, another day, or
//! another process with the same numbering.

use super::callers::same_client;
use super::{clock_slack_us, order_of, patience_us};
use crate::model::{Attempt, AttemptTable, Time};
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::HashSet;

/// A first attempt this long after the previous attempt is not a retry, in µs.
pub(super) const ANOTHER_DAY_US: i64 = 10 * 60 * 1_000_000;
/// Number of most recent calls of one id that an attempt is matched with: more than there are processes with the same
/// numbering.
const MOST: usize = 64;
/// Number of most recent attempts of a call among which another record of the same attempt is searched.
const WITNESSES: usize = 8;

/// One of the calls that share an id.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) rows: SmallVec<[u32; 8]>,
    /// Whether one of its attempts could as well belong to another call of the same id.
    pub(super) guessed: bool,
    /// Whether another call of the same id began before this one ended.
    pub(super) overlapped: bool,
    /// Whether one of its attempts has the number 1. A further number 1 begins a new call only then; otherwise the
    /// clocks contradict the numbers.
    numbered: bool,
    /// Time after which a first attempt is too late to belong to this call.
    over: Option<Time>,
}

/// How well an attempt fits a call; criteria in order of weight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    same_attempt: bool,
    in_turn: bool,
    same_client: bool,
    continues: bool,
}

/// Splits rows that share a call id into calls. A new call begins at a first or unnumbered attempt that follows a
/// success or is too late to be a retry, and at a first attempt sent by another client or while another is in flight.
pub(super) fn split(table: &AttemptTable, rows: &[u32]) -> Vec<Part> {
    // With few rows, checking all calls is cheaper than the set of identities.
    split_rows(table, rows, rows.len() > MOST)
}

/// `passes_over`: whether to skip calls that are over when a first attempt is matched.
fn split_rows(table: &AttemptTable, rows: &[u32], passes_over: bool) -> Vec<Part> {
    let mut order: SmallVec<[u32; 8]> = SmallVec::from_slice(rows);
    order.sort_unstable_by_key(|index| order_of(table, *index));
    let mut calls: Vec<Part> = Vec::new();
    let mut identities = passes_over.then(HashSet::<u32, RandomState>::default);
    for index in order {
        let next = &table.rows[index as usize];
        let is_new = identities.as_mut().is_some_and(|known| known.insert(next.identity));
        let (place, guessed) = place_of(table, &calls, next, is_new);
        if place == calls.len() {
            calls.push(Part::default());
        }
        let call = &mut calls[place];
        call.over = Some(next.ended().plus_us(latest_us(table, next)));
        call.rows.push(index);
        call.numbered |= next.number == 1;
        call.guessed |= guessed;
    }
    note_overlaps(table, &mut calls);
    calls
}

/// Marks calls that were in flight when the next one of their id began; `calls` are in order of their start.
fn note_overlaps(table: &AttemptTable, calls: &mut [Part]) {
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
fn latest_us(table: &AttemptTable, row: &Attempt) -> i64 {
    patience_us(table, row).max(ANOTHER_DAY_US)
}

/// Returns whether neither number nor counter shows that other attempts came before.
fn is_first(row: &Attempt) -> bool {
    row.number <= 1 && row.sdk_count().is_none_or(|count| count == 0)
}

/// Returns the index in `calls` of the call the attempt belongs to, or their number for a new call, and whether that is
/// a guess. `is_new`: no call has a record of the same attempt.
fn place_of(table: &AttemptTable, calls: &[Part], next: &Attempt, is_new: bool) -> (usize, bool) {
    let oldest = calls.len().saturating_sub(MOST);
    let mut best: Option<(Rank, Reverse<i64>, usize)> = None;
    let mut rivals = 0;
    let may_be_over = is_new && is_first(next);
    for (place, call) in calls.iter().enumerate().skip(oldest) {
        if may_be_over && call.is_over(next) {
            continue;
        }
        let Some(rank) = call.fit(table, next) else { continue };
        // Prefer the call whose wait ends first; unnumbered attempts continue the latest call.
        let due = call.last(table).map_or(0, |last| due_us(table, last));
        let fit = (rank, Reverse(if next.number > 1 { due } else { -(place as i64) }), place);
        rivals = match best {
            Some((known, ..)) if known > rank => rivals,
            Some((known, ..)) if known == rank => rivals + 1,
            _ => 0,
        };
        best = best.max(Some(fit));
    }
    best.map_or((calls.len(), false), |(rank, _, place)| (place, rivals > 0 && !rank.same_attempt))
}

fn due_us(table: &AttemptTable, last: &Attempt) -> i64 {
    let hint_us = table.detail(last).and_then(|detail| detail.hint_us).unwrap_or(0);
    last.ended().0.saturating_add(hint_us)
}

impl Part {
    fn last<'t>(&self, table: &'t AttemptTable) -> Option<&'t Attempt> {
        self.rows.last().map(|index| &table.rows[*index as usize])
    }

    /// Returns whether a first attempt that is not a copy is too late, according to [`Part::is_another`].
    fn is_over(&self, next: &Attempt) -> bool {
        (next.number != 1 || self.numbered) && self.over.is_some_and(|over| next.sent > over)
    }

    /// Returns how well `next` fits, or `None` if it begins another call.
    fn fit(&self, table: &AttemptTable, next: &Attempt) -> Option<Rank> {
        let last = self.last(table)?;
        let witnesses = self.rows.iter().rev().take(WITNESSES);
        let same_attempt = witnesses.into_iter().any(|index| table.rows[*index as usize].identity == next.identity);
        if is_first(next) && !same_attempt && self.is_another(table, last, next) {
            return None;
        }
        let counted = matches!((last.sdk_count(), next.sdk_count()), (Some(a), Some(b)) if b > 0 && a == b - 1);
        Some(Rank {
            same_attempt,
            in_turn: last.failed() && next.sent.us_since(last.ended()) >= -clock_slack_us(last, next),
            same_client: same_client(table, last, next),
            continues: (next.number > 1 && last.number == next.number - 1) || counted,
        })
    }

    /// Returns whether a first or unnumbered attempt begins another call.
    fn is_another(&self, table: &AttemptTable, last: &Attempt, next: &Attempt) -> bool {
        let begins = next.number == 1;
        if begins && !self.numbered {
            return false;
        }
        if next.sent.us_since(last.ended()) > latest_us(table, last) || self.is_beside(table, next) {
            return true;
        }
        let in_turn = next.sent.us_since(last.ended()) >= -clock_slack_us(last, next);
        !last.failed() && in_turn && !same_request(table, last, next)
    }

    /// Returns whether a first attempt belongs to another process: sent by another client, or while the last attempt of
    /// this call was in flight.
    fn is_beside(&self, table: &AttemptTable, next: &Attempt) -> bool {
        let Some(last) = self.last(table).filter(|_| self.numbered && next.number == 1) else { return false };
        let (a, b) = (table.origin(last), table.origin(next));
        if !same_client(table, last, next) && a.provider == b.provider && a.model == b.model && a.layer == b.layer {
            return true;
        }
        let overlap = next.sent.us_since(last.ended()) < -clock_slack_us(last, next);
        // What one layer sends while another waits for it belongs to the same call.
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
    fn the_next_step_of_a_turn_is_another_call() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","call_id":"t","request_id":"a","status":200,"duration_ms":900}
{"ts":"2026-01-05T10:00:05Z","call_id":"t","request_id":"b","status":529,"duration_ms":900}
{"ts":"2026-01-05T10:00:07Z","call_id":"t","request_id":"c","status":200,"duration_ms":900}"#;
        assert_eq!(sizes(log), [1, 2]);
    }

    /// Creates attempts of one id over weeks, some of them written twice, some with a number or a counter.
    fn worn(count: u32) -> String {
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
    fn calls_that_are_over_need_not_be_looked_at() {
        for count in [70, 400, 900] {
            let table = read_str(&worn(count));
            let rows: Vec<u32> = (0..table.rows.len() as u32).collect();
            let parts = |passes_over| -> Vec<(Vec<u32>, bool)> {
                let parts = split_rows(&table, &rows, passes_over);
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
    fn a_second_first_attempt_beside_another_is_another_call() {
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
    fn calls_of_two_processes_that_count_alike_get_their_own_retries() {
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
        let told = parts(&log(r#","org":"x""#, r#","org":"y""#));
        assert_eq!(told, [(vec![0, 3], false), (vec![1, 2, 4], false)]);
        let guessed = parts(&log("", ""));
        assert!(guessed.len() == 2 && guessed.iter().any(|(_, guessed)| *guessed), "{guessed:?}");
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
