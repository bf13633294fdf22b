//! Retries that came at once after the server had said that it has no room, among all that had the choice.

use super::spot::Spot;
use crate::attempt::{Attempt, Flags};
use crate::calls::{Call, Grouping, same_sender};
use crate::classify::Class;
use smallvec::SmallVec;

/// Shorter than this a wait is none, µs.
const NO_WAIT_US: i64 = 50_000;
/// Shorter than this no timer was set, µs.
const NO_TIMER_US: i64 = 5_000;
/// The least first wait of a sound backoff, µs; it doubles. Official SDKs, _constants.py: 0.5 s.
const LEAST_BASE_US: f64 = 500_000.0;
/// Retries of a call told apart; later ones count as the last.
const STEPS: usize = 4;
/// Retries kept as examples.
const EXAMPLES: usize = 4;

/// The waits of some calls after overloads and rate limits, where the server named none.
#[derive(Clone, Debug, Default)]
pub struct Haste {
    /// Before the first retry of a call, the second, ...
    steps: [u64; STEPS],
    /// Waits shorter than [`NO_WAIT_US`], and than [`NO_TIMER_US`].
    short: u64,
    timerless: u64,
    /// Those of them of which the client says that it chose none.
    meant: u64,
    /// Those whose send was refused again.
    refused_again: u64,
    /// The failures that were answered so, the earliest first.
    examples: SmallVec<[Spot; EXAMPLES]>,
}

/// One wait of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnWait {
    us: i64,
    meant: bool,
}

impl OwnWait {
    /// Whether it is none.
    pub(crate) fn is_none(self) -> bool {
        self.us < NO_WAIT_US
    }

    /// The wait after the attempt at `position`, if that met a lack of room and the client chose when to come back.
    pub(crate) fn after(call: &Call<'_>, position: usize) -> Option<OwnWait> {
        let (attempt, next) = (call.at(position), call.at(position + 1));
        let refused = lacks_room(attempt) && !attempt.flags.has(Flags::SERVER_SAYS_NO);
        // A hint of zero means "now", and another model is a fallback.
        if !refused || call.promised_us(position).is_some() || !same_sender(call.table(), attempt, next) {
            return None;
        }
        let wait = call.wait_before(position + 1)?;
        let planned = call.detail(position).and_then(|detail| detail.planned_us);
        let coarse = call.attempts().all(|attempt| attempt.sent.0 % 1_000_000 == 0);
        // The client says it did not wait, and the log's clock is too coarse to tell: believe it.
        if planned == Some(0) && (coarse || !wait.end_to_start) && wait.us <= 2_000_000 {
            return Some(OwnWait { us: 0, meant: true });
        }
        let sure = call.grouping != Grouping::Inferred || attempt.flags.has(Flags::DECIDED_RETRY) || planned.is_some();
        (sure && !coarse).then_some(OwnWait { us: wait.us, meant: planned == Some(0) })
    }
}

fn lacks_room(attempt: &Attempt) -> bool {
    let limited = matches!(attempt.class, Some(Class::RateLimited | Class::UnexplainedRateLimit));
    let capacity = attempt.class == Some(Class::Overloaded)
        || (attempt.class == Some(Class::GatewayError) && attempt.status == 503);
    limited || capacity
}

impl Haste {
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        for position in call.retried() {
            let Some(wait) = OwnWait::after(call, position) else { continue };
            self.steps[position.min(STEPS - 1)] += 1;
            if wait.is_none() {
                self.short += 1;
                self.timerless += u64::from(wait.us < NO_TIMER_US);
                self.meant += u64::from(wait.meant);
                self.refused_again += u64::from(call.at(position + 1).failed());
                self.note(Spot::of(call.table(), call.rows()[position]));
            }
        }
    }

    fn note(&mut self, failure: Spot) {
        let place = self.examples.partition_point(|known| *known < failure);
        if place < EXAMPLES {
            self.examples.truncate(EXAMPLES - 1);
            self.examples.insert(place, failure);
        }
    }

    pub(super) fn merge(&mut self, other: Haste) {
        self.steps.iter_mut().zip(other.steps).for_each(|(mine, theirs)| *mine += theirs);
        self.short += other.short;
        self.timerless += other.timerless;
        self.meant += other.meant;
        self.refused_again += other.refused_again;
        other.examples.into_iter().for_each(|failure| self.note(failure));
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.examples.iter_mut().for_each(|failure| visit(&mut failure.row));
    }

    /// Waits of the clients' own choosing.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.steps.iter().sum()
    }

    /// Those that were none.
    #[must_use]
    pub fn short(&self) -> u64 {
        self.short
    }

    /// Sends after them that were refused again.
    #[must_use]
    pub fn refused_again(&self) -> u64 {
        self.refused_again
    }

    /// Rows of the earliest failures that were answered so.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.examples.iter().map(|failure| failure.row)
    }

    /// Whether the clients said so of some.
    #[must_use]
    pub fn is_meant(&self) -> bool {
        self.meant > 0
    }

    /// The most that chance makes of it: how likely full jitter, from the least sound base on, is to bring about as
    /// many waits this short.
    #[must_use]
    pub fn by_chance(&self) -> f64 {
        let expected = |us: i64| -> f64 {
            let steps = self.steps.iter().zip(0..);
            steps.map(|(&waits, step)| waits as f64 * us as f64 / (LEAST_BASE_US * 2_f64.powi(step))).sum()
        };
        let short = at_least(self.short, expected(NO_WAIT_US));
        short.min(at_least(self.timerless, expected(NO_TIMER_US)))
    }
}

/// Chernoff's bound on seeing `count` or more where `expected` are.
fn at_least(count: u64, expected: f64) -> f64 {
    let count = count as f64;
    if count <= expected { 1.0 } else { (count - expected - count * (count / expected).ln()).exp() }
}
