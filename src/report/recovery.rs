//! Do retries help? What became of the retries after each kind of failure.

use super::Share;
use crate::measure::{Fleet, Recovery};
use crate::model::rounded;
use crate::untrusted::masked;
use serde::Serialize;

/// Calls of one service whose first attempt failed with one class.
#[derive(Clone, Debug, Serialize)]
pub struct RecoveryRow {
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// Failure class of the first attempt.
    pub class: &'static str,
    /// First attempts that failed so, of all first attempts at the service.
    pub first_attempts: Share,
    /// Calls that sent again, of those.
    pub retried: Share,
    /// Calls of which a retry succeeded, of those that sent again.
    pub recovered: Share,
    /// Retries that succeeded, of all retries: p.
    pub one_retry: Share,
    /// First attempts at the service that failed with any class, of all: what a retry would fail with, were it a
    /// new throw.
    pub failing_first: Share,
    /// Retries that failed, of all: what a retry does fail with.
    pub failing_again: Share,
    /// Retry by retry.
    pub steps: Vec<RecoveryStep>,
    /// Retries made for each call that recovered.
    pub sends_per_recovery: Option<f64>,
    /// Seconds from the first failure to the end of the last retry, of all calls that sent again, for each call
    /// that recovered.
    pub seconds_per_recovery: Option<f64>,
}

/// The retry of one number.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RecoveryStep {
    /// Its number, from 1: attempt number less one.
    pub retry: usize,
    /// Retries of this number that succeeded, of those made.
    pub succeeded: Share,
    /// Share of calls that recover within so many retries, by what was observed at each number of them; calls that
    /// stopped earlier are taken to fare like those that went on.
    pub observed: f64,
    /// The same by 1-(1-p)^k: were every retry a new throw with the same probability.
    pub predicted: f64,
    /// Attempts a call is expected to make with so many retries at most, by the same probability.
    pub expected_attempts: f64,
}

/// Every service and class with a first attempt that failed, those with most such attempts first.
pub(super) fn recovery(fleet: &Fleet<'_>) -> Vec<RecoveryRow> {
    let mut rows: Vec<RecoveryRow> = fleet
        .sorted_recoveries()
        .into_iter()
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
