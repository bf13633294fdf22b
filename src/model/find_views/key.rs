//! Ids by which rows are clustered, and the range of send times that is searched.

use crate::model::{Symbol, Time, Views};

/// An id that all records of one attempt may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SharedId {
    /// Fingerprint of the provider's request id.
    Request(u32),
    /// Fingerprint of a request id that is too short to be unique.
    ShortRequest(u32),
    /// Fingerprint of the idempotency key.
    Idempotency(u64),
    /// Trace id that the log gives as the run.
    Trace(Symbol),
}

/// Range of send times that is searched, from `from` up to but excluding `until`.
#[derive(Clone, Copy)]
pub(super) struct SendTimeRange {
    pub(super) from: Time,
    pub(super) until: Time,
}

impl SendTimeRange {
    pub(super) fn contains(self, sent: Time) -> bool {
        (self.from..self.until).contains(&sent)
    }

    /// Returns whether an attempt sent at this time may affect what the attempts of the range are views of.
    pub(super) fn is_near(self, sent: Time) -> bool {
        let after_us = sent.0.saturating_sub(self.until.0);
        sent.0.saturating_sub(self.from.0) >= -2 * Views::MAX_SEND_DISTANCE_US && after_us < Views::LOOKAHEAD_US
    }
}
