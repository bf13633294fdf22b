//! Counts over time, in stretches of the simulated clock.

use serde::Serialize;

/// The attempts at an endpoint in one stretch, and the tasks waiting at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Attempts served.
    pub served: u64,
    /// Attempts rejected.
    pub refused: u64,
    /// Tasks or calls that have started and not ended, at the end of the stretch.
    pub waiting: u64,
}

impl Counts {
    /// Of stretches that follow one another, as of one.
    #[must_use]
    pub fn of_all(stretches: &[Counts]) -> Counts {
        let sum = |of: fn(&Counts) -> u64| stretches.iter().map(of).sum();
        Counts {
            served: sum(|one| one.served),
            refused: sum(|one| one.refused),
            waiting: stretches.last().map_or(0, |last| last.waiting),
        }
    }
}

/// Counts over time in at most [`CountSeries::MOST`] stretches, whose length doubles whenever they do not suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CountSeries {
    width: u64,
    counts: Vec<Counts>,
}

impl CountSeries {
    /// Maximum number of stretches, more than a chart can show.
    const MOST: usize = 512;

    pub(super) fn new(width: u64) -> CountSeries {
        CountSeries { width: width.max(1), counts: Vec::new() }
    }

    /// Returns the stretch that contains `now`, which must not decrease between calls.
    pub(super) fn at(&mut self, now: u64) -> &mut Counts {
        while now / self.width >= Self::MOST as u64 {
            self.halve();
        }
        // Below [`CountSeries::MOST`], as ensured above.
        let place = (now / self.width) as usize;
        let waiting = self.counts.last().map_or(0, |last| last.waiting);
        while self.counts.len() <= place {
            self.counts.push(Counts { waiting, ..Counts::default() });
        }
        &mut self.counts[place]
    }

    fn halve(&mut self) {
        self.width *= 2;
        self.counts = self.counts.chunks(2).map(Counts::of_all).collect();
    }

    /// Returns the length of a stretch in steps, and the stretches in order.
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
