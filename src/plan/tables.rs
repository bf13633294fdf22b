//! The tables of a plan.

use super::inputs::{Inputs, Sourced};
use super::settings::{self, ClientSettings};
use crate::model::{rounded, rounded_share};
use crate::policy::{
    attempts_of_equal_layers, attempts_of_nested_layers, concurrency, deadline_s, expected_attempts, stagger_s,
    success_within, tokens_per_min,
};
use serde::Serialize;

/// Version of the JSON format of a [`Plan`].
const SCHEMA_VERSION: u32 = 1;
/// Minimum number of retries in tables, which makes ten attempts.
const MIN_RETRIES_SHOWN: u32 = 9;
/// Maximum number of retries in tables.
const MAX_RETRIES_SHOWN: u32 = 50;
/// Maximum number of retries whose waits are summed up; with more, the verdict names the waits of the table.
const MAX_SUMMED: u32 = 1_000_000;
/// Maximum time between two events of a stream before it counts as dead, in seconds.
const IDLE_TIMEOUT_S: f64 = 20.0;

/// A policy in figures.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Version of the format.
    pub schema_version: u32,
    /// Name and version of the program.
    pub generator: String,
    /// Maximum number of attempts of a call.
    pub max_attempts: Sourced<u32>,
    /// Waits by number of retries.
    pub schedule: Vec<WaitRow>,
    /// Probability that an attempt succeeds.
    pub success: Sourced<f64>,
    /// Success by number of retries, given that probability.
    pub recovery: Vec<RecoveryRow>,
    /// Attempts of nested retry loops.
    pub layers: Layers,
    /// Deadlines by output cap.
    pub timeouts: Vec<TimeoutRow>,
    /// Maximum time between two events of a stream before it counts as dead, in seconds.
    pub idle_timeout_s: f64,
    /// Concurrent requests; `None` if the rate or the time in the system is unknown.
    pub load: Option<Load>,
    /// Token rate; `None` if the rate of calls or the tokens per attempt are unknown.
    pub tokens: Option<TokenRate>,
    /// How to start a fan-out; `None` without one, or if no limit on its rate is known.
    pub fan_out: Option<FanOut>,
    /// The policy as keys of a `[policy]` table.
    pub policy: String,
    /// The settings of clients and frameworks for it.
    pub settings: Vec<ClientSettings>,
}

/// The waits of a number of retries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitRow {
    /// Number of retries.
    pub retries: u32,
    /// Wait before the last of them, before jitter, in seconds.
    pub wait_s: f64,
    /// Sum of all waits, before jitter, in seconds.
    pub total_s: f64,
    /// Smallest sum of the waits after jitter, in seconds.
    pub least_s: f64,
}

/// The success of a number of retries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecoveryRow {
    /// Number of independent tries.
    pub tries: u32,
    /// Probability that one of them succeeds: 1 - (1-q)^k.
    pub success: f64,
    /// Expected attempts of a call with this number of retries: the sum of (1-q)^i for i up to k.
    pub expected_attempts: f64,
}

/// Attempts of nested retry loops.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layers {
    /// Attempts of each loop.
    pub attempts: Vec<u32>,
    /// Maximum number of attempts of a call: their product.
    pub product: u64,
    /// Maximum number of attempts with d layers that all retry as the policy does: (r+1)^d, for d from 1.
    pub equal: Vec<u64>,
}

/// The deadline of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeoutRow {
    /// Output cap, in tokens.
    pub max_tokens: u64,
    /// Deadline, in seconds.
    pub timeout_s: f64,
}

/// Concurrent requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Calls started per second.
    pub arrivals_per_s: Sourced<f64>,
    /// Seconds from the first attempt of a call to its last answer.
    pub in_system_s: Sourced<f64>,
    /// Product of the two, by Little's law.
    pub concurrency: f64,
    /// Size of a pool or semaphore that admits them.
    pub pool_needed: u64,
    /// Declared size of the pool.
    pub pool: Option<u32>,
    /// Calls per second that a pool of that size admits.
    pub admits_per_s: Option<f64>,
}

/// Token rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TokenRate {
    /// Tokens sent per minute.
    pub tokens_per_min: f64,
    /// Limit on tokens per minute.
    pub limit: Option<f64>,
    /// Tokens sent as a share of the limit.
    pub share: Option<f64>,
    /// Calls per second that the limit admits.
    pub admits_per_s: Option<f64>,
}

/// How to start many calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FanOut {
    /// Number of calls.
    pub calls: u32,
    /// Calls that may be started per second.
    pub admits_per_s: f64,
    /// Interval between two starts, in seconds.
    pub stagger_s: f64,
    /// Time until the last call has started, in seconds.
    pub lasts_s: f64,
}

/// Computes the plan.
#[must_use]
pub fn plan(inputs: &Inputs) -> Plan {
    let policy_retries = inputs.max_attempts.value.saturating_sub(1);
    let retries = policy_retries.clamp(MIN_RETRIES_SHOWN, MAX_RETRIES_SHOWN);
    // The verdict needs the row of all retries.
    let beyond =
        Some(policy_retries).filter(|policy_retries| (MAX_RETRIES_SHOWN + 1..=MAX_SUMMED).contains(policy_retries));
    let timeouts: Vec<TimeoutRow> = inputs.max_tokens.iter().map(|tokens| timeout(inputs, *tokens)).collect();
    let timeout_s = timeouts
        .iter()
        .map(|row| row.timeout_s)
        .fold(None, |most: Option<f64>, s| Some(most.map_or(s, |most| most.max(s))));
    let load = load(inputs);
    let tokens = tokens(inputs);
    let pool = load.as_ref().and_then(|load| u32::try_from(load.pool_needed).ok());
    let policy = settings::policy(inputs, timeout_s, pool);
    Plan {
        schema_version: SCHEMA_VERSION,
        generator: format!("retrylens {}", env!("CARGO_PKG_VERSION")),
        max_attempts: inputs.max_attempts,
        schedule: (1..=retries).chain(beyond).map(|retries| wait(inputs, retries)).collect(),
        success: inputs.success,
        recovery: (1..=retries).map(|tries| recovery(inputs.success.value, tries)).collect(),
        layers: layers(inputs),
        idle_timeout_s: IDLE_TIMEOUT_S,
        fan_out: fan_out(inputs, load.as_ref(), tokens.as_ref()),
        settings: settings::settings(&policy),
        policy: crate::config::policy_keys(&policy),
        timeouts,
        load,
        tokens,
    }
}

fn wait(inputs: &Inputs, retries: u32) -> WaitRow {
    let min_s = (1..=retries).map(|failure| *inputs.schedule.allowed_s(failure).start()).sum();
    WaitRow {
        retries,
        wait_s: rounded(inputs.schedule.nominal_s(retries)),
        total_s: rounded(inputs.schedule.total_s(retries)),
        least_s: rounded(min_s),
    }
}

fn recovery(q: f64, tries: u32) -> RecoveryRow {
    let (success, expected) = (success_within(tries, q), expected_attempts(tries, q));
    RecoveryRow { tries, success: rounded_share(success), expected_attempts: rounded(expected) }
}

fn layers(inputs: &Inputs) -> Layers {
    const DEPTHS: u32 = 4;
    let retries = inputs.max_attempts.value.saturating_sub(1);
    Layers {
        attempts: inputs.layers.clone(),
        product: attempts_of_nested_layers(&inputs.layers),
        equal: (1..=DEPTHS).map(|layers| attempts_of_equal_layers(retries, layers)).collect(),
    }
}

fn timeout(inputs: &Inputs, max_tokens: u64) -> TimeoutRow {
    let writing_s = max_tokens as f64 / inputs.tokens_per_s;
    let margin_s = inputs.margin_s.unwrap_or((writing_s / 8.0).clamp(5.0, 10.0));
    let timeout_s = deadline_s(max_tokens, inputs.first_token_s, inputs.tokens_per_s, margin_s);
    TimeoutRow { max_tokens, timeout_s: rounded(timeout_s) }
}

fn load(inputs: &Inputs) -> Option<Load> {
    let (arrivals_per_s, in_system_s) = (inputs.rate_per_s?, inputs.in_system_s?);
    let at_once = concurrency(arrivals_per_s.value, in_system_s.value);
    Some(Load {
        arrivals_per_s,
        in_system_s,
        concurrency: rounded(at_once),
        pool_needed: at_once.ceil() as u64,
        pool: inputs.pool,
        admits_per_s: inputs.pool.map(|pool| rounded(f64::from(pool) / in_system_s.value)),
    })
}

fn tokens(inputs: &Inputs) -> Option<TokenRate> {
    let (rate, tokens) = (inputs.rate_per_s?.value, inputs.tokens?.value);
    let attempts = inputs.attempts.map_or(1.0, |attempts| attempts.value);
    let sent = tokens_per_min(rate, attempts, tokens);
    let limit = inputs.token_limit;
    Some(TokenRate {
        tokens_per_min: rounded(sent),
        limit,
        share: limit.map(|limit| rounded_share(sent / limit)),
        admits_per_s: limit.map(|limit| rounded(rate * limit / sent)),
    })
}

/// Uses the limit that admits the fewest calls: the pool, the tokens, or the requests.
fn fan_out(inputs: &Inputs, load: Option<&Load>, tokens: Option<&TokenRate>) -> Option<FanOut> {
    let calls = inputs.fan_out?;
    let requests = inputs.request_limit.map(|limit| limit.value / 60.0);
    let limits = [load.and_then(|load| load.admits_per_s), tokens.and_then(|tokens| tokens.admits_per_s), requests];
    let admits = limits.into_iter().flatten().reduce(f64::min).filter(|admits| *admits > 0.0)?;
    let stagger = stagger_s(admits);
    let lasts = stagger * f64::from(calls.saturating_sub(1));
    Some(FanOut { calls, admits_per_s: rounded(admits), stagger_s: rounded(stagger), lasts_s: rounded(lasts) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Source;
    use crate::policy::SDK;

    fn given<T>(value: T) -> Sourced<T> {
        Sourced { value, source: Source::Given }
    }

    fn inputs() -> Inputs {
        Inputs {
            schedule: SDK,
            max_attempts: given(10),
            budget_s: None,
            success: given(0.5),
            layers: vec![4, 3],
            max_tokens: vec![4_000, 200],
            first_token_s: 5.0,
            tokens_per_s: 50.0,
            margin_s: None,
            rate_per_s: Some(given(50.0)),
            in_system_s: Some(given(8.0)),
            pool: Some(50),
            attempts: Some(given(4.0)),
            tokens: Some(given(8_000.0)),
            token_limit: Some(48e6),
            request_limit: None,
            fan_out: Some(101),
        }
    }

    #[test]
    fn ten_attempts_on_the_ladder_wait_47_and_a_half_seconds() {
        let plan = plan(&inputs());
        let totals: Vec<f64> = plan.schedule.iter().map(|row| row.total_s).collect();
        assert_eq!(totals, [0.5, 1.5, 3.5, 7.5, 15.5, 23.5, 31.5, 39.5, 47.5]);
        let least: Vec<f64> = plan.schedule.iter().map(|row| row.least_s).take(3).collect();
        assert_eq!(least, [0.375, 1.125, 2.625]);
    }

    #[test]
    fn recovery_layers_and_deadlines() {
        let plan = plan(&inputs());
        assert_eq!((plan.recovery[2].success, plan.recovery[2].expected_attempts), (0.875, 1.875));
        assert_eq!((plan.layers.product, plan.layers.equal[1]), (12, 100));
        assert_eq!(plan.timeouts.iter().map(|row| row.timeout_s).collect::<Vec<_>>(), [95.0, 14.0]);
    }

    #[test]
    fn load_tokens_and_fan_out() {
        let plan = plan(&inputs());
        let load = plan.load.unwrap();
        assert_eq!((load.concurrency, load.pool_needed, load.admits_per_s), (400.0, 400, Some(6.25)));
        let tokens = plan.tokens.unwrap();
        assert_eq!((tokens.tokens_per_min, tokens.share, tokens.admits_per_s), (96e6, Some(2.0), Some(25.0)));
        // The pool admits the fewest.
        let fan_out = plan.fan_out.unwrap();
        assert_eq!((fan_out.admits_per_s, fan_out.stagger_s, fan_out.lasts_s), (6.25, 0.16, 16.0));
        let without_rate = super::plan(&Inputs { rate_per_s: None, pool: None, ..inputs() });
        assert!(without_rate.load.is_none() && without_rate.tokens.is_none() && without_rate.fan_out.is_none());
    }
}
