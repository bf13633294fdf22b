//! What a client of a strategy does after a failure: the one decision that simulated and scripted clients share.

use super::{Random, Strategy};
use crate::classify::Bucket;

/// A failure, as far as a client decides by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failed {
    /// How it heals.
    pub bucket: Bucket,
    /// The wait the server asked for, in seconds.
    pub hint_s: Option<f64>,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Attempts made, the failed one included.
    pub attempts: u32,
    /// Of those, failures for lack of capacity.
    pub capacity_failures: u32,
    /// Seconds since the first of them was sent.
    pub elapsed_s: f64,
    /// The wait before this attempt, in seconds.
    pub waited_s: f64,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Another attempt, after so many seconds.
    Retry {
        /// How long.
        wait_s: f64,
        /// Why so long, and where.
        reason: Reason,
    },
    /// No further attempt.
    Stop(Stop),
}

/// Why a call waits as long as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its own schedule says so.
    Schedule,
    /// The server asked for it.
    ServerAsked,
    /// It goes on at the second endpoint.
    Fallback,
}

/// Why a call ends without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The same request can only fail again.
    Terminal,
    /// It has made all its attempts.
    Attempts,
    /// The next attempt would come after the end of its budget.
    Budget,
    /// The fleet has made all the retries it may.
    RetryShare,
}

impl Strategy {
    /// Whether a call with so many failures for lack of capacity has gone over to the second endpoint.
    #[must_use]
    pub fn has_fallen_back(&self, capacity_failures: u32) -> bool {
        self.fallback_after.is_some_and(|after| capacity_failures >= after)
    }

    /// What to do after `failed`. Where clients share a hint, each adds a wait of its own to it, so that they do not
    /// all come back at once.
    pub fn decide(&self, failed: Failed, progress: &Progress, shared: bool, random: &mut Random) -> Decision {
        if failed.bucket == Bucket::Terminal {
            return Decision::Stop(Stop::Terminal);
        }
        if self.seen.as_ref().is_some_and(|seen| seen.stops(progress.attempts, random)) {
            return Decision::Stop(Stop::Attempts);
        }
        if self.all_attempts().is_some_and(|most| u64::from(progress.attempts) >= most) {
            return Decision::Stop(Stop::Attempts);
        }
        let own_s = self.wait_s(progress.attempts, progress.waited_s, random);
        let hint_s = failed.hint_s.filter(|_| self.obeys_hints || self.gate);
        let (wait_s, reason) = match hint_s {
            Some(hint_s) if shared => (hint_s + own_s, Reason::ServerAsked),
            Some(hint_s) if hint_s >= own_s => (hint_s, Reason::ServerAsked),
            _ if failed.bucket == Bucket::Capacity && self.has_fallen_back(progress.capacity_failures) => {
                (own_s, Reason::Fallback)
            }
            _ => (own_s, Reason::Schedule),
        };
        if self.budget_s.is_some_and(|budget_s| progress.elapsed_s + wait_s > budget_s) {
            return Decision::Stop(Stop::Budget);
        }
        Decision::Retry { wait_s, reason }
    }
}
