//! An endpoint of limited capacity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Capacity of an endpoint. Times are steps of the simulated clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// A number of attempts in each stretch of the clock, independent of earlier ones.
    PerStretch {
        /// Length of a stretch, in steps.
        width: u64,
        /// Attempts served in each of the first stretches.
        known: Vec<u64>,
        /// Attempts served in each later stretch.
        rest: u64,
    },
    /// A number of concurrent attempts, each for as long as it takes to serve.
    AtOnce(u64),
}

impl Capacity {
    /// A number of attempts per step.
    #[must_use]
    pub fn per_step(served: u64) -> Capacity {
        Capacity::PerStretch { width: 1, known: Vec::new(), rest: served }
    }
}

/// The state of an endpoint.
pub(super) struct Endpoint<'c> {
    capacity: &'c Capacity,
    /// Index of the current stretch, and attempts served in it.
    stretch: (u64, u64),
    /// Ends of the attempts being served, in steps.
    ends: BinaryHeap<Reverse<u64>>,
}

impl<'c> Endpoint<'c> {
    pub(super) fn new(capacity: &'c Capacity) -> Endpoint<'c> {
        Endpoint { capacity, stretch: (0, 0), ends: BinaryHeap::new() }
    }

    /// Returns whether an attempt sent at `now` is served. `now` must not decrease between calls.
    pub(super) fn has_room(&mut self, now: u64) -> bool {
        match self.capacity {
            Capacity::PerStretch { width, known, rest } => {
                let at = now / width;
                if self.stretch.0 != at {
                    self.stretch = (at, 0);
                }
                let most = usize::try_from(at).ok().and_then(|at| known.get(at)).unwrap_or(rest);
                self.stretch.1 < *most
            }
            Capacity::AtOnce(most) => {
                while self.ends.peek().is_some_and(|Reverse(end)| *end <= now) {
                    self.ends.pop();
                }
                (self.ends.len() as u64) < *most
            }
        }
    }

    /// Records an attempt that is served until `end`.
    pub(super) fn take(&mut self, end: u64) {
        match self.capacity {
            Capacity::PerStretch { .. } => self.stretch.1 += 1,
            Capacity::AtOnce(_) => self.ends.push(Reverse(end)),
        }
    }
}
