//! Infers the calls of a stream of records without call ids. First, attempts with consecutive counters form series;
//! then a series that failed is joined with a similar one that follows within a plausible wait.
//!
//! The result does not depend on how the stream is split: calls are returned as soon as nothing can continue them.

use super::bodies::Bodies;
use super::callers::are_one_client;
use super::infer::{alone, by_body, first_due, gives_way, latest, may_go_on, overlaps};
use super::series::{AttemptSeries, first, last};
use super::{FORESIGHT_US, Grouping, order_of};
use crate::model::{Attempt, AttemptTable, OriginId, Time};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Maximum number of unfinished series of one stream that are tracked: more than any client has in flight at once.
const MOST_OPEN: usize = 4096;
/// Longest time a client may be blocked by rate limits that other calls met, in µs: a wait of more than five minutes
/// should end the call, according to rule RL308.
const LONGEST_AT_A_GATE_US: i64 = 300_000_000;
/// Maximum number of unfinished series with which that time is allowed; with more, blocked ones cannot be identified.
const MOST_AT_A_GATE: usize = 256;
/// The records of one run, or of one file if no run is named.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The most recent rows, up to four.
    recent: SmallVec<[u32; 4]>,
    /// Time at which requests were first seen to overlap.
    overlap: Option<Time>,
    /// What the stream shows about repeated request bodies.
    bodies: Bodies,
    /// Rows not yet assigned, in order.
    ahead: VecDeque<u32>,
    /// Series joined by counters.
    counted: Joint,
    /// Complete series that wait for earlier ones to complete.
    waiting: Vec<AttemptSeries>,
    /// Series joined by similarity.
    joined: Joint,
    /// Latest end of the series processed by `join`, by origin of their last attempts.
    ended: SmallVec<[(OriginId, Time); 2]>,
}

/// Splits all rows of a stream into calls.
pub(super) fn split(table: &AttemptTable, rows: &[u32]) -> Vec<AttemptSeries> {
    let mut rows = rows.to_vec();
    rows.sort_unstable_by_key(|row| order_of(table, *row));
    let (mut stream, mut calls) = (Stream::default(), Vec::new());
    stream.push(table, &rows);
    stream.advance(table, Time(i64::MAX), &mut calls);
    calls
}

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            recent: SmallVec::new(),
            overlap: None,
            bodies: Bodies::default(),
            ahead: VecDeque::new(),
            counted: Joint { gate_us: LONGEST_AT_A_GATE_US, ..Joint::default() },
            waiting: Vec::new(),
            joined: Joint::default(),
            ended: SmallVec::new(),
        }
    }
}

impl Stream {
    /// Adds further rows, in order.
    pub(crate) fn push(&mut self, table: &AttemptTable, rows: &[u32]) {
        for row in rows {
            if self.recent.len() == 4 {
                self.recent.remove(0);
            }
            self.recent.push(*row);
            if self.overlap.is_none() && overlaps(table, &self.recent) {
                self.overlap = Some(table.rows[*row as usize].sent);
            }
            self.bodies.note(table, *row);
            self.ahead.push_back(*row);
        }
    }

    /// Appends to `calls` those that nothing sent at `now` or later can continue; all of them if `now` is the maximum.
    pub(crate) fn advance(&mut self, table: &AttemptTable, now: Time, calls: &mut Vec<AttemptSeries>) {
        let over = now == Time(i64::MAX);
        let until = if over { now } else { now.plus_us(-FORESIGHT_US) };
        while let Some(&row) = self.ahead.front()
            && table.rows[row as usize].sent < until
        {
            self.ahead.pop_front();
            let grouping = alone(&table.rows[row as usize]);
            let next = AttemptSeries { rows: SmallVec::from_slice(&[row]), grouping, fell_back: false };
            let concurrent = self.is_concurrent(table.rows[row as usize].sent);
            let pick = |open: &[AttemptSeries], start: &Attempt| {
                by_body(table, open, start, concurrent).or_else(|| first_due(table, open, start))
            };
            self.counted.take(table, next, pick, &mut self.waiting);
        }
        if over {
            self.waiting.append(&mut self.counted.open);
        }
        self.join(table, calls);
        if over {
            calls.append(&mut self.joined.open);
        }
    }

    /// Joins the complete series that began before every incomplete one.
    fn join(&mut self, table: &AttemptTable, calls: &mut Vec<AttemptSeries>) {
        let begun = |series: &AttemptSeries| order_of(table, series.rows[0]);
        let barrier = self.counted.open.iter().map(begun).min();
        self.waiting.sort_by_key(begun);
        let ready = barrier
            .map_or(self.waiting.len(), |barrier| self.waiting.partition_point(|series| begun(series) < barrier));
        for next in self.waiting.drain(..ready).collect::<Vec<_>>() {
            let (row, start) = (next.rows[0], first(table, &next));
            let concurrent = self.is_concurrent(start.sent);
            if let Some(given_up) = self.joined.open.iter_mut().rev().find(|open| gives_way(table, open, start)) {
                given_up.fell_back = true;
            }
            let end = last(table, &next);
            let (origin, ended) = (end.origin, end.ended());
            let light = (concurrent, self.moved_on(table, start));
            self.joined.take(table, next, |open, _| latest(table, open, row, light, &self.bodies), calls);
            match self.ended.iter_mut().find(|(known, _)| *known == origin) {
                Some((_, latest)) => *latest = ended.max(*latest),
                None => self.ended.push((origin, ended)),
            }
        }
    }

    /// Returns when the caller of `start` last finished a request.
    fn moved_on(&self, table: &AttemptTable, start: &Attempt) -> Time {
        let of_caller = self.ended.iter().filter(|(origin, _)| {
            *origin == start.origin || are_one_client(table.origin_of(*origin), table.origin(start))
        });
        of_caller.map(|(_, ended)| *ended).max().unwrap_or(Time(i64::MIN))
    }

    /// Returns whether requests overlap around the time `sent`.
    fn is_concurrent(&self, sent: Time) -> bool {
        self.overlap.is_some_and(|overlap| overlap <= sent.plus_us(FORESIGHT_US))
    }

    /// Returns the earliest send time of the rows that are not yet returned in calls.
    pub(crate) fn begun(&self, table: &AttemptTable) -> Option<Time> {
        let series = self.counted.open.iter().chain(&self.waiting).chain(&self.joined.open);
        let rows = series.flat_map(|series| &series.rows).chain(&self.ahead);
        rows.map(|row| table.rows[*row as usize].sent).min()
    }

    /// Visits every stored row number, to be updated when rows leave the table.
    pub(crate) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.recent.iter_mut().chain(&mut self.ahead).for_each(&mut *visit);
        let series = self.counted.open.iter_mut().chain(&mut self.waiting).chain(&mut self.joined.open);
        series.flat_map(|series| &mut series.rows).for_each(visit);
    }

    /// Returns whether all rows are returned and no state affects later rows.
    pub(crate) fn is_over(&self) -> bool {
        let held = [&self.waiting, &self.counted.open, &self.joined.open].into_iter().any(|list| !list.is_empty());
        self.ahead.is_empty() && !held && self.overlap.is_none() && self.bodies.is_empty()
    }
}

/// Series that may still be continued.
#[derive(Debug, Default)]
struct Joint {
    open: Vec<AttemptSeries>,
    /// Time and `gate_us` of the last check for series that can no longer be continued.
    swept: Option<(Time, i64)>,
    /// How long a series with a counter may pause, in µs, if that is longer than a client waits by itself.
    gate_us: i64,
}

impl Joint {
    /// Appends `next` to the open series chosen by `pick`, or opens it. Closes the series that it is too late to
    /// continue.
    fn take(
        &mut self,
        table: &AttemptTable,
        next: AttemptSeries,
        pick: impl Fn(&[AttemptSeries], &Attempt) -> Option<(usize, Grouping)>,
        closed: &mut Vec<AttemptSeries>,
    ) {
        let start = first(table, &next);
        let crowded = self.open.len() >= MOST_OPEN;
        let gate_us = if self.open.len() > MOST_AT_A_GATE { 0 } else { self.gate_us };
        // One check is enough for all records with the same time.
        if crowded || self.swept != Some((start.sent, gate_us)) {
            closed.extend(self.open.extract_if(.., |series| !may_go_on(table, series, start, gate_us, crowded)));
            self.swept = Some((start.sent, gate_us));
        }
        let copy = || self.open.iter().rposition(|earlier| table.is_same_record(last(table, earlier), start));
        let copied = if table.may_be_repeated(start) { copy() } else { None };
        let found = copied.map(|position| (position, self.open[position].grouping)).or_else(|| pick(&self.open, start));
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
    fn of_two_clients_that_wait_the_first_due_is_back_first() {
        let log = r#"{"ts":"2026-05-20T10:00:00.0Z","attempt":1,"status":429,"retry_after":2,"duration_ms":10}
{"ts":"2026-05-20T10:00:01.5Z","attempt":1,"status":429,"retry_after":2,"duration_ms":10}
{"ts":"2026-05-20T10:00:02.1Z","attempt":2,"status":200,"duration_ms":10}
{"ts":"2026-05-20T10:00:03.6Z","attempt":2,"status":200,"duration_ms":10}"#;
        let expected = vec![(vec![1, 3], Grouping::Counter), (vec![2, 4], Grouping::Counter)];
        assert_eq!(calls(log), expected);
    }

    #[test]
    fn a_counter_may_go_on_after_minutes_and_that_is_a_guess() {
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
    fn a_counter_goes_on_with_what_failed_within_reach_before_what_failed_long_ago() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","attempt":1,"status":529,"duration_ms":10}
{"ts":"2026-05-20T10:02:00Z","attempt":1,"status":529,"duration_ms":10}
{"ts":"2026-05-20T10:02:02Z","attempt":2,"status":200,"duration_ms":10}"#;
        assert_eq!(calls(log), vec![(vec![1], Grouping::Counter), (vec![2, 3], Grouping::Counter)]);
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
        assert_eq!(lines_of(log), vec![vec![1, 2], vec![3], vec![4], vec![5]]);
    }

    fn lines_of(log: &str) -> Vec<Vec<u32>> {
        calls(log).into_iter().map(|(lines, _)| lines).collect()
    }

    #[test]
    fn another_body_is_another_request_unless_a_told_wait_was_kept() {
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
    fn a_client_that_repeats_bodies_sends_no_other_body_as_a_retry() {
        let shown = r#"
{"ts":"2026-05-20T10:00:05Z","status":529,"duration_ms":10,"client":"x","request_hash":"c"}
{"ts":"2026-05-20T10:00:06Z","status":200,"duration_ms":10,"client":"x","request_hash":"c"}"#;
        let told = r#"{"ts":"2026-05-20T10:00:00Z","status":429,"duration_ms":10,"client":"x","request_hash":"a","retry_after":2}
{"ts":"2026-05-20T10:00:02.1Z","status":200,"duration_ms":10,"client":"x","request_hash":"b"}"#;
        assert_eq!(lines_of(told), [vec![1, 2]]);
        assert_eq!(lines_of(&format!("{told}{shown}")), [vec![1], vec![2], vec![3, 4]]);
        let of_another = shown.replace(r#""client":"x""#, r#""client":"y""#);
        assert_eq!(lines_of(&format!("{told}{of_another}")), [vec![1, 2], vec![3, 4]]);
    }

    #[test]
    fn a_longer_prompt_is_another_request_where_retries_keep_theirs() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","status":529,"duration_ms":10,"input_tokens":100}
{"ts":"2026-05-20T10:00:02Z","status":529,"duration_ms":10,"input_tokens":100}
{"ts":"2026-05-20T10:00:04Z","status":200,"duration_ms":10,"input_tokens":230}"#;
        assert_eq!(lines_of(log), [vec![1, 2], vec![3]]);
        let once = r#"{"ts":"2026-05-20T10:00:00Z","status":529,"duration_ms":10,"input_tokens":100}
{"ts":"2026-05-20T10:00:02Z","status":200,"duration_ms":10,"input_tokens":230}"#;
        assert_eq!(lines_of(once), [vec![1, 2]]);
    }

    #[test]
    fn no_number_overflows() {
        let log = r#"{"ts":"2026-05-20T10:00:00Z","attempt":65535,"status":529}
{"ts":"2026-05-20T10:00:03Z","attempt":1,"status":529}"#;
        assert_eq!(calls(log).len(), 2);
    }
}
