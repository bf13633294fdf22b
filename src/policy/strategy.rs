//! The behaviour of a client under failure, as plain data.

use super::Random;
use crate::model::{Jitter, Policy, Schedule};
use std::sync::Arc;

/// Waits of the official SDKs: 75 to 100% of half a second, doubling to 8 s (_constants.py: INITIAL_RETRY_DELAY,
/// MAX_RETRY_DELAY; _base_client.py: `1 - 0.25 * random()`).
pub const SDK: Schedule = Schedule { base_s: 0.5, factor: 2.0, cap_s: 8.0, jitter: Jitter::Below(0.25) };
/// Attempts of the official SDKs (_constants.py: DEFAULT_MAX_RETRIES, and the first attempt).
pub const SDK_ATTEMPTS: u32 = 3;

/// How a client, or a fleet of identical clients, retries.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    /// Maximum number of attempts of a call, including the first; `None` for as many as the budget allows.
    pub max_attempts: Option<u32>,
    /// Schedule of the waits.
    pub schedule: Schedule,
    /// Whether a `retry-after` of the server is the minimum wait.
    pub obeys_hints: bool,
    /// Whether no client sends before the `retry-after` given to any of them has passed.
    pub gate: bool,
    /// Number of failures for lack of capacity after which a call continues at a second endpoint.
    pub fallback_after: Option<u32>,
    /// Time budget of a call for further attempts, in seconds.
    pub budget_s: Option<f64>,
    /// Circuit breaker, which stops all clients for a while after consecutive failures.
    pub breaker: Option<Breaker>,
    /// Maximum number of retries per first attempt, over all calls; retries beyond it are not made.
    pub retry_share: Option<f64>,
    /// Number of rounds of an outer loop, each of which starts the inner loop anew.
    pub outer: u32,
    /// Observed waits and ends, which replace schedule and attempts.
    pub observed: Option<Arc<ObservedBehaviour>>,
}

/// What the clients of a log did after each failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedBehaviour {
    /// Behaviour after the first failure of a call, the second, and so on; the last entry applies to all later ones.
    pub steps: Vec<ObservedStep>,
}

/// What clients did after the nth failure of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedStep {
    /// Waits of the clients that continued, in seconds.
    pub waits_s: Vec<f64>,
    /// Number of clients that stopped.
    pub stopped: u64,
}

impl ObservedBehaviour {
    fn step(&self, failure: u32) -> Option<&ObservedStep> {
        self.steps.get(failure.saturating_sub(1) as usize).or(self.steps.last())
    }

    /// Draws whether a client stops after the nth failure.
    pub(super) fn stops(&self, failure: u32, random: &mut Random) -> bool {
        let Some(step) = self.step(failure) else { return true };
        let all = step.waits_s.len() as f64 + step.stopped as f64;
        step.waits_s.is_empty() || random.unit() * all < step.stopped as f64
    }

    fn wait_s(&self, failure: u32, random: &mut Random) -> f64 {
        let waits = self.step(failure).map_or(&[][..], |step| &step.waits_s);
        waits.get((random.unit() * waits.len() as f64) as usize).copied().unwrap_or(0.0)
    }
}

/// A circuit breaker shared by all calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breaker {
    /// Number of consecutive failures after which it opens.
    pub failures: u32,
    /// Seconds after which it lets one attempt through.
    pub open_s: f64,
}

impl Strategy {
    /// Creates a strategy with a schedule and a maximum number of attempts, and nothing else.
    #[must_use]
    pub fn plain(schedule: Schedule, max_attempts: u32) -> Strategy {
        Strategy {
            max_attempts: Some(max_attempts),
            schedule,
            obeys_hints: false,
            gate: false,
            fallback_after: None,
            budget_s: None,
            breaker: None,
            retry_share: None,
            outer: 1,
            observed: None,
        }
    }

    /// Creates the strategy of a declared policy. What the policy leaves out is taken from `default`, except that a
    /// budget without a number of attempts means as many as the budget allows.
    #[must_use]
    pub fn declared(policy: &Policy, default: &Strategy) -> Strategy {
        let attempts = if policy.budget_s.is_some() { None } else { default.max_attempts };
        let cap_s = policy.cap_s.unwrap_or(default.schedule.cap_s);
        Strategy {
            max_attempts: policy.max_attempts.or(attempts),
            schedule: policy.schedule.unwrap_or(Schedule { cap_s, ..default.schedule }),
            budget_s: policy.budget_s.or(default.budget_s),
            obeys_hints: true,
            ..default.clone()
        }
    }

    /// Returns the maximum number of attempts of all loops together.
    #[must_use]
    pub fn all_attempts(&self) -> Option<u64> {
        Some(u64::from(self.max_attempts?).saturating_mul(u64::from(self.outer.max(1))))
    }

    /// Draws the wait after the nth failure of a call, in seconds; `previous_s` is the wait before that attempt.
    pub fn wait_s(&self, failure: u32, previous_s: f64, random: &mut Random) -> f64 {
        match &self.observed {
            Some(observed) => observed.wait_s(failure, random),
            None => draw(&self.schedule, self.step(failure), previous_s, random),
        }
    }

    /// Returns the step of the schedule after the nth failure. An outer loop waits by the same schedule, counted in its
    /// own rounds, and restarts the inner one.
    fn step(&self, failure: u32) -> u32 {
        match self.max_attempts {
            Some(inner) if self.outer > 1 && inner > 0 => match failure % inner {
                0 => failure / inner,
                step => step,
            },
            _ => failure,
        }
    }
}

/// Draws a wait by `schedule` after the nth failure, in seconds. It takes one random number, or none without jitter.
fn draw(schedule: &Schedule, failure: u32, previous_s: f64, random: &mut Random) -> f64 {
    let nominal = schedule.nominal_s(failure);
    match schedule.jitter {
        Jitter::None => nominal,
        Jitter::Full => random.uniform(0.0, nominal),
        Jitter::Equal => nominal / 2.0 + random.uniform(0.0, nominal / 2.0),
        Jitter::Decorrelated => {
            let longest_s = 3.0 * previous_s.max(schedule.base_s);
            random.uniform(schedule.base_s, longest_s).min(schedule.cap_s)
        }
        Jitter::Share(share) => random.uniform(nominal * (1.0 - share).max(0.0), nominal * (1.0 + share)),
        Jitter::Below(share) => nominal * (1.0 - share * random.unit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_lies_in_the_band_of_its_schedule() {
        let mut random = Random::new(7);
        let named = Jitter::NAMED.map(|(_, jitter)| jitter);
        for jitter in named.into_iter().chain([Jitter::Share(0.3)]) {
            let schedule = Schedule { base_s: 0.5, factor: 2.0, cap_s: 8.0, jitter };
            let strategy = Strategy::plain(schedule, 9);
            for _ in 0..200 {
                let mut before = 0.0;
                for failure in 1..9 {
                    before = strategy.wait_s(failure, before, &mut random);
                    assert!(schedule.allowed_s(failure).contains(&before), "{jitter:?} after {failure}: {before}");
                }
            }
        }
    }

    #[test]
    fn an_outer_loop_restarts_the_inner_one() {
        let strategy = Strategy { outer: 3, ..Strategy::plain(Schedule { jitter: Jitter::None, ..SDK }, 4) };
        let mut random = Random::new(0);
        let waits: Vec<f64> = (1..12).map(|failure| strategy.wait_s(failure, 0.0, &mut random)).collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 0.5, 0.5, 1.0, 2.0, 1.0, 0.5, 1.0, 2.0]);
        assert_eq!(strategy.all_attempts(), Some(12));
    }

    #[test]
    fn a_declared_policy_overrides_the_default() {
        let default = Strategy::plain(SDK, 5);
        let policy = Policy { budget_s: Some(60.0), cap_s: Some(30.0), ..Policy::default() };
        let strategy = Strategy::declared(&policy, &default);
        assert_eq!((strategy.max_attempts, strategy.budget_s, strategy.schedule.cap_s), (None, Some(60.0), 30.0));
        let counted = Strategy::declared(&Policy { max_attempts: Some(4), ..policy }, &default);
        assert_eq!(counted.max_attempts, Some(4));
        assert_eq!(Strategy::declared(&Policy::default(), &default).max_attempts, Some(5));
    }
}
