//! Writes simulated attempts as native records.

use super::engine::{Sent, Setup, run};
use super::words::NamedPolicy;
use crate::model::Time;
use crate::policy::Strategy;
use serde::Serialize;
use std::io::{self, Write};

/// Start of simulations: 2026-01-05 at 00:00 UTC.
const BEGIN: Time = Time(1_767_571_200_000_000);
const PROVIDER: &str = "simulated";

/// A record of the log.
#[derive(Serialize)]
struct Record<'a> {
    ts: Time,
    run_id: &'a str,
    call_id: String,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sdk_retry_count: Option<u32>,
    layer: &'static str,
    request_id: String,
    provider: &'static str,
    model: &'static str,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<f64>,
    duration_ms: f64,
    outcome: &'static str,
}

/// Simulates `policy` and writes every attempt, in the order in which they are sent.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn emit(setup: &Setup, policy: &NamedPolicy, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    let run_id = format!("simulated-{}", policy.name);
    let mut failed = None;
    let mut number = 0_u64;
    run(setup, &policy.strategy, seed, |sent| {
        if failed.is_some() {
            return;
        }
        number += 1;
        let record = record(setup, &policy.strategy, &run_id, number, sent);
        let line = serde_json::to_string(&record).map_err(io::Error::other);
        failed = line.and_then(|line| writeln!(out, "{line}")).err();
    });
    failed.map_or(Ok(()), Err)
}

fn record<'a>(setup: &Setup, strategy: &Strategy, run_id: &'a str, number: u64, sent: &Sent) -> Record<'a> {
    let us = |steps: u64| steps as f64 / setup.steps_per_s * 1e6;
    let (status, error_type) = match (sent.ok, setup.hint_s) {
        (true, _) => (200, None),
        (false, Some(_)) => (429, Some("rate_limit_error")),
        (false, None) => (529, Some("overloaded_error")),
    };
    // An outer loop restarts the client's own retry counter.
    let inner = strategy.max_attempts.filter(|_| strategy.outer > 1);
    Record {
        ts: BEGIN.plus_us(us(sent.at).round() as i64),
        run_id,
        call_id: format!("{run_id}-{:07}", sent.task),
        attempt: sent.attempt,
        max_attempts: strategy.all_attempts(),
        sdk_retry_count: inner.map(|inner| (sent.attempt - 1) % inner),
        layer: if strategy.outer > 1 { "boundary" } else { "harness" },
        request_id: format!("req_simulated_{number:09}"),
        provider: PROVIDER,
        model: if sent.second { "simulated-fallback" } else { "simulated-model" },
        status,
        error_type,
        retry_after: setup.hint_s.filter(|_| !sent.ok),
        duration_ms: us(sent.took) / 1e3,
        outcome: if sent.ok { "ok" } else { "error" },
    }
}
