//! Detects calls with equal waits before every retry: one call is enough to show the absence of backoff.

use crate::measure::{chance::tail, row_ref::RowRef};
use smallvec::SmallVec;

/// Minimum number of waits of one call, each before another retry, that must be equal.
pub(super) const LEAST_ALIKE: usize = 3;
/// The longest wait may exceed the shortest by at most one part in this many: 5%.
const ALIKE_PARTS: i64 = 20;
/// Probability below which chance is ruled out.
const SURE: f64 = 1e-4;
/// Probability that jitter makes three waits of one call equal within 5%: about one in a thousand for decorrelated
/// jitter, whose first waits have the same range.
const BY_CHANCE: f64 = 2e-3;
/// Probability density with which such waits coincide, per relative distance; see [`BY_CHANCE`].
const DENSITY: f64 = 0.4;

/// Calls of a loop with waits before its first, its second and a later retry.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    calls: u64,
    alike: u64,
    best: Option<FlatCall>,
}

/// A call whose waits are all equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatCall {
    /// Probability that jitter makes its waits this similar, 0 to 1.
    chance: f64,
    /// First retry of the call.
    row_ref: RowRef,
    /// Number of waits.
    pub waits: u32,
    /// Shortest and longest wait, in µs.
    pub us: (i64, i64),
}

impl FlatCall {
    /// Returns the row of its first retry.
    #[must_use]
    pub fn row(&self) -> u32 {
        self.row_ref.row
    }

    fn before(&self, other: &FlatCall) -> bool {
        self.chance.total_cmp(&other.chance).then(self.row_ref.cmp(&other.row_ref)).is_lt()
    }
}

impl Flat {
    /// Adds the waits of one call that its loop chose: number of the retry, and length in µs.
    pub(super) fn add(&mut self, waits: &[(u8, i64)], row_ref: RowRef) {
        let mut steps: SmallVec<[u8; 8]> = waits.iter().map(|(step, _)| *step).collect();
        steps.sort_unstable();
        steps.dedup();
        // A call whose first waits are missing from the log may already be at its cap.
        if steps.len() < LEAST_ALIKE || steps.first() != Some(&1) {
            return;
        }
        self.calls += 1;
        let lengths = || waits.iter().map(|(_, us)| *us);
        let (Some(shortest), Some(longest)) = (lengths().min(), lengths().max()) else { return };
        if shortest <= 0 || (longest - shortest) * ALIKE_PARTS > shortest {
            return;
        }
        self.alike += 1;
        // Clocks with milliseconds do not resolve smaller differences.
        let spread = ((longest - shortest).max(1_000) as f64 / shortest as f64).min(1.0 / ALIKE_PARTS as f64);
        let chance = steps.len() as f64 * (spread * DENSITY).powi(steps.len() as i32 - 1);
        self.note(FlatCall { chance, row_ref, waits: waits.len() as u32, us: (shortest, longest) });
    }

    fn note(&mut self, call: FlatCall) {
        if self.best.is_none_or(|best| call.before(&best)) {
            self.best = Some(call);
        }
    }

    pub(super) fn merge(&mut self, other: Flat) {
        self.calls += other.calls;
        self.alike += other.alike;
        if let Some(call) = other.best {
            self.note(call);
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
    pub fn alike(&self) -> u64 {
        self.alike
    }

    /// Returns whether the waits of most calls are equal.
    #[must_use]
    pub fn is_most(&self) -> bool {
        self.alike * 2 > self.calls
    }

    /// Returns the call with the least probable waits.
    #[must_use]
    pub fn best(&self) -> Option<FlatCall> {
        self.best
    }

    /// Returns whether jitter is ruled out: the waits of one call are too close together, given the number of calls, or
    /// too many calls have equal waits.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        let one = self.best.is_some_and(|call| call.chance * (self.calls as f64) < SURE);
        let many = self.alike > 0
            && self.alike as f64 > self.calls as f64 * BY_CHANCE + 1.0
            && tail(self.alike, self.calls, BY_CHANCE) < SURE;
        one || many
    }
}
