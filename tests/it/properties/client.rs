//! How a client retries. Every knob has a healthy setting; defects turn one of them.

use super::dice::Dice;
use super::provider::{Failure, Kind};

/// A retry policy.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) layer: &'static str,
    /// The most attempts of one call.
    pub(crate) attempts: u32,
    /// The longest a call may take, in seconds.
    pub(crate) budget_s: f64,
    pub(crate) backoff: Backoff,
    /// What it does with a wait the server asks for.
    pub(crate) hints: Hints,
    pub(crate) retries: fn(&Failure) -> bool,
    /// Whether it sends nothing into a limit that another worker knows to be shut, and slows down before.
    pub(crate) gated: bool,
    /// Whether a closed account ends the run.
    pub(crate) stops: bool,
    /// Deadline of one attempt, in seconds.
    pub(crate) deadline_s: f64,
    pub(crate) max_tokens: u32,
    /// Sends that a loop inside makes before this one counts an attempt.
    pub(crate) inner: u32,
}

/// Waits of the client's own choosing: step 0 is the first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Backoff {
    /// Anything up to a ceiling that doubles.
    FullJitter { base_s: f64, cap_s: f64 },
    /// The official SDKs: 0.5 s, doubling to 8 s, less up to a quarter.
    Ladder,
    /// The nominal wait exactly, doubling to the cap.
    Exact { base_s: f64, cap_s: f64 },
    /// The same each time, give or take a share of it.
    Constant { wait_s: f64, spread: f64 },
}

impl Backoff {
    fn wait_s(self, step: u32, dice: &mut Dice) -> f64 {
        let doubled = |base_s: f64, cap_s: f64| cap_s.min(base_s * 2_f64.powi(step.min(20) as i32));
        match self {
            Backoff::FullJitter { base_s, cap_s } => dice.between(0.0, doubled(base_s, cap_s)),
            Backoff::Ladder => doubled(0.5, 8.0) * dice.between(0.75, 1.0),
            Backoff::Exact { base_s, cap_s } => doubled(base_s, cap_s),
            Backoff::Constant { wait_s, spread } => wait_s * dice.between(1.0 - spread, 1.0 + spread),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hints {
    /// Waits as long as asked, and a little longer; gives up over so many seconds.
    Obeys {
        most_s: f64,
    },
    /// Waits as asked, to the millisecond.
    Exactly,
    Ignores,
}

impl Client {
    /// The wait before the next attempt, or none where the call ends. `step` counts the waits before.
    pub(crate) fn wait_s(&self, failure: &Failure, step: u32, spent_s: f64, dice: &mut Dice) -> Option<f64> {
        if !(self.retries)(failure) || step + 1 >= self.attempts {
            return None;
        }
        // An inner loop begins its waits anew in every round; the outer one waits between rounds.
        let rounds = step / self.inner;
        let place = if (step + 1).is_multiple_of(self.inner) { rounds } else { step % self.inner };
        let own = self.backoff.wait_s(place, dice);
        let wait = match (self.hints, failure.hint_s) {
            (Hints::Obeys { most_s }, Some(hint)) if hint > most_s => return None,
            (Hints::Obeys { .. }, Some(hint)) => hint * dice.between(1.0, 1.1) + dice.between(0.02, 0.6),
            (Hints::Exactly, Some(hint)) => hint + dice.between(0.002, 0.01),
            (Hints::Ignores, _) | (_, None) => own,
        };
        (spent_s + wait < self.budget_s).then_some(wait)
    }
}

/// What a healthy client retries.
pub(crate) fn passing(failure: &Failure) -> bool {
    matches!(failure.kind, Kind::Passing | Kind::Deadline | Kind::Limited)
}

/// What a defective client retries.
pub(crate) fn everything(_: &Failure) -> bool {
    true
}

/// What another does not.
pub(crate) fn nothing(_: &Failure) -> bool {
    false
}
