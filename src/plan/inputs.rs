//! The inputs of a plan, and the source of each figure.

use crate::model::{Schedule, rounded, rounded_share};
use crate::report::Report;
use serde::Serialize;

/// Source of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The command line.
    Given,
    /// `[policy]` of retrylens.toml.
    Declared,
    /// A log.
    Measured,
    /// A default.
    Default,
}

/// A figure with its source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sourced<T> {
    /// The figure.
    pub value: T,
    /// Its source.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// Returns the first of the values that is known.
    pub fn first(given: Option<T>, declared: Option<T>, measured: Option<T>) -> Option<Sourced<T>> {
        let of = |value: Option<T>, source| value.map(|value| Sourced { value, source });
        of(given, Source::Given).or(of(declared, Source::Declared)).or(of(measured, Source::Measured))
    }

    /// Returns `known`, or `value` as a default.
    pub fn or_default(known: Option<Sourced<T>>, value: T) -> Sourced<T> {
        known.unwrap_or(Sourced { value, source: Source::Default })
    }
}

/// The inputs of a plan.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Schedule of the waits.
    pub schedule: Schedule,
    /// Maximum number of attempts of a call, including the first.
    pub max_attempts: Sourced<u32>,
    /// Time budget of a call for further attempts, in seconds.
    pub budget_s: Option<f64>,
    /// Probability that an attempt succeeds.
    pub success: Sourced<f64>,
    /// Attempts of each layer, the innermost first.
    pub layers: Vec<u32>,
    /// Output caps to derive deadlines from, in tokens.
    pub max_tokens: Vec<u64>,
    /// Time to the first token, in seconds.
    pub first_token_s: f64,
    /// Output tokens per second after the first.
    pub tokens_per_s: f64,
    /// Margin added to a deadline, in seconds; by default an eighth of the time to write the output, at least 5 and at
    /// most 10.
    pub margin_s: Option<f64>,
    /// Calls started per second.
    pub rate_per_s: Option<Sourced<f64>>,
    /// Seconds from the first attempt of a call to its last answer.
    pub in_system_s: Option<Sourced<f64>>,
    /// Connections of the pool.
    pub pool: Option<u32>,
    /// Mean number of attempts per call.
    pub attempts: Option<Sourced<f64>>,
    /// Tokens per attempt.
    pub tokens: Option<Sourced<f64>>,
    /// Limit on tokens per minute.
    pub token_limit: Option<f64>,
    /// Limit on requests per minute.
    pub request_limit: Option<Sourced<f64>>,
    /// Number of calls of a fan-out.
    pub fan_out: Option<u32>,
}

/// The inputs that a log provides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Probability that a retry succeeds.
    pub success: Option<f64>,
    /// Calls started per second, on the scope with most calls.
    pub rate_per_s: Option<f64>,
    /// Seconds from the first attempt of a call to its last answer, on that scope.
    pub in_system_s: Option<f64>,
    /// Mean number of attempts per call.
    pub attempts: Option<f64>,
    /// Tokens per attempt.
    pub tokens: Option<f64>,
    /// Limit on requests per minute of that scope.
    pub request_limit: Option<f64>,
}

/// Returns the inputs that `report` provides.
#[must_use]
pub fn measured(report: &Report) -> Measured {
    let retries: u64 = report.recovery.iter().map(|row| row.one_retry.of).sum();
    let recovered: u64 = report.recovery.iter().map(|row| row.one_retry.count).sum();
    let busiest = report.load.iter().max_by_key(|row| row.calls);
    let tokens: u64 = report.runs.iter().filter_map(|run| run.tokens).sum();
    let spending: u64 = report.runs.iter().filter(|run| run.tokens.is_some()).map(|run| run.attempts).sum();
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    Measured {
        success: ratio(recovered, retries).map(rounded_share),
        rate_per_s: busiest.and_then(|row| row.arrivals_per_s).filter(|rate| *rate > 0.0),
        in_system_s: busiest.and_then(|row| row.time_in_system_s).filter(|s| *s > 0.0),
        attempts: (report.totals.calls > 0).then_some(report.totals.amplification),
        tokens: ratio(tokens, spending).map(rounded).filter(|tokens| *tokens > 0.0),
        request_limit: busiest.and_then(|row| row.requests_limit).filter(|limit| *limit > 0).map(|limit| limit as f64),
    }
}
