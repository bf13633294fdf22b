//! Decides which attempt continues which in a log without call ids: by counters, or by similarity and time.

use super::bodies::{Bodies, Content};
use super::callers::{same_client, same_program};
use super::series::{AttemptSeries, last};
use super::{Grouping, clock_slack_us, patience_us};
use crate::model::{Attempt, AttemptTable, Flags, Time};
use smallvec::SmallVec;

/// Longest time from the last failure to a fallback to another model, in µs: a fallback needs no wait.
const LONGEST_FALLBACK_US: i64 = 5_000_000;
/// Shortest time after a failure that counts as a wait, in µs: a client that continues with its next item does so at
/// once.
const SHORTEST_WAIT_US: i64 = 300_000;

/// Returns the grouping of an attempt considered alone: by counter if it has one.
pub(super) fn alone(row: &Attempt) -> Grouping {
    if row.number > 0 || row.sdk_count().is_some() { Grouping::Counter } else { Grouping::Inferred }
}

/// Returns the series whose last request has the same body as `start`. If several match, chooses the one that the SDK
/// counter continues; otherwise the choice is a guess.
pub(super) fn by_body(
    table: &AttemptTable,
    open: &[AttemptSeries],
    start: &Attempt,
    concurrent: bool,
) -> Option<(usize, Grouping)> {
    let hash = table.request_hash(start);
    if hash == 0 || start.number == 1 {
        return None;
    }
    let fits = |series: &AttemptSeries| {
        let before = last(table, series);
        let numbered = || start.number == 0 || before.number == 0 || before.number == start.number - 1;
        // A counter that restarts while requests are concurrent more likely belongs to a new request.
        let anew = || concurrent && before.sdk_count().is_some() && start.sdk_count().is_some_and(|count| count == 0);
        let in_turn = || start.sent.us_since(before.ended()) >= -clock_slack_us(before, start);
        table.request_hash(before) == hash
            && numbered()
            && !anew()
            && in_turn()
            && can_continue(before)
            && alike(table, before, start)
    };
    let fitting: SmallVec<[usize; 4]> = (0..open.len()).filter(|&place| fits(&open[place])).collect();
    let counted = |place: &&usize| continues(last(table, &open[**place]), start);
    match (fitting.as_slice(), fitting.iter().filter(counted).collect::<SmallVec<[_; 4]>>().as_slice()) {
        ([one], _) => Some((*one, Grouping::Body)),
        (_, [one]) => Some((**one, Grouping::Body)),
        _ => {
            let due = |place: &usize| due(table, last(table, &open[*place]));
            fitting.iter().copied().min_by_key(due).map(|place| (place, Grouping::Inferred))
        }
    }
}

/// Returns whether the client may have abandoned `series` for another model: a first attempt with a different model
/// within seconds.
pub(super) fn gives_way(table: &AttemptTable, series: &AttemptSeries, start: &Attempt) -> bool {
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

/// Returns the series whose counter `start` continues. If several match, chooses the one whose wait ended first, so
/// that clients that respect their waits never appear to be early. That choice is a guess, and so is an attempt later
/// than a client waits by itself.
pub(super) fn first_due(table: &AttemptTable, open: &[AttemptSeries], start: &Attempt) -> Option<(usize, Grouping)> {
    if start.number <= 1 && start.sdk_count().is_none_or(|count| count == 0) {
        return None;
    }
    let rank = |series: &AttemptSeries| {
        let before = last(table, series);
        let due = due(table, before);
        (before.terminal(), is_late(table, before, start), due > start.sent, due)
    };
    let fits = |series: &&AttemptSeries| {
        let before = last(table, series);
        continues(before, start) && can_continue(before) && alike(table, before, start)
    };
    let best = open.iter().filter(fits).map(rank).min()?;
    let position = open.iter().position(|series| fits(&series) && rank(series) == best)?;
    let alike = |rank: &(bool, bool, bool, Time)| (rank.0, rank.1, rank.2) == (best.0, best.1, best.2);
    let rivals = open.iter().filter(fits).map(rank).filter(alike).count();
    Some((position, if rivals > 1 || best.1 { Grouping::Inferred } else { Grouping::Counter }))
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

/// Returns the latest series that failed before the similar request `next` was sent. Counted attempts are excluded:
/// those are matched by counter, and an inner counter above 0 belongs to a series whose start is missing. If requests
/// are sequential, series that ended before `moved_on` are excluded, since the program has continued since then.
pub(super) fn latest(
    table: &AttemptTable,
    open: &[AttemptSeries],
    next: u32,
    (concurrent, moved_on): (bool, Time),
    bodies: &Bodies,
) -> Option<(usize, Grouping)> {
    let start = &table.rows[next as usize];
    // Number 1 after an attempt without a number is a first retry, of a loop that counts from zero or does not number
    // first attempts.
    let counted = start.number > 1 || start.sdk_count().is_some_and(|count| count > 0);
    if counted {
        return None;
    }
    let content = Content::of(table, next);
    let fits = |series: &AttemptSeries| {
        let before = last(table, series);
        let in_turn = before.number == 0 && start.sent >= before.ended();
        // With concurrent requests, a send that a series has no reason to make belongs to another.
        let another = || match concurrent {
            true => before.terminal() || due(table, before) > start.sent,
            false => before.ended() < moved_on,
        };
        in_turn
            && !another()
            && can_continue(before)
            && of_one_kind(table, before, start)
            && same_client(table, before, start)
            && heals(table, before, start)
            && !starts_over(table, before, start)
    };
    let differs = |series: &AttemptSeries| {
        let before = series.rows.last().and_then(|row| Content::of(table, *row));
        before.zip(content).is_some_and(|(before, next)| before.differs(next))
    };
    let is_another = |series: &AttemptSeries| {
        is_next_item(table, series, start) || (differs(series) && bodies.are_kept(table, last(table, series)))
    };
    let like = |series: &AttemptSeries| fits(series) && !is_another(series);
    let same_body = |series: &AttemptSeries| same_body(table, last(table, series), start);
    let found = open.iter().rposition(|series| like(series) && same_body(series));
    // Some clients put a time or a nonce into the body. With sequential requests, a send at the expected time is
    // evidence enough.
    let waited = |series: &AttemptSeries| {
        let fails_on = start.failed() || series.rows.len() > 1;
        waited_as_told(table, last(table, series), start, fails_on)
    };
    let changed = || if concurrent { None } else { open.iter().rposition(|series| like(series) && waited(series)) };
    found.or_else(changed).map(|position| (position, Grouping::Inferred))
}

/// Returns whether `next` starts a new backoff: the wait the client plans after it is shorter than the one before, and
/// it came later than the planned wait and a usual response explain.
fn starts_over(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    let planned = |row| table.detail(row).and_then(|detail| detail.planned_us);
    let (Some(last), Some(this)) = (planned(before), planned(next)) else { return false };
    this < last && next.sent.us_since(before.ended()) > last.saturating_add(LONGEST_FALLBACK_US)
}

/// Returns whether an SDK exhausted its retries once and what it sent next succeeded at once. Without a matching body
/// that is the program's next request, not another round of a loop around the SDK.
fn is_next_item(table: &AttemptTable, series: &AttemptSeries, next: &Attempt) -> bool {
    let count = |row: &u32| table.rows[*row as usize].sdk_count();
    let rounds = series.rows.iter().filter(|row| count(row) == Some(0)).count();
    let went_through = series.rows.last().and_then(count).is_some_and(|count| count > 0);
    went_through && rounds <= 1 && next.sdk_count() == Some(0) && !next.failed()
}

/// Returns whether `next` was sent after the wait that the server asked for or the client announced. Without either, a
/// different body is a different request, unless failure follows failure, as in a retry loop.
fn waited_as_told(table: &AttemptTable, before: &Attempt, next: &Attempt, fails_on: bool) -> bool {
    let Some(detail) = table.detail(before).filter(|_| !before.terminal()) else { return false };
    let goes_on = fails_on || before.flags.has(Flags::DECIDED_RETRY);
    let said = detail.hint_us.max(detail.planned_us).or(goes_on.then_some(0));
    said.is_some_and(|us| next.sent.us_since(before.ended()) >= SHORTEST_WAIT_US.max(us - us / 50))
}

/// Returns whether a similar request may be a repeat: after a terminal failure only if it fails with the same class and
/// message.
fn heals(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    let words = |row| table.detail(row).map(|detail| detail.message);
    !before.terminal() || (before.class == next.class && words(before) == words(next))
}

/// Returns when the wait requested by the server ends; the end of the attempt if none was requested.
fn due(table: &AttemptTable, row: &Attempt) -> Time {
    row.ended().plus_us(table.detail(row).and_then(|detail| detail.hint_us).unwrap_or(0))
}

/// Returns whether the last of `sends`, in order, shows concurrent requests: it was sent before the previous one ended
/// or, without durations, it is the fourth within a second although the first three succeeded.
pub(super) fn overlaps(table: &AttemptTable, sends: &[u32]) -> bool {
    let row = |index: &u32| &table.rows[*index as usize];
    if let [.., before, next] = sends {
        let (before, next) = (row(before), row(next));
        if next.sent.us_since(before.ended()) < -clock_slack_us(before, next) && !table.is_same_record(before, next) {
            return true;
        }
    }
    let [.., first, second, third, last] = sends else { return false };
    let answered = |index| !row(index).failed() && row(index).duration.as_us().is_none();
    let sends = [first, second, third, last];
    let copied = sends.windows(2).any(|pair| table.is_same_record(row(pair[0]), row(pair[1])));
    [first, second, third].into_iter().all(answered) && !copied && row(last).sent.us_since(row(first).sent) <= 1_000_000
}

/// Returns whether an attempt sent with `row` or later may continue `series`. A series with a counter may be continued
/// up to `gate_us` after its end.
pub(super) fn may_go_on(
    table: &AttemptTable,
    series: &AttemptSeries,
    row: &Attempt,
    gate_us: i64,
    crowded: bool,
) -> bool {
    let before = last(table, series);
    let gate_us = if alone(before) == Grouping::Counter { gate_us } else { 0 };
    let in_time = row.sent.us_since(before.ended()) <= patience_us(table, before).max(gate_us);
    !crowded && ((can_continue(before) && in_time) || before.sent == row.sent)
}

/// Returns whether `next` was sent later than any plausible wait: the client's own, a hint, or its plan.
fn is_late(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    next.sent.us_since(before.ended()) > patience_us(table, before)
}

fn can_continue(before: &Attempt) -> bool {
    before.failed() && !before.flags.has(Flags::DECIDED_FAIL)
}

/// Returns whether two requests are similar: same model, provider and program, and no known difference in body.
fn alike(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    of_one_kind(table, before, row) && same_body(table, before, row)
}

fn of_one_kind(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
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
