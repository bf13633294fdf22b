//! An endpoint of limited capacity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Capacity of an endpoint. Times are steps of the simulated clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// A number of attempts in each interval of the clock, independent of earlier ones.
    PerInterval {
        /// Length of a interval, in steps.
        width: u64,
        /// Attempts served in each of the first intervals.
        known: Vec<u64>,
        /// Attempts served in each later interval.
        rest: u64,
    },
    /// A number of concurrent attempts, each for as long as it takes to serve.
    AtOnce(u64),
}

impl Capacity {
    /// A number of attempts per step.
    #[must_use]
    pub fn per_step(served: u64) -> Capacity {
        Capacity::PerInterval { width: 1, known: Vec::new(), rest: served }
    }
}

/// The state of an endpoint.
pub(super) struct Endpoint<'c> {
    capacity: &'c Capacity,
    /// Index of the current interval, and attempts served in it.
    interval: (u64, u64),
    /// Ends of the attempts being served, in steps.
    ends: BinaryHeap<Reverse<u64>>,
}

impl<'c> Endpoint<'c> {
    pub(super) fn new(capacity: &'c Capacity) -> Endpoint<'c> {
        Endpoint { capacity, interval: (0, 0), ends: BinaryHeap::new() }
    }

    /// Returns whether an attempt sent at `now` is served. `now` must not decrease between calls.
    pub(super) fn has_room(&mut self, now: u64) -> bool {
        match self.capacity {
            Capacity::PerInterval { width, known, rest } => {
                let at = now / width;
                if self.interval.0 != at {
                    self.interval = (at, 0);
                }
                let served = usize::try_from(at).ok().and_then(|at| known.get(at)).unwrap_or(rest);
                self.interval.1 < *served
            }
            Capacity::AtOnce(capacity) => {
                while self.ends.peek().is_some_and(|Reverse(end)| *end <= now) {
                    self.ends.pop();
                }
                (self.ends.len() as u64) < *capacity
            }
        }
    }

    /// Records an attempt that is served until `end`.
    pub(super) fn record_served(&mut self, end: u64) {
        match self.capacity {
            Capacity::PerInterval { .. } => self.interval.1 += 1,
            Capacity::AtOnce(_) => self.ends.push(Reverse(end)),
        }
    }
}
