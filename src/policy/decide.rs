//! What a client does after a failure; simulated and scripted clients share this decision.

use super::{Random, Strategy};
use crate::classify::Bucket;

/// The properties of a failure by which a client decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failed {
    /// How the failure can be overcome.
    pub bucket: Bucket,
    /// Wait requested by the server, in seconds.
    pub hint_s: Option<f64>,
}

/// Progress of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Attempts made, including the failed one.
    pub attempts: u32,
    /// Failures of these for lack of capacity.
    pub capacity_failures: u32,
    /// Seconds since the first attempt was sent.
    pub elapsed_s: f64,
    /// Wait before the failed attempt, in seconds.
    pub waited_s: f64,
}

/// What the client does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Makes another attempt after a wait.
    Retry {
        /// The wait, in seconds.
        wait_s: f64,
        /// Reason for the length of the wait.
        reason: Reason,
    },
    /// Makes no further attempt.
    Stop(Stop),
}

/// Why a client waits as long as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its own schedule.
    Schedule,
    /// The server asked for it.
    ServerAsked,
    /// Its own schedule, at the second endpoint.
    Fallback,
}

/// Why a call ends without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The same request can only fail again.
    Terminal,
    /// It has made all its attempts.
    Attempts,
    /// The next attempt would be after the end of its budget.
    Budget,
    /// The fleet has used up its share of retries.
    RetryShare,
}

impl Strategy {
    /// Returns whether a call with this many failures for lack of capacity uses the second endpoint.
    #[must_use]
    pub fn has_fallen_back(&self, capacity_failures: u32) -> bool {
        self.fallback_after.is_some_and(|after| capacity_failures >= after)
    }

    /// Decides what to do after `failed`. If several clients received the same hint (`shared`), each adds its own wait
    /// to it, so that they do not all return at once.
    pub fn decide(&self, failed: Failed, progress: &Progress, shared: bool, random: &mut Random) -> Decision {
        if failed.bucket == Bucket::Terminal {
            return Decision::Stop(Stop::Terminal);
        }
        if self.observed.as_ref().is_some_and(|observed| observed.stops(progress.attempts, random)) {
            return Decision::Stop(Stop::Attempts);
        }
        if self.all_attempts().is_some_and(|max| u64::from(progress.attempts) >= max) {
            return Decision::Stop(Stop::Attempts);
        }
        let schedule_s = self.wait_s(progress.attempts, progress.waited_s, random);
        let hint_s = failed.hint_s.filter(|_| self.obeys_hints || self.gate);
        let (wait_s, reason) = match hint_s {
            Some(hint_s) if shared => (hint_s + schedule_s, Reason::ServerAsked),
            Some(hint_s) if hint_s >= schedule_s => (hint_s, Reason::ServerAsked),
            _ if failed.bucket == Bucket::Capacity && self.has_fallen_back(progress.capacity_failures) => {
                (schedule_s, Reason::Fallback)
            }
            _ => (schedule_s, Reason::Schedule),
        };
        if self.budget_s.is_some_and(|budget_s| progress.elapsed_s + wait_s > budget_s) {
            return Decision::Stop(Stop::Budget);
        }
        Decision::Retry { wait_s, reason }
    }
}
