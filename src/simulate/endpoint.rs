//! An endpoint of limited capacity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How much an endpoint can do. Times are steps of the simulated clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// So many attempts in each stretch of so many steps, whatever came before.
    PerStretch {
        /// Steps of a stretch.
        width: u64,
        /// Attempts served in each stretch of the clock, from the first on.
        known: Vec<u64>,
        /// Attempts served in each stretch after those.
        rest: u64,
    },
    /// So many at once, each for as long as it takes to serve.
    AtOnce(u64),
}

impl Capacity {
    /// So many a step.
    #[must_use]
    pub fn per_step(served: u64) -> Capacity {
        Capacity::PerStretch { width: 1, known: Vec::new(), rest: served }
    }
}

/// An endpoint at work.
pub(super) struct Endpoint<'c> {
    capacity: &'c Capacity,
    /// The stretch that is going on, and what was served in it.
    stretch: (u64, u64),
    /// When each of those under way ends.
    ends: BinaryHeap<Reverse<u64>>,
}

impl<'c> Endpoint<'c> {
    pub(super) fn new(capacity: &'c Capacity) -> Endpoint<'c> {
        Endpoint { capacity, stretch: (0, 0), ends: BinaryHeap::new() }
    }

    /// Whether an attempt sent at `now` is served; times never go back.
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

    /// Takes in an attempt that will be served by `end`.
    pub(super) fn take(&mut self, end: u64) {
        match self.capacity {
            Capacity::PerStretch { .. } => self.stretch.1 += 1,
            Capacity::AtOnce(_) => self.ends.push(Reverse(end)),
        }
    }
}
