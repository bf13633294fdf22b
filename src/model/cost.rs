//! The cost of a finding.

use super::evidence::three_decimals;
use serde::Serialize;

/// Cost of the attempts a finding is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Sends that could not have helped.
    pub sends: u64,
    /// Attempts beyond those that a single correct retry loop would have made. They may have helped, and are not
    /// counted in `sends`.
    pub excess: u64,
    /// Seconds waited without benefit.
    #[serde(serialize_with = "three_decimals")]
    pub wait_s: f64,
    /// Tokens of these attempts, summed over those that log tokens; `None` if none do.
    pub tokens: Option<u64>,
    /// Cost of these attempts in US dollars, summed over those with a known cost; `None` if there are none.
    pub usd: Option<f64>,
}

impl Cost {
    /// Adds another cost; an amount that neither side knows stays `None`.
    pub(crate) fn add(&mut self, other: &Cost) {
        self.sends += other.sends;
        self.excess += other.excess;
        self.wait_s += other.wait_s;
        self.tokens = sum_of_known(self.tokens, other.tokens);
        self.usd = sum_of_known(self.usd, other.usd);
    }
}

/// Returns the sum of two optional amounts, or the one that is known.
pub(crate) fn sum_of_known<N: std::ops::Add<Output = N>>(a: Option<N>, b: Option<N>) -> Option<N> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}
