//! Events over time, for summaries that are built call by call.

use crate::attempt::{Mergeable, Series, Time};

/// A [`Series`] and the events that are not in it yet.
///
/// Calls come in no order, while a series is quick where times nearly are in order: so some events wait until
/// they can be put in together.
#[derive(Clone, Debug)]
pub struct Timeline<B> {
    series: Series<B>,
    waiting: Vec<(Time, B)>,
}

impl<B> Default for Timeline<B> {
    fn default() -> Self {
        Timeline { series: Series::default(), waiting: Vec::new() }
    }
}

/// Events that wait at most.
const MOST_WAITING: usize = 2048;

impl<B: Mergeable + Clone> Timeline<B> {
    pub(super) fn add(&mut self, at: Time, event: B) {
        self.waiting.push((at, event));
        if self.waiting.len() >= MOST_WAITING {
            self.settle();
        }
    }

    pub(super) fn merge(&mut self, other: Timeline<B>) {
        self.series.merge(other.series);
        self.waiting.extend(other.waiting);
        if self.waiting.len() >= MOST_WAITING {
            self.settle();
        }
    }

    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = &mut B> {
        self.series.each_mut().chain(self.waiting.iter_mut().map(|(_, event)| event))
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

    pub(super) fn into_series(mut self) -> Series<B> {
        self.settle();
        self.series
    }

    /// Width of a stretch in µs, and all stretches with events in time order, each with its start.
    #[must_use]
    pub fn sorted(self) -> (i64, Vec<(Time, B)>) {
        self.no_finer_than(0)
    }

    /// The same, with stretches of at least `least_us` µs.
    #[must_use]
    pub fn no_finer_than(self, least_us: i64) -> (i64, Vec<(Time, B)>) {
        self.into_series().no_finer_than(least_us).sorted()
    }
}
