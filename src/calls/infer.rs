//! What continues what, in a log that names no calls: by counters, or by likeness and time.

use super::bodies::{Bodies, Content};
use super::series::{Series, last};
use super::{Grouping, clock_slack_us, patience_us};
use crate::model::{Attempt, AttemptTable, Flags, Time};
use smallvec::SmallVec;

/// A client that turns to another model does so within this of the last failure, µs: there is nothing to wait for.
const LONGEST_FALLBACK_US: i64 = 5_000_000;
/// A client that goes on with its next item does so at once: what comes later may have been waited for, µs.
const SHORTEST_WAIT_US: i64 = 300_000;

/// What is known of an attempt before others are looked at: with a counter, where in its call it stands.
pub(super) fn alone(row: &Attempt) -> Grouping {
    if row.number > 0 || row.sdk_count().is_some() { Grouping::Counter } else { Grouping::Inferred }
}

/// The series whose body `start` sends again. Of several, the one that its SDK counter continues; else it is a guess.
pub(super) fn by_body(
    table: &AttemptTable,
    open: &[Series],
    start: &Attempt,
    concurrent: bool,
) -> Option<(usize, Grouping)> {
    let hash = table.request_hash(start);
    if hash == 0 || start.number == 1 {
        return None;
    }
    let fits = |series: &Series| {
        let before = last(table, series);
        let numbered = || start.number == 0 || before.number == 0 || before.number == start.number - 1;
        // A counter that begins anew beside other requests is more likely one of them.
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

/// Whether the client may have given up `series` and asked another model instead: a like request, within seconds.
pub(super) fn gives_way(table: &AttemptTable, series: &Series, start: &Attempt) -> bool {
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
        && (-clock_slack_us(before, start)..=LONGEST_FALLBACK_US).contains(&after_us)
        && !before.flags.has(Flags::TOOL)
        && !start.flags.has(Flags::TOOL)
}

/// The series whose counter `start` continues. Of several, the one whose wait was over first: clients that
/// wait as they should then never look early, whoever of them sent. Which of them it was is a guess, and so is
/// what comes later than a client waits of itself.
pub(super) fn first_due(table: &AttemptTable, open: &[Series], start: &Attempt) -> Option<(usize, Grouping)> {
    if start.number <= 1 && start.sdk_count().is_none_or(|count| count == 0) {
        return None;
    }
    let rank = |series: &Series| {
        let before = last(table, series);
        let due = due(table, before);
        (before.terminal(), is_late(table, before, start), due > start.sent, due)
    };
    let fits = |series: &&Series| {
        let before = last(table, series);
        continues(before, start) && can_continue(before) && alike(table, before, start)
    };
    let best = open.iter().filter(fits).map(rank).min()?;
    let position = open.iter().position(|series| fits(&series) && rank(series) == best)?;
    let alike = |rank: &(bool, bool, bool, Time)| (rank.0, rank.1, rank.2) == (best.0, best.1, best.2);
    let rivals = open.iter().filter(fits).map(rank).filter(alike).count();
    Some((position, if rivals > 1 || best.1 { Grouping::Inferred } else { Grouping::Counter }))
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

/// The latest series that failed before a like request was sent, that of `next`. A numbered attempt needs no guess, and
/// an inner counter above 0 belongs to a series whose start is lost. Where one request follows the other, the program
/// has gone on from what ended before `moved_on`.
pub(super) fn latest(
    table: &AttemptTable,
    open: &[Series],
    next: u32,
    (concurrent, moved_on): (bool, Time),
    bodies: &Bodies,
) -> Option<(usize, Grouping)> {
    let start = &table.rows[next as usize];
    // The number 1 after an attempt without one is that of a first retry: of a loop that counts from zero, or whose
    // first attempts have no number.
    let counted = start.number > 1 || start.sdk_count().is_some_and(|count| count > 0);
    if counted {
        return None;
    }
    let content = Content::of(table, next);
    let fits = |series: &Series| {
        let before = last(table, series);
        let in_turn = before.number == 0 && start.sent >= before.ended();
        // Where many are under way, a send that one of them has no reason to make is another's.
        let another = || match concurrent {
            true => before.terminal() || due(table, before) > start.sent,
            false => before.ended() < moved_on,
        };
        in_turn
            && !another()
            && can_continue(before)
            && of_one_kind(table, before, start)
            && heals(table, before, start)
            && !starts_over(table, before, start)
    };
    let differs = |series: &Series| {
        let before = series.rows.last().and_then(|row| Content::of(table, *row));
        before.zip(content).is_some_and(|(before, next)| before.differs(next))
    };
    let is_another = |series: &Series| {
        is_next_item(table, series, start) || (differs(series) && bodies.are_kept(table, last(table, series)))
    };
    let like = |series: &Series| fits(series) && !is_another(series);
    let same_body = |series: &Series| same_body(table, last(table, series), start);
    let found = open.iter().rposition(|series| like(series) && same_body(series));
    // Some clients put a time or a nonce into the body: where one request follows the other when it should, that
    // tells as much.
    let waited = |series: &Series| {
        let fails_on = start.failed() || series.rows.len() > 1;
        waited_as_told(table, last(table, series), start, fails_on)
    };
    let changed = || if concurrent { None } else { open.iter().rposition(|series| like(series) && waited(series)) };
    found.or_else(changed).map(|position| (position, Grouping::Inferred))
}

/// Whether the wait that the client announces after `next` is shorter than the one before, as a schedule begins, and
/// `next` came later than that one and a usual answer explain.
fn starts_over(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    let planned = |row| table.detail(row).and_then(|detail| detail.planned_us);
    let (Some(last), Some(this)) = (planned(before), planned(next)) else { return false };
    this < last && next.sent.us_since(before.ended()) > last.saturating_add(LONGEST_FALLBACK_US)
}

/// Whether an SDK went through its retries once, and what it sent then succeeded at once: without a body that comes again,
/// that is the next request of the program rather than a loop around the SDK, whose rounds follow one another.
fn is_next_item(table: &AttemptTable, series: &Series, next: &Attempt) -> bool {
    let count = |row: &u32| table.rows[*row as usize].sdk_count();
    let rounds = series.rows.iter().filter(|row| count(row) == Some(0)).count();
    let went_through = series.rows.last().and_then(count).is_some_and(|count| count > 0);
    went_through && rounds <= 1 && next.sdk_count() == Some(0) && !next.failed()
}

/// Whether `next` was sent when a wait was over that the server asked for, or that the client said it would make. Without
/// either, another body is another request, unless one failure follows the other, as where a loop goes on.
fn waited_as_told(table: &AttemptTable, before: &Attempt, next: &Attempt, fails_on: bool) -> bool {
    let Some(detail) = table.detail(before).filter(|_| !before.terminal()) else { return false };
    let goes_on = fails_on || before.flags.has(Flags::DECIDED_RETRY);
    let said = detail.hint_us.max(detail.planned_us).or(goes_on.then_some(0));
    said.is_some_and(|us| next.sent.us_since(before.ended()) >= SHORTEST_WAIT_US.max(us - us / 50))
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

/// Whether the last of `sends`, in order, shows more than one request under way: sent before the one before
/// ended or, where the log has no durations, fourth within a second although the first three were answered.
pub(super) fn overlaps(table: &AttemptTable, sends: &[u32]) -> bool {
    let row = |index: &u32| &table.rows[*index as usize];
    if let [.., before, next] = sends {
        let (before, next) = (row(before), row(next));
        if next.sent.us_since(before.ended()) < -clock_slack_us(before, next) && !is_copy(before, next) {
            return true;
        }
    }
    let [.., first, second, third, last] = sends else { return false };
    let answered = |index| !row(index).failed() && row(index).duration.as_us().is_none();
    let sends = [first, second, third, last];
    let copied = sends.windows(2).any(|pair| is_copy(row(pair[0]), row(pair[1])));
    [first, second, third].into_iter().all(answered) && !copied && row(last).sent.us_since(row(first).sent) <= 1_000_000
}

/// Whether something sent with `row` or later may continue `series`. What has a counter may do so up to `gate_us`
/// after its end.
pub(super) fn may_go_on(table: &AttemptTable, series: &Series, row: &Attempt, gate_us: i64, crowded: bool) -> bool {
    let before = last(table, series);
    let gate_us = if alone(before) == Grouping::Counter { gate_us } else { 0 };
    let in_time = row.sent.us_since(before.ended()) <= patience_us(table, before).max(gate_us);
    !crowded && ((can_continue(before) && in_time) || before.sent == row.sent)
}

/// Whether `next` was sent later than a client waits of itself, or as a hint or its plan has it.
fn is_late(table: &AttemptTable, before: &Attempt, next: &Attempt) -> bool {
    next.sent.us_since(before.ended()) > patience_us(table, before)
}

fn can_continue(before: &Attempt) -> bool {
    before.failed() && !before.flags.has(Flags::DECIDED_FAIL)
}

/// The same record delivered again.
pub(super) fn is_copy(before: &Attempt, row: &Attempt) -> bool {
    before.identified() && before.identity == row.identity && before.sent == row.sent && before.number == row.number
}

/// A request of the same kind: same model, and the same body where both are known.
fn alike(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    of_one_kind(table, before, row) && same_body(table, before, row)
}

fn of_one_kind(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let (a, b) = (table.origin(before), table.origin(row));
    a.model == b.model && a.provider == b.provider && same_tool(table, before, row)
}

/// Whether nothing shows that the bodies differ.
fn same_body(table: &AttemptTable, before: &Attempt, row: &Attempt) -> bool {
    let (left, right) = (table.request_hash(before), table.request_hash(row));
    left == 0 || right == 0 || left == right
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
