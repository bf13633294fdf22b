//! How many sends the calls of some minutes became, and whether their retries backed off.

use super::flow::{Flow, Flows};
use super::spot::{Spot, earlier};
use crate::attempt::Time;
use crate::calls::{Call, Grouping};

/// The calls that started within some minutes, and their sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amplified {
    /// Start of the minutes.
    pub from: Time,
    /// Their end.
    pub until: Time,
    /// Calls that started in them.
    pub calls: u64,
    /// All sends of those calls.
    pub sends: u64,
    /// Of those, the sends of calls that two loops retried.
    pub layered: u64,
    /// The earliest send.
    pub first: Option<Spot>,
}

impl Amplified {
    /// Sends a call.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.sends as f64 / self.calls as f64
    }

    /// Retries for each first attempt.
    #[must_use]
    pub fn retry_ratio(&self) -> f64 {
        (self.sends - self.calls) as f64 / self.calls as f64
    }
}

/// Of all stretches of `span_us` with at least `least_calls` starts, the one whose calls became most sends each.
/// In long logs, the stretch is as long as one bucket where that is longer.
#[must_use]
pub fn most_amplified(flows: &Flows, span_us: i64, least_calls: u64) -> Option<Amplified> {
    let (width, flow) = flows.clone().sorted();
    let span = span_us.max(1).div_euclid(width).max(1) * width;
    let mut worst: Option<Amplified> = None;
    let (mut sum, mut begin) = (Flow::default(), 0);
    for (at, arrived) in &flow {
        sum.calls += arrived.calls;
        sum.sends_of_calls += arrived.sends_of_calls;
        sum.layered += arrived.layered;
        while let Some((_, left)) = flow.get(begin).filter(|(start, _)| at.us_since(*start) >= span) {
            sum.calls -= left.calls;
            sum.sends_of_calls -= left.sends_of_calls;
            sum.layered -= left.layered;
            begin += 1;
        }
        if sum.calls < least_calls.max(1) {
            continue;
        }
        let more = |known: Amplified| {
            let (mine, theirs) = (u128::from(sum.sends_of_calls), u128::from(known.sends));
            mine * u128::from(known.calls) > theirs * u128::from(sum.calls)
        };
        if worst.is_none_or(more) {
            let (from, first) = flow.get(begin).map_or((*at, None), |(start, flow)| (*start, flow.first));
            worst = Some(Amplified {
                from,
                until: at.plus_us(width),
                calls: sum.calls,
                sends: sum.sends_of_calls,
                layered: sum.layered,
                first,
            });
        }
    }
    worst
}

/// The waits a client chose itself, before the first retry of a call and before later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spacing {
    /// Waits before the first retry: how many, and their sum in µs.
    pub first: (u64, u64),
    /// Waits before further ones.
    pub later: (u64, u64),
    /// The earliest of the further retries.
    pub example: Option<Spot>,
}

/// A longer wait counts as one of a minute: one night's sleep says nothing about the others.
const LONGEST_US: i64 = 60_000_000;

impl Spacing {
    /// Takes in the waits of one call. Those that a server dictated, or that are not known from the end of one
    /// attempt to the start of the next, say nothing about the client.
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        if call.grouping == Grouping::Inferred {
            return;
        }
        for position in 1..call.len() {
            let dictated = call.hint_us(position - 1).is_some() || !call.at(position - 1).failed();
            let Some(wait) = call.wait_before(position).filter(|wait| wait.end_to_start && !dictated) else { continue };
            let sum = if position == 1 { &mut self.first } else { &mut self.later };
            sum.0 += 1;
            sum.1 += wait.us.min(LONGEST_US).unsigned_abs();
            if position > 1 {
                self.example = earlier(self.example, Some(Spot::of(call.table(), call.rows()[position])));
            }
        }
    }

    pub(super) fn merge(&mut self, other: Spacing) {
        for (mine, theirs) in [(&mut self.first, other.first), (&mut self.later, other.later)] {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
        self.example = earlier(self.example, other.example);
    }

    /// Mean wait before the first retry and before later ones, in seconds, where at least so many of each are known.
    #[must_use]
    pub fn means_s(&self, least: u64) -> Option<(f64, f64)> {
        let mean = |(count, us): (u64, u64)| us as f64 / count as f64 / 1e6;
        (self.first.0 >= least.max(1) && self.later.0 >= least.max(1)).then(|| (mean(self.first), mean(self.later)))
    }
}
