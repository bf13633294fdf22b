//! Calls that began to start much faster than before, and met 429s for it.

use super::scope::ScopeTally;
use crate::attempt::{AttemptTable, Time};

/// Thresholds of [`ScopeTally::ramps`].
#[derive(Clone, Copy, Debug)]
pub struct RampTerms {
    /// Least ratio of the rate of starts to that of the minute before.
    pub rise: f64,
    /// Least starts at the higher rate.
    pub starts: u64,
    /// Least 429s within a minute from the first on.
    pub refusals: u64,
}

/// A rise in the rate of starts that 429s followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// When the first refused send was sent.
    pub at: Time,
    /// Its row.
    pub row: u32,
    /// Starts a second in the minute before the rise, and after it.
    pub rates: (f64, f64),
    /// 429s within a minute.
    pub refusals: u64,
}

/// The rise is looked for in the seconds before the first 429.
const RISEN_US: i64 = 10_000_000;
/// The rate before it is that of so long.
const BEFORE_US: i64 = 60_000_000;
/// Of which the log must hold at least so much.
const LEAST_BEFORE_US: i64 = 30_000_000;
/// And so many starts: from nothing, any rate is a rise.
const LEAST_STARTS_BEFORE: u64 = 5;
/// So many standard deviations above the rate before, no chance puts it there.
const BY_CHANCE: f64 = 8.0;

impl ScopeTally {
    /// Every rise that 429s followed, on a scope whose log begins at `begin`.
    #[must_use]
    pub fn ramps(&self, table: &AttemptTable, begin: Time, terms: &RampTerms) -> Vec<Ramp> {
        let refusals = self.gate.refusals(table);
        let starts = self.starts.between(table);
        let mut ramps = Vec::new();
        let mut quiet_until = Time(i64::MIN);
        for (place, &(at, _, row)) in refusals.iter().enumerate() {
            let onset = at >= quiet_until;
            quiet_until = at.plus_us(BEFORE_US);
            let covered = at.plus_us(-RISEN_US).us_since(begin).min(BEFORE_US);
            if !onset || covered < LEAST_BEFORE_US {
                continue;
            }
            let before = starts(at.plus_us(-RISEN_US - covered), at.plus_us(-RISEN_US));
            let risen = starts(at.plus_us(-RISEN_US), at);
            let usual = before as f64 * RISEN_US as f64 / covered as f64;
            let rose = risen as f64 >= terms.rise * usual && risen as f64 >= usual + BY_CHANCE * usual.sqrt();
            let end = at.plus_us(BEFORE_US);
            let followed: u64 = refusals[place..].iter().take_while(|(at, ..)| *at < end).map(|(_, n, _)| n).sum();
            if rose && before >= LEAST_STARTS_BEFORE && risen >= terms.starts && followed >= terms.refusals {
                let per_s = |count: f64| count * 1e6 / RISEN_US as f64;
                ramps.push(Ramp { at, row, rates: (per_s(usual), per_s(risen as f64)), refusals: followed });
            }
        }
        ramps
    }
}
