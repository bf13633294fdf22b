//! Keys that rows are grouped by, and the range of send times that is searched.

use crate::model::{Symbol, Time, Views};

/// What rows of one attempt share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Request(u32),
    /// A request id too short to be unique.
    ShortRequest(u32),
    Idempotency(u64),
    Trace(Symbol),
}

/// Range of send times that is searched, from `from` up to but excluding `until`.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub(super) from: Time,
    pub(super) until: Time,
}

impl Stretch {
    pub(super) fn has(self, sent: Time) -> bool {
        (self.from..self.until).contains(&sent)
    }

    /// Returns whether an attempt sent at this time may affect the result for the range.
    pub(super) fn is_near(self, sent: Time) -> bool {
        let after_us = sent.0.saturating_sub(self.until.0);
        sent.0.saturating_sub(self.from.0) >= -2 * Views::REACH_US && after_us < Views::KNOWN_US
    }
}
