//! What a rate-limit scope was sent, and what it refused, over time.

use super::spot::{Spot, earlier};
use crate::attempt::{Mergeable, Series, Time};

/// Sends of one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Attempts.
    pub sends: u64,
    /// Attempts that succeeded.
    pub ok: u64,
    /// Attempts refused by a rate limit.
    pub rejected: u64,
    /// Attempts that met an overload.
    pub overloaded: u64,
    /// The earliest of the attempts.
    pub first: Option<Spot>,
}

impl Mergeable for Flow {
    fn merge(&mut self, other: &Flow) {
        self.sends += other.sends;
        self.ok += other.ok;
        self.rejected += other.rejected;
        self.overloaded += other.overloaded;
        self.first = earlier(self.first, other.first);
    }
}

/// The sends of one scope over time.
///
/// Calls come in no order, while a [`Series`] is quick where times nearly are in order: so some events wait
/// until they can be put in together.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    series: Series<Flow>,
    waiting: Vec<(Time, Flow)>,
}

/// Events that wait at most.
const MOST_WAITING: usize = 2048;

impl Flows {
    pub(super) fn add(&mut self, at: Time, event: Flow) {
        self.waiting.push((at, event));
        if self.waiting.len() >= MOST_WAITING {
            self.settle();
        }
    }

    pub(super) fn merge(&mut self, other: Flows) {
        self.series.merge(other.series);
        self.waiting.extend(other.waiting);
        if self.waiting.len() >= MOST_WAITING {
            self.settle();
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let waiting = self.waiting.iter_mut().map(|(_, flow)| flow);
        self.series.each_mut().chain(waiting).for_each(|flow| Spot::each_row(&mut flow.first, visit));
    }

    fn settle(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable_by_key(|(at, _)| *at);
        let mut series = Series::default();
        waiting.drain(..).for_each(|(at, event)| series.add(at, event));
        self.series.merge(series);
        // Empty, with its room kept.
        self.waiting = waiting;
    }

    /// Width of a stretch in µs, and all stretches with sends in time order, each with its start.
    #[must_use]
    pub fn sorted(mut self) -> (i64, Vec<(Time, Flow)>) {
        self.settle();
        self.series.sorted()
    }
}
