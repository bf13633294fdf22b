//! Decides which attempt is a retry of which in a log without call ids: by body, by counters, or by similarity and
//! time.

use super::bodies::{Bodies, Content};
use super::callers::{same_client, same_program};
use super::series::{AttemptSeries, last};
use super::{Grouping, clock_slack_us, longest_plausible_wait_us};
use crate::model::{Attempt, AttemptTable, Flags, Time};
use smallvec::SmallVec;

/// Longest time from the last failure to a fallback to another model, in µs: a client that falls back does so without
/// waiting.
const LONGEST_FALLBACK_US: i64 = 5_000_000;
/// Shortest time after a failure that counts as a wait, in µs: a client that continues with its next item does so at
/// once.
const SHORTEST_WAIT_US: i64 = 300_000;

/// Returns the grouping of an attempt considered alone: by counter if it has one.
pub(super) fn grouping_alone(row: &Attempt) -> Grouping {
    if row.number > 0 || row.sdk_count().is_some() { Grouping::Counter } else { Grouping::Inferred }
}

/// Returns the series whose last request has the same body as `start`. If several have, chooses the one whose counter
/// `start` continues. Otherwise it takes the one whose requested wait ended first, which is a guess.
pub(super) fn match_by_body(
    table: &AttemptTable,
    open: &[AttemptSeries],
    start: &Attempt,
    concurrent: bool,
) -> Option<(usize, Grouping)> {
    let hash = table.request_hash(start);
    if hash == 0 || start.number == 1 {
        return None;
    }
    let can_match = |series: &AttemptSeries| {
        let before = last(table, series);
        let numbers_fit = || start.number == 0 || before.number == 0 || before.number == start.number - 1;
        // With concurrent requests, an SDK counter that restarts at 0 more likely belongs to a new request.
        let restarts =
            || concurrent && before.sdk_count().is_some() && start.sdk_count().is_some_and(|count| count == 0);
        let is_sequential = || start.sent.us_since(before.ended()) >= -clock_slack_us(before, start);
        table.request_hash(before) == hash
            && numbers_fit()
            && !restarts()
            && is_sequential()
            && can_continue(before)
            && are_similar(table, before, start)
    };
    let fitting: SmallVec<[usize; 4]> = (0..open.len()).filter(|&index| can_match(&open[index])).collect();
    let is_counted = |index: &&usize| continues(last(table, &open[**index]), start);
    match (fitting.as_slice(), fitting.iter().filter(is_counted).collect::<SmallVec<[_; 4]>>().as_slice()) {
        ([one], _) => Some((*one, Grouping::Body)),
        (_, [one]) => Some((**one, Grouping::Body)),
        _ => {
            let due = |index: &usize| due(table, last(table, &open[*index]));
            fitting.iter().copied().min_by_key(due).map(|index| (index, Grouping::Inferred))
        }
    }
}

/// Returns whether the client may have fallen back from the model of `series` to that of `start`: a first attempt with
/// a different model within seconds.
pub(super) fn may_fall_back_to(table: &AttemptTable, series: &AttemptSeries, start: &Attempt) -> bool {
    let first = start.number <= 1 && start.sdk_count().is_none_or(|count| count == 0);
    if !first {
        return false;
    }
    let before = last(table, series);
    let (a, b) = (table.origin(before), table.origin(start));
    let after_us = start.sent.us_since(before.ended());
    can_continue(before)
        && a.model.is_some()
        && b.model.is_some()
        && a.model != b.model
        && same_client(table, before, start)
        && (-clock_slack_us(before, start)..=LONGEST_FALLBACK_US).contains(&after_us)
        && !before.flags.has(Flags::TOOL)
        && !start.flags.has(Flags::TOOL)
}

/// Returns the series whose counter `start` continues. If several do, chooses the one whose requested wait ended first,
/// so that a client that respects its waits never appears to be early. That choice is a guess, and so is a match after
/// a longer time than a client waits by itself.
pub(super) fn match_by_counter(
    table: &AttemptTable,
    open: &[AttemptSeries],
    start: &Attempt,
) -> Option<(usize, Grouping)> {
    if start.number <= 1 && start.sdk_count().is_none_or(|count| count == 0) {
        return None;
    }
    let rank = |series: &AttemptSeries| {
        let before = last(table, series);
        let due = due(table, before);
        (before.terminal(), is_late(table, before, start), due > start.sent, due)
    };
    let can_match = |series: &&AttemptSeries| {
        let before = last(table, series);
        continues(before, start) && can_continue(before) && are_similar(table, before, start)
    };
    let best = open.iter().filter(can_match).map(rank).min()?;
    let position = open.iter().position(|series| can_match(&series) && rank(series) == best)?;
    let equals_best = |rank: &(bool, bool, bool, Time)| (rank.0, rank.1, rank.2) == (best.0, best.1, best.2);
    let equal_matches = open.iter().filter(can_match).map(rank).filter(equals_best).count();
    Some((position, if equal_matches > 1 || best.1 { Grouping::Inferred } else { Grouping::Counter }))
}

/// Returns whether attempt numbers, or the SDK's counters, are consecutive.
fn continues(before: &Attempt, next: &Attempt) -> bool {
    if next.number > 0 {
        return next.number > 1 && before.number == next.number - 1;
    }
    match (before.sdk_count(), next.sdk_count()) {
        (Some(before), Some(next)) => next > 0 && before == next - 1,
        _ => false,
    }
}

/// Returns the latest series that failed before the similar request `next` was sent. An attempt with a counter above
/// its first value is excluded: it is matched by counter, or the start of its series is missing. If requests are
/// sequential, series that ended before `last_finished` are excluded, since the program has made other requests since
/// then.
pub(super) fn match_by_similarity(
    table: &AttemptTable,
    open: &[AttemptSeries],
    next: u32,
    (concurrent, last_finished): (bool, Time),
    bodies: &Bodies,
) -> Option<(usize, Grouping)> {
    let start = &table.rows[next as usize];
    // The number 1 after an attempt without a number may be a first retry, of a loop that counts retries or does not
    // number first attempts. It is therefore not excluded.
    let is_counted = start.number > 1 || start.sdk_count().is_some_and(|count| count > 0);
    if is_counted {
        return None;
    }
    let content = Content::of(table, next);
    let can_match = |series: &AttemptSeries| {
        let before = last(table, series);
        let is_sequential = before.number == 0 && start.sent >= before.ended();
        // With concurrent requests, a request that comes after a terminal failure, or before the requested wait has
        // ended, belongs to another call.
        let is_unexplained = || match concurrent {
            true => before.terminal() || due(table, before) > start.sent,
            false => before.ended() < last_finished,
        };
        is_sequential
            && !is_unexplained()
            && can_continue(before)
            && same_kind(table, before, start)
            && same_client(table, before, start)
            && may_be_repeat(table, before, start)
            && !starts_new_backoff(table, before, start)
    };
    let differs = |series: &AttemptSeries| {
        let before = series.rows.last().and_then(|row| Content::of(table, *row));
        before.zip(content).is_some_and(|(before, next)| before.differs(next))
    };
    let is_other_request = |series: &AttemptSeries| {
        is_next_item(table, series, start) || (differs(series) && bodies.repeats_unchanged(table, last(table, series)))
    };
    let is_candidate = |series: &AttemptSeries| can_match(series) && !is_other_request(series);
    let same_body = |series: &AttemptSeries| same_body(table, last(table, series), start);
    let with_same_body = open.iter().rposition(|series| is_candidate(series) && same_body(series));
    // Some clients put a time or a nonce into each body. With sequential requests, a request after the expected wait is
    // sufficient evidence.
    let waited = |series: &AttemptSeries| {
        let keeps_failing = start.failed() || series.rows.len() > 1;
        waited_as_requested(table, last(table, series), start, keeps_failing)
    };
    let with_changed_body =
        || if concurrent { None } else { open.iter().rposition(|series| is_candidate(series) && waited(series)) };
    with_same_body.or_else(with_changed_body).map(|position| (position, Grouping::Inferred))
}

/// Returns whether `next` is the first attempt of another backoff loop: the client plans a shorter wait after it than
/// before, and it was sent later than the previous plan explains.
fn starts_new_backoff(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    let planned = |row| table.detail(row).and_then(|detail| detail.planned_us);
    let (Some(last), Some(this)) = (planned(before), planned(next)) else { return false };
    this < last && next.sent.us_since(before.ended()) > last.saturating_add(LONGEST_FALLBACK_US)
}

/// Returns whether an SDK had exhausted its retries, for the first time in this series, and its next request succeeded
/// at once. Without a matching body that is the program's next request, not another iteration of a retry loop around
/// the SDK.
fn is_next_item(table: &AttemptTable, series: &AttemptSeries, next: &Attempt) -> bool {
    let count = |row: &u32| table.rows[*row as usize].sdk_count();
    let rounds = series.rows.iter().filter(|row| count(row) == Some(0)).count();
    let has_retried = series.rows.last().and_then(count).is_some_and(|count| count > 0);
    has_retried && rounds <= 1 && next.sdk_count() == Some(0) && !next.failed()
}

/// Returns whether `next` was sent after the wait that the server requested or the client announced. Without either, a
/// different body is a different request, except in a series that keeps failing, as a retry loop does.
fn waited_as_requested(table: &AttemptTable, before: &Attempt, next: &Attempt, keeps_failing: bool) -> bool {
    let Some(detail) = table.detail(before).filter(|_| !before.terminal()) else { return false };
    let may_retry = keeps_failing || before.flags.has(Flags::DECIDED_RETRY);
    let requested_us = detail.hint_us.max(detail.planned_us).or(may_retry.then_some(0));
    // 2% is the tolerance with which rule RL301 compares waits with hints.
    requested_us.is_some_and(|us| next.sent.us_since(before.ended()) >= SHORTEST_WAIT_US.max(us - us / 50))
}

/// Returns whether a similar request may be a retry: after a terminal failure only if it fails with the same class and
/// message, as a retry of an unchanged request does.
fn may_be_repeat(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    let message = |row| table.detail(row).map(|detail| detail.message);
    !before.terminal() || (before.class == next.class && message(before) == message(next))
}

/// Returns when the wait requested by the server ends; the end of the attempt if none was requested.
fn due(table: &AttemptTable, row: &Attempt) -> Time {
    row.ended().plus_us(table.detail(row).and_then(|detail| detail.hint_us).unwrap_or(0))
}

/// Returns whether the last of `sends`, in order, shows concurrent requests: it was sent before the previous one ended
/// or, without durations, it is the fourth within a second although the first three succeeded, which is faster than
/// models answer one after the other.
pub(super) fn shows_overlap(table: &AttemptTable, sends: &[u32]) -> bool {
    let row = |index: &u32| &table.rows[*index as usize];
    if let [.., before, next] = sends {
        let (before, next) = (row(before), row(next));
        if next.sent.us_since(before.ended()) < -clock_slack_us(before, next) && !table.is_same_record(before, next) {
            return true;
        }
    }
    let [.., first, second, third, last] = sends else { return false };
    let succeeded = |index| !row(index).failed() && row(index).duration.as_us().is_none();
    let sends = [first, second, third, last];
    let has_duplicates = sends.windows(2).any(|pair| table.is_same_record(row(pair[0]), row(pair[1])));
    [first, second, third].into_iter().all(succeeded)
        && !has_duplicates
        && row(last).sent.us_since(row(first).sent) <= 1_000_000
}

/// Returns whether an attempt sent with `row` or later may continue `series`. A series with a counter may be continued
/// up to `max_blocked_us` after its end.
pub(super) fn may_be_continued(
    table: &AttemptTable,
    series: &AttemptSeries,
    row: &Attempt,
    max_blocked_us: i64,
    is_full: bool,
) -> bool {
    let before = last(table, series);
    let max_blocked_us = if grouping_alone(before) == Grouping::Counter { max_blocked_us } else { 0 };
    let in_time = row.sent.us_since(before.ended()) <= longest_plausible_wait_us(table, before).max(max_blocked_us);
    !is_full && ((can_continue(before) && in_time) || before.sent == row.sent)
}

/// Returns whether `next` was sent later than any plausible wait: the client's own, a hint, or its plan.
fn is_late(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    next.sent.us_since(before.ended()) > longest_plausible_wait_us(table, before)
}

fn can_continue(before: &Attempt) -> bool {
    before.failed() && !before.flags.has(Flags::DECIDED_FAIL)
}

/// Returns whether two requests are similar: same model, provider, program and tool, and no known difference in body.
fn are_similar(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    same_kind(table, before, row) && same_body(table, before, row)
}

fn same_kind(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let (a, b) = (table.origin(before), table.origin(row));
    a.model == b.model && a.provider == b.provider && same_program(table, before, row) && same_tool(table, before, row)
}

/// Returns whether the bodies are not known to differ.
fn same_body(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let (left, right) = (table.request_hash(before), table.request_hash(row));
    left == 0 || right == 0 || left == right
}

/// Returns whether neither attempt is a tool execution, or both execute the same tool with the same arguments: the
/// agent chooses the next execution, and only an identical one may be a retry.
fn same_tool(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let is_tool = |row: &Attempt| row.flags.has(Flags::TOOL);
    let tool = |row| table.detail(row).map(|detail| (detail.tool, detail.request_hash));
    match (is_tool(before), is_tool(row)) {
        (false, false) => true,
        (true, true) => tool(before) == tool(row) && tool(row).is_some_and(|(_, arguments)| arguments != 0),
        _ => false,
    }
}
