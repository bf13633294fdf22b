//! Amplification: sends per call within a time window, and growth of waits.

use super::flow::{Flow, Flows};
use super::row_ref::{RowRef, earlier};
use crate::calls::{Call, Grouping};
use crate::model::Time;

/// Calls that started within a time window, and their sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amplified {
    /// Start of the time bucket in which the first of them started.
    pub from: Time,
    /// End of the time bucket in which the last of them started.
    pub until: Time,
    /// Calls that started in the window.
    pub calls: u64,
    /// All sends of these calls.
    pub sends: u64,
    /// Sends of those of them that two loops retried.
    pub layered: u64,
    /// Earliest send.
    pub first: Option<RowRef>,
}

impl Amplified {
    /// Returns the time within which they started, in seconds: at most the length of the window.
    #[must_use]
    pub fn window_s(&self) -> f64 {
        self.until.s_since(self.from)
    }

    /// Returns the sends per call.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.sends as f64 / self.calls as f64
    }

    /// Returns the retries per first attempt.
    #[must_use]
    pub fn retry_ratio(&self) -> f64 {
        (self.sends - self.calls) as f64 / self.calls as f64
    }
}

/// Returns the window of `window_us` µs with the most sends per call, among those in which at least `min_calls` calls
/// started. If the buckets of a long log are wider, the window is one bucket long.
#[must_use]
pub fn most_amplified(flows: &Flows, window_us: i64, min_calls: u64) -> Option<Amplified> {
    let (width, flow) = flows.by_time();
    let window = window_us.max(1).div_euclid(width).max(1) * width;
    let mut worst: Option<Amplified> = None;
    let (mut sum, mut begin) = (Flow::default(), 0);
    for (at, bucket) in &flow {
        sum.calls += bucket.calls;
        sum.sends_of_calls += bucket.sends_of_calls;
        sum.layered += bucket.layered;
        while let Some((_, leaving)) = flow.get(begin).filter(|(start, _)| at.us_since(*start) >= window) {
            sum.calls -= leaving.calls;
            sum.sends_of_calls -= leaving.sends_of_calls;
            sum.layered -= leaving.layered;
            begin += 1;
        }
        if sum.calls < min_calls.max(1) {
            continue;
        }
        let is_worse = |known: Amplified| {
            let (mine, theirs) = (u128::from(sum.sends_of_calls), u128::from(known.sends));
            mine * u128::from(known.calls) > theirs * u128::from(sum.calls)
        };
        if worst.is_none_or(is_worse) {
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

/// Counts the windows of `window_us` µs, without overlap, in which at least `min_calls` calls started and these made
/// more than `ratio` retries per call.
#[must_use]
pub fn windows_over(flows: &Flows, window_us: i64, min_calls: u64, ratio: f64) -> u64 {
    let (_, flow) = flows.by_time();
    let window_us = window_us.max(1);
    let mut windows = 0;
    let (mut calls, mut sends, mut begin) = (0, 0, 0);
    for (index, (at, bucket)) in flow.iter().enumerate() {
        if index < begin {
            continue;
        }
        calls += bucket.calls;
        sends += bucket.sends_of_calls;
        while at.us_since(flow[begin].0) >= window_us {
            calls -= flow[begin].1.calls;
            sends -= flow[begin].1.sends_of_calls;
            begin += 1;
        }
        if calls >= min_calls.max(1) && (sends - calls) as f64 > ratio * calls as f64 {
            windows += 1;
            let end = flow[begin].0.plus_us(window_us);
            (calls, sends) = (0, 0);
            begin = flow.partition_point(|(at, _)| *at < end).max(index + 1);
        }
    }
    windows
}

/// Growth of the waits chosen by the client, from the first wait of a call to its last.
///
/// Each call is compared with itself, so that clients with different policies can share a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitGrowth {
    /// Calls with at least two such waits.
    pub calls: u64,
    /// Sum of their first waits, in µs.
    pub first_us: u64,
    /// Sum of their last waits, in µs.
    pub last_us: u64,
    /// Sum of ln(last / first) over the calls, in thousandths, and sum of its squares. Whole numbers make sums
    /// independent of the order of calls.
    growth: (i64, u64),
    /// Last retry of the earliest of these calls.
    pub example: Option<RowRef>,
}

/// Longer waits count as a minute, in µs: a single very long wait says nothing about the others.
const LONGEST_US: i64 = 60_000_000;
/// Shorter waits count as a millisecond, in µs: below that, clock resolution dominates.
const SHORTEST_US: i64 = 1_000;

impl WaitGrowth {
    /// Adds the waits of one call. Skips waits requested by a server and those not measured from the end of one attempt
    /// to the start of the next, since they say nothing about the client.
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        if call.len() < 3 || call.grouping == Grouping::Inferred {
            return;
        }
        let chosen = |position: usize| {
            let server_requested = call.hint_us(position - 1).is_some() || !call.at(position - 1).failed();
            let wait = call.wait_before(position).filter(|wait| wait.is_exact && !server_requested)?;
            Some(wait.us.clamp(SHORTEST_US, LONGEST_US))
        };
        let last = call.len() - 1;
        let (Some(first_us), Some(last_us)) = (chosen(1), chosen(last)) else { return };
        let growth = ((last_us as f64 / first_us as f64).ln() * 1000.0).round() as i64;
        self.calls += 1;
        self.first_us += first_us.unsigned_abs();
        self.last_us += last_us.unsigned_abs();
        self.growth.0 += growth;
        self.growth.1 += growth.unsigned_abs().pow(2);
        self.example = earlier(self.example, Some(RowRef::of(call.table(), call.rows()[last])));
    }

    /// Adds the waits of other calls.
    pub(crate) fn merge(&mut self, other: WaitGrowth) {
        self.calls += other.calls;
        self.first_us += other.first_us;
        self.last_us += other.last_us;
        self.growth.0 += other.growth.0;
        self.growth.1 += other.growth.1;
        self.example = earlier(self.example, other.example);
    }

    /// Returns the mean first and the mean last wait of the calls, in seconds.
    #[must_use]
    pub fn means_s(&self) -> Option<(f64, f64)> {
        let mean = |us: u64| us as f64 / self.calls as f64 / 1e6;
        (self.calls > 0).then(|| (mean(self.first_us), mean(self.last_us)))
    }

    /// Returns an upper bound of the factor by which the waits of a call grow from first to last: the geometric mean
    /// over the calls plus three standard errors. Returns `None` with fewer than `min_calls` calls.
    #[must_use]
    pub fn growth_upper_bound(&self, min_calls: u64) -> Option<f64> {
        if self.calls < min_calls.max(2) {
            return None;
        }
        let n = self.calls as f64;
        let mean = self.growth.0 as f64 / n / 1000.0;
        let variance = (self.growth.1 as f64 / n / 1e6 - mean * mean).max(0.0);
        Some((mean + 3.0 * (variance / n).sqrt()).exp())
    }
}
