//! What a rate-limit scope was sent, and what it refused, over time.

use super::spot::{Spot, earlier};
use crate::attempt::Mergeable;

/// Sends of one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Attempts.
    pub sends: u64,
    /// Attempts that succeeded.
    pub ok: u64,
    /// Attempts refused by a rate limit.
    pub rejected: u64,
    /// Attempts that met an overload.
    pub overloaded: u64,
    /// The earliest of the attempts.
    pub first: Option<Spot>,
}

impl Mergeable for Flow {
    fn merge(&mut self, other: &Flow) {
        self.sends += other.sends;
        self.ok += other.ok;
        self.rejected += other.rejected;
        self.overloaded += other.overloaded;
        self.first = earlier(self.first, other.first);
    }
}
