//! Stretches of time in which a rate-limit scope was asked for more than it gave.

use super::flow::{Flow, Flows};
use super::spot::Spot;
use crate::attempt::Time;

/// A stretch of time, and what was sent in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressed {
    /// Its start.
    pub from: Time,
    /// Its end.
    pub until: Time,
    /// Sends.
    pub sends: u64,
    /// Of them, sends that a rate limit refused.
    pub rejected: u64,
    /// The earliest send.
    pub first: Option<Spot>,
}

impl Pressed {
    fn of(at: Time, flow: &Flow, width: i64) -> Pressed {
        Pressed { from: at, until: at.plus_us(width), sends: flow.sends, rejected: flow.rejected, first: flow.first }
    }

    /// How long it is, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.until.s_since(self.from)
    }

    /// Sends a minute.
    #[must_use]
    pub fn offered_per_min(&self) -> f64 {
        self.sends as f64 / self.seconds() * 60.0
    }

    /// Sends a minute that the limit let through.
    #[must_use]
    pub fn passed_per_min(&self) -> f64 {
        (self.sends - self.rejected) as f64 / self.seconds() * 60.0
    }
}

/// Stretches no finer than this are looked at one by one, µs: a minute, as limits are counted.
const MINUTE_US: i64 = 60_000_000;

/// Of all stretches of minutes in a row in each of which more than `share` of the sends were refused, that with
/// most refusals.
#[must_use]
pub fn most_pressed(flows: &Flows, share: f64) -> Option<Pressed> {
    let (width, flow) = flows.clone().no_finer_than(MINUTE_US).sorted();
    let mut best: Option<Pressed> = None;
    let mut run: Option<Pressed> = None;
    for (at, flow) in &flow {
        let refused = flow.sends > 0 && flow.rejected as f64 > share * flow.sends as f64;
        run = match (run, refused) {
            (_, false) => None,
            (Some(known), true) if known.until == *at => Some(Pressed {
                until: at.plus_us(width),
                sends: known.sends + flow.sends,
                rejected: known.rejected + flow.rejected,
                ..known
            }),
            (_, true) => Some(Pressed::of(*at, flow, width)),
        };
        best = [best, run].into_iter().flatten().max_by_key(|one| (one.rejected, std::cmp::Reverse(one.from)));
    }
    best
}

/// The minute in which most was sent.
#[must_use]
pub fn busiest_minute(flows: &Flows) -> Option<Pressed> {
    let (width, flow) = flows.clone().no_finer_than(MINUTE_US).sorted();
    let (at, busiest) = flow.iter().max_by_key(|(at, flow)| (flow.sends, std::cmp::Reverse(*at)))?;
    Some(Pressed::of(*at, busiest, width))
}
