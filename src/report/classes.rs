//! Outcome of the failures of each class, and the classes that calls ended on.

use crate::measure::{Fleet, LastFailures};
use crate::model::{Outcome, Time};
use serde::Serialize;
use std::cmp::Reverse;

/// Outcome of the failures of one class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRow {
    /// Failure class.
    pub class: &'static str,
    /// Default bucket of the class.
    pub bucket: &'static str,
    /// Attempts that failed with the class.
    pub attempts: u64,
    /// Calls with such an attempt.
    pub calls: u64,
    /// Number of these calls that succeeded in the end.
    pub recovered: u64,
}

/// Calls that did not succeed and whose last attempt failed with one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LastFailed {
    /// `failed`, or `open` if the call may go on.
    pub outcome: Outcome,
    /// Failure class.
    pub class: &'static str,
    /// Number of calls.
    pub calls: u64,
    /// When the first of those last attempts was sent; `None` if the log has no times.
    pub first: Option<Time>,
    /// When the last of them was sent.
    pub last: Option<Time>,
}

pub(super) fn classes(fleet: &Fleet<'_>) -> Vec<ClassRow> {
    let mut rows: Vec<ClassRow> = fleet
        .classes
        .iter()
        .map(|(class, tally)| ClassRow {
            class: class.name(),
            bucket: class.default_bucket().name(),
            attempts: tally.attempts,
            calls: tally.calls,
            recovered: tally.recovered,
        })
        .collect();
    rows.sort_by_key(|row| (Reverse(row.attempts), row.class));
    rows
}

/// Counts every call that did not succeed once, by its outcome and last failure.
pub(super) fn last_failed(fleet: &Fleet<'_>) -> Vec<LastFailed> {
    let row = |outcome, class, of: LastFailures| {
        let (first, last) = of.seen.unzip();
        (of.calls > 0).then_some(LastFailed { outcome, class, calls: of.calls, first, last })
    };
    let classes = fleet.classes.iter().map(|(class, tally)| (class.name(), tally));
    let mut rows: Vec<LastFailed> = classes
        .flat_map(|(class, tally)| [row(Outcome::Failed, class, tally.failed), row(Outcome::Open, class, tally.open)])
        .flatten()
        .collect();
    rows.sort_by_key(|row| (row.outcome == Outcome::Open, Reverse(row.calls), row.first, row.class));
    rows
}
