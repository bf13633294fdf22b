//! Periods in which a rate-limit scope received more requests than it allowed.

use super::flow::{Flow, Flows};
use super::row_ref::RowRef;
use crate::model::Time;

/// A period of consecutive minutes over the limit, and what was sent in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimitPeriod {
    /// Send time of the first attempt.
    pub first: Time,
    /// Send time of the last attempt.
    pub last: Time,
    /// Number of attempts.
    pub sends: u64,
    /// Of `sends`, those refused by a rate limit.
    pub rejected: u64,
    /// First attempt.
    pub example: RowRef,
    /// End of the last minute.
    end: Time,
}

impl OverLimitPeriod {
    fn of(at: Time, flow: &Flow, width: i64) -> Option<OverLimitPeriod> {
        let example = flow.first?;
        let last = flow.last.unwrap_or(example.sent);
        let end = at.plus_us(width);
        Some(OverLimitPeriod { first: example.sent, last, sends: flow.sends, rejected: flow.rejected, example, end })
    }

    /// Returns whether an attempt sent at `at` is in the period.
    #[must_use]
    pub fn contains(&self, at: Time) -> bool {
        (self.first..=self.last).contains(&at)
    }

    /// Returns the time from the first attempt to the last, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.last.s_since(self.first)
    }

    /// Returns the attempts per minute; n attempts span n - 1 intervals.
    #[must_use]
    pub fn offered_per_min(&self) -> f64 {
        let s = self.seconds();
        if s > 0.0 { (self.sends.saturating_sub(1)) as f64 / s * 60.0 } else { 0.0 }
    }

    /// Returns the attempts per minute that the limit admitted.
    #[must_use]
    pub fn passed_per_min(&self) -> f64 {
        self.offered_per_min() * (self.sends - self.rejected) as f64 / self.sends as f64
    }
}

/// Smallest bucket width used, in µs: a minute, as limits are counted.
const MINUTE_US: i64 = 60_000_000;

/// Returns, among the periods of consecutive minutes in each of which more than `share` of the sends were refused, the
/// one with the most refusals.
#[must_use]
pub fn worst_over_limit(flows: &Flows, share: f64) -> Option<OverLimitPeriod> {
    let (width, flow) = flows.no_finer_than(MINUTE_US);
    let mut best: Option<OverLimitPeriod> = None;
    let mut current: Option<OverLimitPeriod> = None;
    for (at, flow) in &flow {
        let refused = flow.rejected as f64 > share * flow.sends as f64;
        let minute = OverLimitPeriod::of(*at, flow, width).filter(|_| refused);
        current = match (current, minute) {
            (Some(known), Some(minute)) if known.end == *at => Some(OverLimitPeriod {
                last: known.last.max(minute.last),
                end: minute.end,
                sends: known.sends + minute.sends,
                rejected: known.rejected + minute.rejected,
                ..known
            }),
            (_, minute) => minute,
        };
        best = [best, current]
            .into_iter()
            .flatten()
            .max_by_key(|period| (period.rejected, std::cmp::Reverse(period.first)));
    }
    best
}
