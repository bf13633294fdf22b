//! Calls that wait as long before every retry: one is enough to show that nothing backs off.

use crate::measure::{chance::tail, row_ref::RowRef};
use smallvec::SmallVec;

/// Waits of one call, each before another retry, that must be alike.
pub(super) const LEAST_ALIKE: usize = 3;
/// The longest of them is longer than the shortest by one part in so many at most: 5%.
const ALIKE_PARTS: i64 = 20;
/// So unlikely, it is no chance.
const SURE: f64 = 1e-4;
/// The chance that jitter makes three waits of one call alike: decorrelated jitter, whose first waits have the same
/// range, comes to about one in a thousand.
const BY_CHANCE: f64 = 2e-3;
/// How close to one another such waits come by chance, as a share of their distance: see [`BY_CHANCE`].
const DENSITY: f64 = 0.4;

/// The calls of a loop with waits before its first, its second and a later retry.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    calls: u64,
    alike: u64,
    best: Option<FlatCall>,
}

/// A call whose waits are all alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatCall {
    /// How likely jitter is to make its waits so alike, 0 to 1.
    chance: f64,
    /// Its first retry.
    spot: RowRef,
    /// Waits.
    pub waits: u32,
    /// The shortest and the longest of them, µs.
    pub us: (i64, i64),
}

impl FlatCall {
    /// The row of its first retry.
    #[must_use]
    pub fn row(&self) -> u32 {
        self.spot.row
    }

    fn before(&self, other: &FlatCall) -> bool {
        self.chance.total_cmp(&other.chance).then(self.spot.cmp(&other.spot)).is_lt()
    }
}

impl Flat {
    /// Takes in the own waits of one call: before which retry, and how long in µs.
    pub(super) fn add(&mut self, waits: &[(u8, i64)], spot: RowRef) {
        let mut steps: SmallVec<[u8; 8]> = waits.iter().map(|(step, _)| *step).collect();
        steps.sort_unstable();
        steps.dedup();
        // A call whose first waits are not in the log may be at its cap.
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
        // Clocks of milliseconds do not tell less than that apart.
        let spread = ((longest - shortest).max(1_000) as f64 / shortest as f64).min(1.0 / ALIKE_PARTS as f64);
        let chance = steps.len() as f64 * (spread * DENSITY).powi(steps.len() as i32 - 1);
        self.note(FlatCall { chance, spot, waits: waits.len() as u32, us: (shortest, longest) });
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
            visit(&mut call.spot.row);
        }
    }

    /// Calls with waits enough to show whether they are.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls whose waits are all alike.
    #[must_use]
    pub fn alike(&self) -> u64 {
        self.alike
    }

    /// Whether most calls are of that kind.
    #[must_use]
    pub fn is_most(&self) -> bool {
        self.alike * 2 > self.calls
    }

    /// The call that shows it best.
    #[must_use]
    pub fn best(&self) -> Option<FlatCall> {
        self.best
    }

    /// Whether no jitter explains it: one call's waits are too close together for that, given how many calls there
    /// are, or too many calls have waits that are alike.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        let one = self.best.is_some_and(|call| call.chance * (self.calls as f64) < SURE);
        let many = self.alike > 0
            && self.alike as f64 > self.calls as f64 * BY_CHANCE + 1.0
            && tail(self.alike, self.calls, BY_CHANCE) < SURE;
        one || many
    }
}
