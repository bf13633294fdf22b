//! What a plan starts from, and where each figure comes from.

use crate::model::{Schedule, rounded, rounded_share};
use crate::report::Report;
use serde::Serialize;

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The command line.
    Given,
    /// `[policy]` of retrylens.toml.
    Declared,
    /// A log.
    Measured,
    /// What is usual.
    Default,
}

/// A figure and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sourced<T> {
    /// The figure.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// The first of them that is known.
    pub fn first(given: Option<T>, declared: Option<T>, measured: Option<T>) -> Option<Sourced<T>> {
        let of = |value: Option<T>, source| value.map(|value| Sourced { value, source });
        of(given, Source::Given).or(of(declared, Source::Declared)).or(of(measured, Source::Measured))
    }

    /// This, or what is usual.
    pub fn or_default(known: Option<Sourced<T>>, value: T) -> Sourced<T> {
        known.unwrap_or(Sourced { value, source: Source::Default })
    }
}

/// Everything a plan starts from.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The waits.
    pub schedule: Schedule,
    /// Attempts of a call, the first included.
    pub max_attempts: Sourced<u32>,
    /// The longest a call may go on sending, in seconds.
    pub budget_s: Option<f64>,
    /// The probability that one attempt succeeds.
    pub success: Sourced<f64>,
    /// Attempts of each layer, the innermost first.
    pub layers: Vec<u32>,
    /// Output caps to derive deadlines from.
    pub max_tokens: Vec<u64>,
    /// Seconds to the first token.
    pub first_token_s: f64,
    /// Tokens a second from then on.
    pub tokens_per_s: f64,
    /// Seconds on top; an eighth of the time it takes to write, 5 to 10 s, where not given.
    pub margin_s: Option<f64>,
    /// Calls that begin a second.
    pub rate_per_s: Option<Sourced<f64>>,
    /// Seconds from the first attempt of a call to its last answer.
    pub in_system_s: Option<Sourced<f64>>,
    /// Connections of the pool.
    pub pool: Option<u32>,
    /// Attempts of a call on average.
    pub attempts: Option<Sourced<f64>>,
    /// Tokens of an attempt.
    pub tokens: Option<Sourced<f64>>,
    /// Tokens a minute that the limit allows.
    pub token_limit: Option<f64>,
    /// Requests a minute that the limit allows.
    pub request_limit: Option<Sourced<f64>>,
    /// Calls of a fan-out.
    pub fan_out: Option<u32>,
}

/// What a log tells of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// The probability that one retry succeeds.
    pub success: Option<f64>,
    /// Calls that begin a second, on the scope with most calls.
    pub rate_per_s: Option<f64>,
    /// Seconds from the first attempt of a call to its last answer, on that scope.
    pub in_system_s: Option<f64>,
    /// Attempts of a call on average.
    pub attempts: Option<f64>,
    /// Tokens of an attempt.
    pub tokens: Option<f64>,
    /// Requests a minute that the limit of that scope allows.
    pub request_limit: Option<f64>,
}

/// What `report` tells.
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
