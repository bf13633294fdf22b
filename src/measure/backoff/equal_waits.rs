//! Detects calls with equal waits before every retry: a single call can show the absence of backoff and jitter.

use crate::measure::{chance::tail, row_ref::RowRef};
use smallvec::SmallVec;

/// Minimum number of waits of one call, each before another retry, that must be equal.
pub(super) const MIN_EQUAL: usize = 3;
/// The longest wait may exceed the shortest by at most one part in this many: 5%.
const TOLERANCE_PARTS: i64 = 20;
/// Probability below which chance is ruled out.
const MAX_CHANCE: f64 = 1e-4;
/// Upper bound of the probability that jitter makes three waits of one call equal within 5%. It is about one in a
/// thousand for decorrelated jitter, the kind for which it is largest because its first waits have the same range.
const BY_CHANCE: f64 = 2e-3;
/// Probability density of the relative distance between two such waits near 0: with it, the probability for three waits
/// within 5% is that of [`BY_CHANCE`] or less.
const DENSITY: f64 = 0.4;

/// Counts the calls of a loop that waited before their first, second and a later retry, and those with equal waits.
#[derive(Clone, Debug, Default)]
pub struct EqualWaits {
    calls: u64,
    equal: u64,
    best: Option<EqualWaitsCall>,
}

/// A call whose waits are all equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualWaitsCall {
    /// Probability that jitter makes its waits this similar, 0 to 1.
    chance: f64,
    /// First retry of the call.
    row_ref: RowRef,
    /// Number of waits.
    pub waits: u32,
    /// Shortest and longest wait, in µs.
    pub us: (i64, i64),
}

impl EqualWaitsCall {
    /// Returns the row of its first retry.
    #[must_use]
    pub fn row(&self) -> u32 {
        self.row_ref.row
    }

    fn is_less_probable(&self, other: &EqualWaitsCall) -> bool {
        self.chance.total_cmp(&other.chance).then(self.row_ref.cmp(&other.row_ref)).is_lt()
    }
}

impl EqualWaits {
    /// Adds the waits of one call that its loop chose: number of the retry, and length in µs.
    pub(super) fn add(&mut self, waits: &[(u8, i64)], row_ref: RowRef) {
        let mut steps: SmallVec<[u8; 8]> = waits.iter().map(|(step, _)| *step).collect();
        steps.sort_unstable();
        steps.dedup();
        // A call whose first waits are missing from the log may already be at its cap.
        if steps.len() < MIN_EQUAL || steps.first() != Some(&1) {
            return;
        }
        self.calls += 1;
        let lengths = || waits.iter().map(|(_, us)| *us);
        let (Some(shortest), Some(longest)) = (lengths().min(), lengths().max()) else { return };
        if shortest <= 0 || (longest - shortest) * TOLERANCE_PARTS > shortest {
            return;
        }
        self.equal += 1;
        // Differences below 1 ms are not known, since most clocks have a resolution of 1 ms.
        let spread = ((longest - shortest).max(1_000) as f64 / shortest as f64).min(1.0 / TOLERANCE_PARTS as f64);
        let chance = steps.len() as f64 * (spread * DENSITY).powi(steps.len() as i32 - 1);
        self.add_call(EqualWaitsCall { chance, row_ref, waits: waits.len() as u32, us: (shortest, longest) });
    }

    fn add_call(&mut self, call: EqualWaitsCall) {
        if self.best.is_none_or(|best| call.is_less_probable(&best)) {
            self.best = Some(call);
        }
    }

    pub(super) fn merge(&mut self, other: EqualWaits) {
        self.calls += other.calls;
        self.equal += other.equal;
        if let Some(call) = other.best {
            self.add_call(call);
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        if let Some(call) = &mut self.best {
            visit(&mut call.row_ref.row);
        }
    }

    /// Returns the number of calls with enough waits to be compared.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns the number of calls whose waits are all equal.
    #[must_use]
    pub fn equal(&self) -> u64 {
        self.equal
    }

    /// Returns whether the waits of most calls are equal.
    #[must_use]
    pub fn are_most(&self) -> bool {
        self.equal * 2 > self.calls
    }

    /// Returns the call with the least probable waits.
    #[must_use]
    pub fn best(&self) -> Option<EqualWaitsCall> {
        self.best
    }

    /// Returns whether jitter is ruled out: the waits of one call are too close together, given the number of calls, or
    /// too many calls have equal waits.
    #[must_use]
    pub fn excludes_jitter(&self) -> bool {
        let by_one_call = self.best.is_some_and(|call| call.chance * (self.calls as f64) < MAX_CHANCE);
        let by_many_calls = self.equal > 0
            && self.equal as f64 > self.calls as f64 * BY_CHANCE + 1.0
            && tail(self.equal, self.calls, BY_CHANCE) < MAX_CHANCE;
        by_one_call || by_many_calls
    }
}
