//! What a finding cost.

use super::evidence::three_decimals;
use serde::Serialize;

/// What something cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Sends that could not have helped.
    pub sends: u64,
    /// Attempts in excess of what one sound retry loop makes, which may have helped; none of them is among `sends`.
    pub excess: u64,
    /// Seconds waited for nothing.
    #[serde(serialize_with = "three_decimals")]
    pub wait_s: f64,
    /// Tokens of these attempts, as far as the log gives them; `None` where it gives none.
    pub tokens: Option<u64>,
    /// US dollars these attempts cost, as far as the log gives prices; `None` where it gives none.
    pub usd: Option<f64>,
}

impl Cost {
    /// With another cost added; what neither side knows stays unknown.
    pub(crate) fn add(&mut self, other: &Cost) {
        self.sends += other.sends;
        self.excess += other.excess;
        self.wait_s += other.wait_s;
        self.tokens = sum_of_known(self.tokens, other.tokens);
        self.usd = sum_of_known(self.usd, other.usd);
    }
}

/// The sum of what is known of two amounts.
pub(crate) fn sum_of_known<N: std::ops::Add<Output = N>>(a: Option<N>, b: Option<N>) -> Option<N> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}
