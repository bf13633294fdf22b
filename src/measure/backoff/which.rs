//! Whose wait one is, which of its loop, and how long.

use crate::calls::{Call, Grouping, same_sender, shows_retry};
use crate::measure::call_terms::CallTerms;
use crate::model::{Attempt, Flags};

/// One wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Which {
    /// The loop around the client's own retries waited, not those.
    pub(super) outer: bool,
    /// Before which retry of its loop: 1 is the first.
    pub(super) step: u8,
    pub(super) length: Length,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// The loop chose it, µs.
    Own(i64),
    /// The server had asked for it.
    Dictated,
    /// The log does not show it: its clock is too coarse, or it lacks durations.
    Unknown { coarse: bool },
}

/// The wait before the attempt at `position`, where it is one of a retry loop, as the first `known` attempts show it.
pub(super) fn of(call: &Call<'_>, position: usize, known: usize, terms: &CallTerms) -> Option<Which> {
    let (before, this) = (call.at(position - 1), call.at(position));
    let decided = [Flags::DECIDED_FAIL, Flags::DECIDED_OTHER, Flags::TOOL];
    let retried = before.failed()
        && same_sender(call.table(), before, this)
        && !decided.iter().any(|flag| before.flags.has(*flag));
    if !retried || is_repair(call, position) {
        return None;
    }
    let (outer, step) = step(call, position)?;
    let measured = call.wait_before(position)?;
    let length = match (planned(call, position - 1, known), call.hint_us(position - 1)) {
        (None, _) if call.grouping == Grouping::Inferred && !shows_retry(call, position - 1) => return None,
        (own, Some(hint)) if own.unwrap_or(measured.us) >= hint - terms.tolerated_us(hint) => Length::Dictated,
        (Some(own), _) => Length::Own(own),
        // From start to start the length of the attempt counts as well, which varies with other things.
        (None, _) if measured.end_to_start => match coarse(call, known) {
            true => Length::Unknown { coarse: true },
            false => Length::Own(measured.us),
        },
        (None, _) => Length::Unknown { coarse: false },
    };
    Some(Which { outer, step, length })
}

/// Whether the attempt at `position` sent another request in the place of one that was refused for good: that is no
/// retry, and the time before it no backoff. Where bodies are not logged, another answer tells.
fn is_repair(call: &Call<'_>, position: usize) -> bool {
    let (before, this) = (call.at(position - 1), call.at(position));
    let hash = |p: usize| call.detail(p).map_or(0, |detail| detail.request_hash);
    let same_body = hash(position) != 0 && hash(position) == hash(position - 1);
    before.terminal() && (call.body_changed(position - 1, position) || (!same_body && this.class != before.class))
}

/// The wait the client says it chose. Whole seconds may be rounded ones.
fn planned(call: &Call<'_>, position: usize, known: usize) -> Option<i64> {
    let of = |p: usize| call.detail(p).and_then(|detail| detail.planned_us);
    let planned = of(position).filter(|us| *us >= 0)?;
    let precise = (0..known.min(TELLING)).filter_map(of).any(|us| us % 1_000_000 != 0);
    precise.then_some(planned)
}

/// So many attempts of a call tell how finely its times are kept: a loop run wild makes a million.
const TELLING: usize = 256;

/// Some logs keep whole seconds.
fn coarse(call: &Call<'_>, known: usize) -> bool {
    call.attempts().take(known.min(TELLING)).all(|attempt| attempt.sent.0 % 1_000_000 == 0)
}

/// Whose wait it is, and which: by the counters, else by the place in the call.
pub(in crate::measure) fn step(call: &Call<'_>, position: usize) -> Option<(bool, u8)> {
    let (before, this) = (call.at(position - 1), call.at(position));
    let follows = this.number == before.number + 1;
    match (before.sdk_count(), this.sdk_count()) {
        (Some(a), Some(b)) if b == a.saturating_add(1) => Some((false, b)),
        (Some(_), Some(0)) => {
            let counts_rounds = follows && !counts_sends(call, position);
            Some((true, capped(if counts_rounds { before.number.into() } else { rounds(call, position) })))
        }
        (None, None) if numbered(before) && numbered(this) => follows.then(|| (false, capped(before.number.into()))),
        (None, None) if !numbered(before) && !numbered(this) => Some((false, capped(position))),
        _ => None,
    }
}

/// Rounds of the outer loop that ended before the attempt at `position`. More than a step can be need not be counted.
fn rounds(call: &Call<'_>, position: usize) -> usize {
    (1..=position).filter(|&p| call.at(p).sdk_count() == Some(0)).take(u8::MAX.into()).count()
}

/// Whether the attempt numbers count what the client sends, rather than the rounds around it: they differ within one.
fn counts_sends(call: &Call<'_>, position: usize) -> bool {
    let goes_on = |p: &usize| call.at(*p).sdk_count().is_some_and(|count| count > 0);
    (1..position.min(TELLING)).filter(goes_on).any(|p| call.at(p).number != call.at(p - 1).number)
}

fn numbered(attempt: &Attempt) -> bool {
    attempt.number > 0
}

fn capped(step: usize) -> u8 {
    u8::try_from(step).unwrap_or(u8::MAX)
}
