//! Success of retries after each kind of failure.

use super::Share;
use crate::measure::{Fleet, Recovery};
use crate::model::rounded;
use crate::untrusted::masked;
use serde::Serialize;

/// Calls to one service whose first attempt failed with one class.
#[derive(Clone, Debug, Serialize)]
pub struct RecoveryRow {
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// Failure class of the first attempt.
    pub class: &'static str,
    /// First attempts that failed with this class, of all first attempts to the service.
    pub first_attempts: Share,
    /// Calls that were retried, of all calls with such a first attempt.
    pub retried: Share,
    /// Calls with a successful retry, of the calls that were retried.
    pub recovered: Share,
    /// Retries that succeeded, of all retries: p.
    pub one_retry: Share,
    /// First attempts to the service that failed with any class, of all: the failure rate of retries if each were
    /// independent of the failure before it.
    pub failing_first: Share,
    /// Retries that failed, of all: the actual failure rate of retries.
    pub failing_again: Share,
    /// One entry per retry number.
    pub steps: Vec<RecoveryStep>,
    /// Retries made per call that recovered.
    pub sends_per_recovery: Option<f64>,
    /// Seconds from the first failure to the end of the last retry, summed over all calls that were retried, per call
    /// that recovered.
    pub seconds_per_recovery: Option<f64>,
}

/// Retries of one number.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RecoveryStep {
    /// Number of the retry, from 1: attempt number less one.
    pub retry: usize,
    /// Retries of this number that succeeded, of those made.
    pub succeeded: Share,
    /// Share of calls that recover within this many retries, from the success observed at each retry number. Calls that
    /// stopped earlier are assumed to fare like those that went on.
    pub observed: f64,
    /// The same share as 1-(1-p)^k, if every retry were independent with the same probability.
    pub predicted: f64,
    /// Expected attempts of a call with at most this many retries, with the same probability.
    pub expected_attempts: f64,
}

/// Returns every service and class with a failed first attempt, sorted by their number, most first.
pub(super) fn recovery(fleet: &Fleet<'_>) -> Vec<RecoveryRow> {
    let mut rows: Vec<RecoveryRow> = fleet
        .sorted_recoveries()
        .into_iter()
        .filter(|(_, _, recovery)| recovery.calls > 0)
        .map(|(service, class, recovery)| {
            let (provider, model) = service.names(fleet.table);
            let calls = fleet.calls_of(service);
            RecoveryRow {
                provider: provider.map(masked),
                model: model.map(masked),
                class: class.name(),
                first_attempts: Share { count: recovery.calls, of: calls },
                retried: Share { count: recovery.retried, of: recovery.calls },
                recovered: Share { count: recovery.recovered, of: recovery.retried },
                one_retry: Share { count: recovery.recovered, of: recovery.retries },
                failing_first: Share { count: fleet.failed_first(service), of: calls },
                failing_again: Share { count: recovery.retries - recovery.recovered, of: recovery.retries },
                steps: steps(recovery),
                sends_per_recovery: per_recovery(recovery, recovery.retries as f64),
                seconds_per_recovery: per_recovery(recovery, recovery.spent_us as f64 / 1e6),
            }
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.first_attempts.count));
    rows
}

fn per_recovery(recovery: &Recovery, spent: f64) -> Option<f64> {
    (recovery.recovered > 0).then(|| rounded(spent / recovery.recovered as f64))
}

fn steps(recovery: &Recovery) -> Vec<RecoveryStep> {
    let each = recovery.observed().into_iter().zip(recovery.steps).zip(1..);
    each.filter_map(|((observed, (tried, succeeded)), retry)| {
        Some(RecoveryStep {
            retry,
            succeeded: Share { count: succeeded, of: tried },
            observed: rounded(observed),
            predicted: rounded(recovery.predicted(retry)?),
            expected_attempts: rounded(recovery.expected_attempts(retry)?),
        })
    })
    .collect()
}
