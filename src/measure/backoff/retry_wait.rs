//! Determines the loop, step and length of a wait before a retry.

use crate::calls::{Call, Grouping, same_sender, shows_retry};
use crate::measure::call_terms::CallTerms;
use crate::model::{Attempt, Flags};

/// Loop, step and length of one wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RetryWait {
    /// Whether the loop around the client library's retries waited, rather than the library itself.
    pub(super) outer: bool,
    /// Number of the retry that the wait precedes, from 1.
    pub(super) step: u8,
    pub(super) length: Length,
}

/// Length of a wait, and who chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// The loop chose this wait, in µs.
    Chosen(i64),
    /// The server requested the wait.
    ServerRequested,
    /// The log does not show the length: its clock is too coarse, or durations are missing.
    Unknown { coarse: bool },
}

/// Returns the wait before the attempt at `position`, if a retry loop waited, according to the first `known` attempts
/// of the call.
pub(super) fn of(call: &Call<'_>, position: usize, known: usize, terms: &CallTerms) -> Option<RetryWait> {
    let (before, this) = (call.at(position - 1), call.at(position));
    let other_decisions = [Flags::DECIDED_FAIL, Flags::DECIDED_OTHER, Flags::TOOL];
    let retried = before.failed()
        && same_sender(call.table(), before, this)
        && !other_decisions.iter().any(|flag| before.flags.has(*flag));
    if !retried || is_repair(call, position) {
        return None;
    }
    let (outer, step) = step(call, position)?;
    let measured = call.wait_before(position)?;
    let length = match (planned(call, position - 1, known), call.hint_us(position - 1)) {
        (None, _) if call.grouping == Grouping::Inferred && !shows_retry(call, position - 1) => return None,
        (stated, Some(hint)) if stated.unwrap_or(measured.us) >= hint - terms.tolerated_us(hint) => {
            Length::ServerRequested
        }
        (Some(stated), _) => Length::Chosen(stated),
        // A wait from start to start includes the duration of the attempt, which varies for other reasons.
        (None, _) if measured.is_exact => match is_coarse(call, known) {
            true => Length::Unknown { coarse: true },
            false => Length::Chosen(measured.us),
        },
        (None, _) => Length::Unknown { coarse: false },
    };
    Some(RetryWait { outer, step, length })
}

/// Returns whether the attempt at `position` sent a changed request after a terminal failure. That is no retry, and the
/// time before it no backoff. Without logged bodies, a different failure class shows the change.
fn is_repair(call: &Call<'_>, position: usize) -> bool {
    let (before, this) = (call.at(position - 1), call.at(position));
    let hash = |p: usize| call.detail(p).map_or(0, |detail| detail.request_hash);
    let same_body = hash(position) != 0 && hash(position) == hash(position - 1);
    before.terminal() && (call.body_changed(position - 1, position) || (!same_body && this.class != before.class))
}

/// Returns the wait stated by the client, or `None` if all stated waits of the call are whole seconds, which may be
/// rounded.
fn planned(call: &Call<'_>, position: usize, known: usize) -> Option<i64> {
    let of = |p: usize| call.detail(p).and_then(|detail| detail.planned_us);
    let planned = of(position).filter(|us| *us >= 0)?;
    let precise = (0..known.min(MAX_CHECKED)).filter_map(of).any(|us| us % 1_000_000 != 0);
    precise.then_some(planned)
}

/// Maximum number of attempts that are checked for the resolution of a call's times, since an endless loop may make a
/// million.
const MAX_CHECKED: usize = 256;

/// Returns whether the log has only whole seconds.
fn is_coarse(call: &Call<'_>, known: usize) -> bool {
    call.attempts().take(known.min(MAX_CHECKED)).all(|attempt| attempt.sent.0 % 1_000_000 == 0)
}

/// Returns whether the outer loop waited, and the number of the retry, from the counters or else from the position in
/// the call.
pub(in crate::measure) fn step(call: &Call<'_>, position: usize) -> Option<(bool, u8)> {
    let (before, this) = (call.at(position - 1), call.at(position));
    let follows = this.number == before.number + 1;
    match (before.sdk_count(), this.sdk_count()) {
        (Some(a), Some(b)) if b == a.saturating_add(1) => Some((false, b)),
        (Some(_), Some(0)) => {
            let counts_rounds = follows && !counts_sends(call, position);
            Some((true, capped(if counts_rounds { before.number.into() } else { rounds(call, position) })))
        }
        (None, None) if is_numbered(before) && is_numbered(this) => {
            follows.then(|| (false, capped(before.number.into())))
        }
        (None, None) if !is_numbered(before) && !is_numbered(this) => Some((false, capped(position))),
        _ => None,
    }
}

/// Counts the rounds of the outer loop that ended before the attempt at `position`, up to the largest step number.
fn rounds(call: &Call<'_>, position: usize) -> usize {
    (1..=position).filter(|&p| call.at(p).sdk_count() == Some(0)).take(u8::MAX.into()).count()
}

/// Returns whether attempt numbers count the client's sends rather than the rounds around it: they change within a
/// round.
fn counts_sends(call: &Call<'_>, position: usize) -> bool {
    let is_retry = |p: &usize| call.at(*p).sdk_count().is_some_and(|count| count > 0);
    (1..position.min(MAX_CHECKED)).filter(is_retry).any(|p| call.at(p).number != call.at(p - 1).number)
}

fn is_numbered(attempt: &Attempt) -> bool {
    attempt.number > 0
}

fn capped(step: usize) -> u8 {
    u8::try_from(step).unwrap_or(u8::MAX)
}
