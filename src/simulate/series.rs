//! Counts over time, in intervals of the simulated clock.

use serde::Serialize;

/// The attempts at an endpoint in one interval, and the tasks waiting at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Attempts served.
    pub served: u64,
    /// Attempts rejected.
    pub refused: u64,
    /// Tasks or calls that have started and not ended, at the end of the interval.
    pub waiting: u64,
}

impl Counts {
    /// Merges the counts of adjacent intervals into those of one.
    #[must_use]
    pub fn of_all(intervals: &[Counts]) -> Counts {
        let sum = |of: fn(&Counts) -> u64| intervals.iter().map(of).sum();
        Counts {
            served: sum(|one| one.served),
            refused: sum(|one| one.refused),
            waiting: intervals.last().map_or(0, |last| last.waiting),
        }
    }
}

/// Counts over time in at most [`CountSeries::MAX_INTERVALS`] intervals, whose length doubles whenever they do not suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CountSeries {
    width: u64,
    counts: Vec<Counts>,
}

impl CountSeries {
    /// Maximum number of intervals, more than a chart can show.
    const MAX_INTERVALS: usize = 512;

    pub(super) fn new(width: u64) -> CountSeries {
        CountSeries { width: width.max(1), counts: Vec::new() }
    }

    /// Returns the interval that contains `now`, which must not decrease between calls.
    pub(super) fn at(&mut self, now: u64) -> &mut Counts {
        while now / self.width >= Self::MAX_INTERVALS as u64 {
            self.double_width();
        }
        // Below [`CountSeries::MAX_INTERVALS`], as ensured above.
        let index = (now / self.width) as usize;
        let waiting = self.counts.last().map_or(0, |last| last.waiting);
        while self.counts.len() <= index {
            self.counts.push(Counts { waiting, ..Counts::default() });
        }
        &mut self.counts[index]
    }

    fn double_width(&mut self) {
        self.width *= 2;
        self.counts = self.counts.chunks(2).map(Counts::of_all).collect();
    }

    /// Returns the length of a interval in steps, and the intervals in order.
    pub(super) fn finish(self) -> (u64, Vec<Counts>) {
        (self.width, self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_are_counted_in_longer_stretches() {
        let mut series = CountSeries::new(1);
        for now in 0..2_000 {
            let counts = series.at(now);
            counts.served += 1;
            counts.waiting = now;
        }
        let (width, counts) = series.finish();
        assert_eq!((width, counts.len()), (4, 500));
        assert!(counts.iter().all(|one| one.served == 4));
        assert_eq!(counts.last().map(|last| last.waiting), Some(1_999));
    }
}
