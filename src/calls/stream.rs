//! Infers the calls of an attempt stream: the records of one run, or of one file, that have no call ids. First,
//! attempts with consecutive counters form series; then a series that failed is joined with a similar one that follows
//! within a plausible wait.
//!
//! Attempts may be added in any number of portions, with the same result. A call is returned as soon as no later
//! attempt can belong to it.

use super::bodies::Bodies;
use super::callers::are_one_client;
use super::infer::{
    grouping_alone, match_by_body, match_by_counter, match_by_similarity, may_be_continued, may_fall_back_to,
    shows_overlap,
};
use super::series::{AttemptSeries, first_attempt, last};
use super::{Grouping, LOOKAHEAD_US, sort_key};
use crate::model::{Attempt, AttemptTable, OriginId, Time};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Maximum number of series of one attempt stream that may still be continued: more than any client has in flight at
/// once.
const MAX_OPEN: usize = 4096;
/// Longest time for which rate limits met by other calls may block a client, in µs: rule RL308 says that a wait of more
/// than five minutes should end the call.
const MAX_BLOCKED_US: i64 = 300_000_000;
/// Maximum number of series that may still be continued for that time to be allowed. With more of them it is unlikely
/// that the right one is chosen.
const MAX_BLOCKED_SERIES: usize = 256;
/// State of the inference for one attempt stream.
#[derive(Debug)]
pub(crate) struct AttemptStream {
    /// The most recent rows, up to four.
    recent: SmallVec<[u32; 4]>,
    /// Time at which requests were first seen to overlap.
    overlap_since: Option<Time>,
    /// What the stream shows about repeated request bodies.
    bodies: Bodies,
    /// Rows not yet assigned to a series, in order.
    pending: VecDeque<u32>,
    /// Series of attempts with consecutive counters.
    by_counter: SeriesJoiner,
    /// Complete series that began later than one that is incomplete.
    waiting: Vec<AttemptSeries>,
    /// Series of similar series.
    by_similarity: SeriesJoiner,
    /// Latest end of the series processed by `join`, by origin of their last attempts.
    last_ends: SmallVec<[(OriginId, Time); 2]>,
}

/// Splits all rows of an attempt stream into calls.
pub(super) fn split(table: &AttemptTable, rows: &[u32]) -> Vec<AttemptSeries> {
    let mut rows = rows.to_vec();
    rows.sort_unstable_by_key(|row| sort_key(table, *row));
    let (mut stream, mut calls) = (AttemptStream::default(), Vec::new());
    stream.push(table, &rows);
    stream.advance(table, Time(i64::MAX), &mut calls);
    calls
}

impl Default for AttemptStream {
    fn default() -> AttemptStream {
        AttemptStream {
            recent: SmallVec::new(),
            overlap_since: None,
            bodies: Bodies::default(),
            pending: VecDeque::new(),
            by_counter: SeriesJoiner { max_blocked_us: MAX_BLOCKED_US, ..SeriesJoiner::default() },
            waiting: Vec::new(),
            by_similarity: SeriesJoiner::default(),
            last_ends: SmallVec::new(),
        }
    }
}

impl AttemptStream {
    /// Adds further rows, in order.
    pub(crate) fn push(&mut self, table: &AttemptTable, rows: &[u32]) {
        for row in rows {
            if self.recent.len() == 4 {
                self.recent.remove(0);
            }
            self.recent.push(*row);
            if self.overlap_since.is_none() && shows_overlap(table, &self.recent) {
                self.overlap_since = Some(table.rows[*row as usize].sent);
            }
            self.bodies.add_row(table, *row);
            self.pending.push_back(*row);
        }
    }

    /// Appends to `calls` those to which no attempt sent at `now` or later can belong; all of them if `now` is the
    /// maximum.
    pub(crate) fn advance(&mut self, table: &AttemptTable, now: Time, calls: &mut Vec<AttemptSeries>) {
        let over = now == Time(i64::MAX);
        let until = if over { now } else { now.plus_us(-LOOKAHEAD_US) };
        while let Some(&row) = self.pending.front()
            && table.rows[row as usize].sent < until
        {
            self.pending.pop_front();
            let grouping = grouping_alone(&table.rows[row as usize]);
            let next = AttemptSeries { rows: SmallVec::from_slice(&[row]), grouping, fell_back: false };
            let concurrent = self.is_concurrent(table.rows[row as usize].sent);
            let pick = |open: &[AttemptSeries], start: &Attempt| {
                match_by_body(table, open, start, concurrent).or_else(|| match_by_counter(table, open, start))
            };
            self.by_counter.append(table, next, pick, &mut self.waiting);
        }
        if over {
            self.waiting.append(&mut self.by_counter.open);
        }
        self.join(table, calls);
        if over {
            calls.append(&mut self.by_similarity.open);
        }
    }

    /// Joins similar series, among the complete ones that began before every incomplete one.
    fn join(&mut self, table: &AttemptTable, calls: &mut Vec<AttemptSeries>) {
        let earliest_send = |series: &AttemptSeries| sort_key(table, series.rows[0]);
        let first_incomplete = self.by_counter.open.iter().map(earliest_send).min();
        self.waiting.sort_by_key(earliest_send);
        let ready = first_incomplete.map_or(self.waiting.len(), |first_incomplete| {
            self.waiting.partition_point(|series| earliest_send(series) < first_incomplete)
        });
        for next in self.waiting.drain(..ready).collect::<Vec<_>>() {
            let (row, start) = (next.rows[0], first_attempt(table, &next));
            let concurrent = self.is_concurrent(start.sent);
            if let Some(given_up) =
                self.by_similarity.open.iter_mut().rev().find(|open| may_fall_back_to(table, open, start))
            {
                given_up.fell_back = true;
            }
            let end = last(table, &next);
            let (origin, ended) = (end.origin, end.ended());
            let context = (concurrent, self.last_finished(table, start));
            self.by_similarity.append(
                table,
                next,
                |open, _| match_by_similarity(table, open, row, context, &self.bodies),
                calls,
            );
            match self.last_ends.iter_mut().find(|(known, _)| *known == origin) {
                Some((_, latest)) => *latest = ended.max(*latest),
                None => self.last_ends.push((origin, ended)),
            }
        }
    }

    /// Returns when the caller of `start` last finished a request.
    fn last_finished(&self, table: &AttemptTable, start: &Attempt) -> Time {
        let of_caller = self.last_ends.iter().filter(|(origin, _)| {
            *origin == start.origin || are_one_client(table.origin_of(*origin), table.origin(start))
        });
        of_caller.map(|(_, last_ends)| *last_ends).max().unwrap_or(Time(i64::MIN))
    }

    /// Returns whether requests overlap around the time `sent`.
    fn is_concurrent(&self, sent: Time) -> bool {
        self.overlap_since.is_some_and(|overlap_since| overlap_since <= sent.plus_us(LOOKAHEAD_US))
    }

    /// Returns the earliest send time of the rows that are not yet returned in calls.
    pub(crate) fn earliest_send(&self, table: &AttemptTable) -> Option<Time> {
        let series = self.by_counter.open.iter().chain(&self.waiting).chain(&self.by_similarity.open);
        let rows = series.flat_map(|series| &series.rows).chain(&self.pending);
        rows.map(|row| table.rows[*row as usize].sent).min()
    }

    /// Visits every stored row number, to be updated when rows leave the table.
    pub(crate) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.recent.iter_mut().chain(&mut self.pending).for_each(&mut *visit);
        let series = self.by_counter.open.iter_mut().chain(&mut self.waiting).chain(&mut self.by_similarity.open);
        series.flat_map(|series| &mut series.rows).for_each(visit);
    }

    /// Returns whether all rows have been returned in calls, and no state affects later rows.
    pub(crate) fn is_finished(&self) -> bool {
        let held =
            [&self.waiting, &self.by_counter.open, &self.by_similarity.open].into_iter().any(|list| !list.is_empty());
        self.pending.is_empty() && !held && self.overlap_since.is_none() && self.bodies.is_empty()
    }
}

/// Series that may still be continued.
#[derive(Debug, Default)]
struct SeriesJoiner {
    open: Vec<AttemptSeries>,
    /// Time of the last check for series that can no longer be continued, and the `max_blocked_us` it used.
    last_check: Option<(Time, i64)>,
    /// Longest wait of a series with a counter, in µs, if that is longer than a client waits by itself.
    max_blocked_us: i64,
}

impl SeriesJoiner {
    /// Appends `next` to the open series chosen by `pick`, or adds it as an open series. Moves to `closed` the series
    /// that are too old to be continued.
    fn append(
        &mut self,
        table: &AttemptTable,
        next: AttemptSeries,
        pick: impl Fn(&[AttemptSeries], &Attempt) -> Option<(usize, Grouping)>,
        closed: &mut Vec<AttemptSeries>,
    ) {
        let start = first_attempt(table, &next);
        let is_full = self.open.len() >= MAX_OPEN;
        let max_blocked_us = if self.open.len() > MAX_BLOCKED_SERIES { 0 } else { self.max_blocked_us };
        // One check is enough for all records with the same time.
        if is_full || self.last_check != Some((start.sent, max_blocked_us)) {
            closed.extend(
                self.open.extract_if(.., |series| !may_be_continued(table, series, start, max_blocked_us, is_full)),
            );
            self.last_check = Some((start.sent, max_blocked_us));
        }
        let duplicate = || self.open.iter().rposition(|earlier| table.is_same_record(last(table, earlier), start));
        let found_duplicate = if table.may_be_repeated(start) { duplicate() } else { None };
        let found = found_duplicate
            .map(|position| (position, self.open[position].grouping))
            .or_else(|| pick(&self.open, start));
        match found {
            Some((position, grouping)) => {
                let call = &mut self.open[position];
                call.grouping = call.certainty().max(grouping).max(next.certainty());
                call.fell_back = next.fell_back;
                call.rows.extend(next.rows);
            }
            None => self.open.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::series::Rows;

    /// Returns the lines of the attempts of each call, sorted by first line, and its grouping.
    fn calls(log: &str) -> Vec<(Vec<u32>, Grouping)> {
        let table = crate::ingest::read_str(log);
        let rows: Vec<u32> = (0..table.rows.len() as u32).collect();
        let lines = |rows: Rows| rows.iter().map(|&row| table.rows[row as usize].line).collect();
        let mut calls: Vec<_> =
            split(&table, &rows).into_iter().map(|series| (lines(series.rows), series.grouping)).collect();
        calls.sort_by_key(|(lines, _): &(Vec<u32>, _)| lines[0]);
        calls
    }

    #[test]
    fn of_two_waiting_clients_the_one_whose_wait_ends_first_retries_first() {
        let log = r#"{"ts":"2026-05-20T10:00:00.0Z","attempt":1,"status":429,"retry_after":2,"duration_ms":10}
{"ts":"2026-05-20T10:00:01.5Z","attempt":1,"status":429,"retry_after":2,"duration_ms":10}
{"ts":"2026-05-20T10:00:02.1Z","attempt":2,"status":200,"duration_ms":10}
{"ts":"2026-05-20T10:00:03.6Z","attempt":2,"status":200,"duration_ms":10}"#;
        let expected = vec![(vec![1, 3], Grouping::Counter), (vec![2, 4], Grouping::Counter)];
        assert_eq!(calls(log), expected);
    }

    #[test]
    fn a_counter_may_continue_after_minutes_but_that_is_a_guess() {
        let log = |again: &str| {
            format!(
                r#"{{"ts":"2026-05-20T10:00:00Z","attempt":1,"status":529,"duration_ms":10}}
{{"ts":"2026-05-20T10:{again}Z","attempt":2,"status":200,"duration_ms":10}}"#
            )
        };
        assert_eq!(calls(&log("01:00")), vec![(vec![1, 2], Grouping::Counter)]);
        assert_eq!(calls(&log("04:00")), vec![(vec![1, 2], Grouping::Inferred)]);
        assert_eq!(calls(&log("06:00")).len(), 2);
    }

    #[test]
    fn a_counter_continues_a_recent_failure_rather_than_an_old_one() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","attempt":1,"status":529,"duration_ms":10}
{"ts":"2026-05-20T10:02:00Z","attempt":1,"status":529,"duration_ms":10}
{"ts":"2026-05-20T10:02:02Z","attempt":2,"status":200,"duration_ms":10}"#;
        assert_eq!(calls(log), vec![(vec![1], Grouping::Counter), (vec![2, 3], Grouping::Counter)]);
    }

    #[test]
    fn a_terminal_failure_is_not_continued_if_another_failure_can_be() {
        let log = r#"{"ts":"2026-05-20T10:00:00.0Z","attempt":1,"status":529,"duration_ms":10}
{"ts":"2026-05-20T10:00:00.3Z","attempt":1,"status":400,"error_type":"invalid_request_error","duration_ms":10}
{"ts":"2026-05-20T10:00:00.5Z","attempt":2,"status":200,"duration_ms":10}"#;
        assert_eq!(calls(log), vec![(vec![1, 3], Grouping::Counter), (vec![2], Grouping::Counter)]);
    }

    #[test]
    fn a_similar_request_after_a_terminal_failure_is_the_next_item() {
        let other = r#"{"ts":"2026-05-20T10:00:00Z","status":400,"error":{"type":"invalid_request_error","message":"item 1 is empty"}}
{"ts":"2026-05-20T10:00:03Z","status":200}"#;
        assert_eq!(calls(other).len(), 2);
        let same = r#"{"ts":"2026-05-20T10:00:00Z","status":400,"error":{"type":"invalid_request_error","message":"item 1 is empty"}}
{"ts":"2026-05-20T10:00:03Z","status":400,"error":{"type":"invalid_request_error","message":"item 1 is empty"}}"#;
        assert_eq!(calls(same), vec![(vec![1, 2], Grouping::Inferred)]);
    }

    #[test]
    fn with_concurrent_requests_one_sent_within_a_hint_is_another_call() {
        let sequential = r#"{"ts":"2026-05-20T10:00:00.0Z","status":429,"retry_after":9,"duration_ms":10}
{"ts":"2026-05-20T10:00:01.0Z","status":200,"duration_ms":900}"#;
        assert_eq!(calls(sequential).len(), 1);
        let concurrent = r#"{"ts":"2026-05-20T10:00:00.0Z","status":200,"duration_ms":5000}
{"ts":"2026-05-20T10:00:00.2Z","status":429,"retry_after":9,"duration_ms":10}
{"ts":"2026-05-20T10:00:01.0Z","status":200,"duration_ms":900}"#;
        assert_eq!(calls(concurrent).len(), 3);
    }

    #[test]
    fn a_tool_is_retried_only_with_the_same_arguments() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","kind":"tool_call","tool":"a","args_sha":"1","outcome":"timeout"}
{"ts":"2026-05-20T10:00:30Z","kind":"tool_call","tool":"a","args_sha":"1","outcome":"timeout"}
{"ts":"2026-05-20T10:00:40Z","kind":"tool_call","tool":"a","args_sha":"2","outcome":"timeout"}
{"ts":"2026-05-20T10:00:45Z","kind":"tool_call","tool":"b","args_sha":"2","outcome":"ok"}
{"ts":"2026-05-20T10:00:50Z","status":200}"#;
        assert_eq!(lines_of(log), vec![vec![1, 2], vec![3], vec![4], vec![5]]);
    }

    fn lines_of(log: &str) -> Vec<Vec<u32>> {
        calls(log).into_iter().map(|(lines, _)| lines).collect()
    }

    #[test]
    fn another_body_is_another_request_unless_a_requested_wait_was_respected() {
        let log = |hint: &str, body: &str| {
            format!(
                r#"{{"ts":"2026-05-20T10:00:00Z","status":429,"duration_ms":10,"request_hash":"a"{hint}}}
{{"ts":"2026-05-20T10:00:02.1Z","status":200,"duration_ms":10,"request_hash":"{body}"}}"#
            )
        };
        assert_eq!(lines_of(&log("", "b")), [vec![1], vec![2]]);
        assert_eq!(lines_of(&log(r#","retry_after":2"#, "b")), [vec![1, 2]]);
        assert_eq!(lines_of(&log(r#","retry_after":3"#, "b")), [vec![1], vec![2]]);
        assert_eq!(lines_of(&log("", "a")), [vec![1, 2]]);
    }

    #[test]
    fn a_client_that_repeats_bodies_does_not_retry_with_another_body() {
        let repeat = r#"
{"ts":"2026-05-20T10:00:05Z","status":529,"duration_ms":10,"client":"x","request_hash":"c"}
{"ts":"2026-05-20T10:00:06Z","status":200,"duration_ms":10,"client":"x","request_hash":"c"}"#;
        let without_repeat = r#"{"ts":"2026-05-20T10:00:00Z","status":429,"duration_ms":10,"client":"x","request_hash":"a","retry_after":2}
{"ts":"2026-05-20T10:00:02.1Z","status":200,"duration_ms":10,"client":"x","request_hash":"b"}"#;
        assert_eq!(lines_of(without_repeat), [vec![1, 2]]);
        assert_eq!(lines_of(&format!("{without_repeat}{repeat}")), [vec![1], vec![2], vec![3, 4]]);
        let of_other_client = repeat.replace(r#""client":"x""#, r#""client":"y""#);
        assert_eq!(lines_of(&format!("{without_repeat}{of_other_client}")), [vec![1, 2], vec![3, 4]]);
    }

    #[test]
    fn a_longer_prompt_is_another_request_if_other_retries_keep_theirs() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","status":529,"duration_ms":10,"input_tokens":100}
{"ts":"2026-05-20T10:00:02Z","status":529,"duration_ms":10,"input_tokens":100}
{"ts":"2026-05-20T10:00:04Z","status":200,"duration_ms":10,"input_tokens":230}"#;
        assert_eq!(lines_of(log), [vec![1, 2], vec![3]]);
        let once = r#"{"ts":"2026-05-20T10:00:00Z","status":529,"duration_ms":10,"input_tokens":100}
{"ts":"2026-05-20T10:00:02Z","status":200,"duration_ms":10,"input_tokens":230}"#;
        assert_eq!(lines_of(once), [vec![1, 2]]);
    }

    #[test]
    fn large_attempt_numbers_do_not_overflow() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","attempt":65535,"status":529}
{"ts":"2026-05-20T10:00:03Z","attempt":1,"status":529}"#;
        assert_eq!(calls(log).len(), 2);
    }
}
