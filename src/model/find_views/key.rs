//! What rows are grouped by, and when they were sent.

use crate::model::{Symbol, Time, Views};

/// What rows of one attempt have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Request(u32),
    Idempotency(u64),
    Trace(Symbol),
}

/// Times of which it is asked what was sent then.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub(super) from: Time,
    pub(super) until: Time,
}

impl Stretch {
    pub(super) fn has(self, sent: Time) -> bool {
        (self.from..self.until).contains(&sent)
    }

    /// Whether an attempt may bear on what is asked.
    pub(super) fn is_near(self, sent: Time) -> bool {
        let after_us = sent.0.saturating_sub(self.until.0);
        sent.0.saturating_sub(self.from.0) >= -2 * Views::REACH_US && after_us < Views::KNOWN_US
    }
}
