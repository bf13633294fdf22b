//! Outcomes of the failures of each class, and the class calls ended in.

use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Outcome, Time};
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Counts by failure class.
pub type Classes = HashMap<Class, ClassTally, RandomState>;

/// Counts of one failure class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTally {
    /// Attempts that failed with the class.
    pub attempts: u64,
    /// Calls with at least one such failure.
    pub calls: u64,
    /// Of `calls`, those that succeeded in the end.
    pub recovered: u64,
    /// Failed calls whose last attempt failed with the class.
    pub failed: LastFailures,
    /// Open calls whose last attempt failed with the class.
    pub open: LastFailures,
}

/// Calls whose last attempt failed with one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastFailures {
    /// Number of calls.
    pub calls: u64,
    /// Send times of the first and the last of those attempts; `None` if the log has no times.
    pub seen: Option<(Time, Time)>,
}

impl ClassTally {
    /// Adds the counts of other calls.
    pub fn merge(&mut self, other: ClassTally) {
        self.attempts += other.attempts;
        self.calls += other.calls;
        self.recovered += other.recovered;
        self.failed.merge(other.failed);
        self.open.merge(other.open);
    }
}

impl LastFailures {
    /// Creates the count of the last failure of one call.
    pub(super) fn of(call: &Call<'_>) -> LastFailures {
        let sent = call.last().sent;
        LastFailures { calls: 1, seen: (!call.is_untimed()).then_some((sent, sent)) }
    }

    pub(super) fn merge(&mut self, other: LastFailures) {
        self.calls += other.calls;
        self.seen = match (self.seen, other.seen) {
            (Some(mine), Some(theirs)) => Some((mine.0.min(theirs.0), mine.1.max(theirs.1))),
            (mine, theirs) => mine.or(theirs),
        };
    }
}

/// Adds the failures of one call; returns the first position of each class in it.
pub(super) fn absorb(classes: &mut Classes, call: &Call<'_>) -> SmallVec<[(usize, Class); 4]> {
    let mut seen: SmallVec<[(usize, Class); 4]> = SmallVec::new();
    for (position, attempt) in call.attempts().enumerate() {
        let Some(class) = attempt.class else { continue };
        let tally = classes.entry(class).or_default();
        tally.attempts += 1;
        if seen.iter().all(|(_, known)| *known != class) {
            seen.push((position, class));
            tally.calls += 1;
            tally.recovered += u64::from(call.outcome == Outcome::Ok);
        }
    }
    if let Some(class) = call.last().class {
        let tally = classes.entry(class).or_default();
        match call.outcome {
            Outcome::Ok => {}
            Outcome::Failed => tally.failed.merge(LastFailures::of(call)),
            Outcome::Open => tally.open.merge(LastFailures::of(call)),
        }
    }
    seen
}
