//! Invented measures: incidents, recovery, load, layers.

use super::at;
use crate::model::{Dimension, Outcome};
use crate::report::{
    AmplifiedSpan, ClassRow, IncidentClass, IncidentEnd, IncidentRow, LastFailed, LayerRow, LoadPoint, LoadRow,
    LoadSeries, NameRow, RecoveryRow, RecoveryStep, Share,
};

pub(super) fn incidents() -> Vec<IncidentRow> {
    let incident = |class, from, until, failed, runs, ended| IncidentRow {
        class,
        classes: vec![IncidentClass { class, failed }],
        provider: Some("anthropic".to_owned()),
        model: Some("claude-opus-4-1".to_owned()),
        first: at(from),
        last: at(until),
        failed,
        sends: failed * 2,
        sends_exact: true,
        calls: failed / 3,
        runs,
        runs_exact: runs <= 32,
        peak_per_min: failed * 2 / 5,
        ended,
        request_ids: (1..=3).map(|n| format!("req_{class}{n}")).collect(),
    };
    vec![
        incident("overloaded", 31, 44, 512, 48, IncidentEnd::Recovered),
        incident("timeout", 102, 103, 9, 2, IncidentEnd::GaveUp),
        incident("rate_limited", 540, 547, 130, 12, IncidentEnd::EndOfData),
    ]
}

pub(super) fn recovery() -> Vec<RecoveryRow> {
    let row = |class, failed, retried, recovered, retries| RecoveryRow {
        provider: Some("anthropic".to_owned()),
        model: Some("claude-opus-4-1".to_owned()),
        class,
        first_attempts: Share { count: failed, of: 4607 },
        retried: Share { count: retried, of: failed },
        recovered: Share { count: recovered, of: retried },
        one_retry: Share { count: recovered, of: retries },
        failing_first: Share { count: 484, of: 4607 },
        failing_again: Share { count: retries - recovered, of: retries },
        steps: (1..=4)
            .map(|retry| RecoveryStep {
                retry,
                succeeded: Share { count: recovered / 4, of: retries / retry as u64 },
                observed: 0.2 * retry as f64,
                predicted: 1.0 - 0.6_f64.powi(retry as i32),
                expected_attempts: 1.0 + 0.7 * retry as f64,
            })
            .collect(),
        sends_per_recovery: (recovered > 0).then(|| retries as f64 / recovered as f64),
        seconds_per_recovery: (recovered > 0).then_some(11.4),
    };
    vec![row("overloaded", 400, 390, 310, 900), row("spend_cap", 44, 40, 0, 120), row("invalid_request", 40, 0, 0, 0)]
}

pub(super) fn load() -> Vec<LoadRow> {
    let span =
        AmplifiedSpan { from: at(31), until: at(36), calls: 80, sends: 212, sends_per_call: 2.65, retry_ratio: 1.65 };
    let row = |scope: &str, calls, limit| LoadRow {
        scope: scope.to_owned(),
        calls,
        arrivals_per_s: Some(0.14),
        time_in_system_s: Some(12.5),
        concurrency: Some(1.75),
        in_flight_mean: Some(1.2),
        in_flight_peak: Some(37),
        in_flight_peak_at: Some(at(33)),
        timed: Share { count: calls, of: calls },
        offered_per_min: Some(412),
        offered_at: Some(at(33)),
        requests_limit: limit,
        refused: Share { count: 130, of: calls },
        amplified: Some(span),
        retry_budget: None,
        course: Some(load_series()),
    };
    vec![row("anthropic claude-opus-4-1 org-7f3a", 4000, Some(400)), row("openai gpt-5", 607, None)]
}

fn load_series() -> LoadSeries {
    let point = |(minute, (sends, refused, in_flight))| LoadPoint {
        at: at(minute),
        sends,
        refused,
        sends_per_min: sends,
        refused_per_min: refused,
        in_flight,
    };
    let figures = [(40, 0, 2), (412, 90, 37), (260, 40, 12), (55, 0, 3), (60, 0, 3)];
    LoadSeries { resolution_s: 60.0, points: (31..).zip(figures).map(point).collect() }
}

pub(super) fn layers() -> Vec<LayerRow> {
    vec![LayerRow {
        client: Some("Anthropic/Python".to_owned()),
        client_version: Some("2.14.0".to_owned()),
        inner: "the SDK's own retries (Anthropic/Python 2.14.0)".to_owned(),
        outer: "a loop".to_owned(),
        rounds: 4,
        sends_per_round: 3,
        even: true,
        bound: 12,
        sign: "the SDK's own retry counter begins again",
        calls: 7,
        sends: 84,
        request_id: Some("req_1".to_owned()),
    }]
}

/// Two versions of a client, and pods of which one is in trouble.
pub(super) fn who() -> Vec<NameRow> {
    let row = |by, name: Option<&str>, version: Option<&str>, calls, failed, findings| NameRow {
        by,
        name: name.map(str::to_owned),
        version: version.map(str::to_owned),
        calls,
        calls_failed: failed,
        attempts: calls + 3 * failed,
        retries: 3 * failed,
        wasted_sends: 2 * failed,
        findings,
        tokens: Some(calls * 4000),
        usd: Some(calls as f64 * 0.03),
    };
    vec![
        row(Dimension::Provider, Some("anthropic"), None, 8213, 60, [40, 9, 1]),
        row(Dimension::Client, Some("Anthropic/Python"), Some("0.40.0"), 213, 58, [40, 8, 0]),
        row(Dimension::Client, Some("Anthropic/Python"), Some("0.52.1"), 8000, 2, [0, 1, 1]),
        row(Dimension::Host, Some("worker-a-0"), None, 100, 57, [40, 0, 0]),
        row(Dimension::Host, Some("worker-a-1"), None, 4000, 2, [0, 8, 0]),
        row(Dimension::Host, Some("worker-b-0"), None, 4000, 1, [0, 1, 0]),
        row(Dimension::Host, Some("worker-b-1"), None, 100, 0, [0, 0, 1]),
        row(Dimension::Host, None, None, 13, 0, [0, 0, 0]),
    ]
}

/// 123 failed calls of five classes, and 4 open ones.
pub(super) fn last_failed() -> Vec<LastFailed> {
    let one = |outcome, class, calls, first, last| LastFailed {
        outcome,
        class,
        calls,
        first: Some(at(first)),
        last: Some(at(last)),
    };
    vec![
        one(Outcome::Failed, "overloaded", 70, 300, 360),
        one(Outcome::Failed, "spend_cap", 38, 3, 500),
        one(Outcome::Failed, "rate_limited", 9, 12, 12),
        one(Outcome::Failed, "context_too_long", 4, 80, 210),
        LastFailed { first: None, last: None, ..one(Outcome::Failed, "timeout", 2, 0, 0) },
        one(Outcome::Open, "overloaded", 4, 545, 548),
    ]
}

pub(super) fn classes() -> Vec<ClassRow> {
    let one = |class, bucket, attempts, calls, recovered| ClassRow { class, bucket, attempts, calls, recovered };
    vec![
        one("spend_cap", "terminal", 250, 38, 0),
        one("rate_limited", "retry_after", 180, 120, 118),
        one("overloaded", "capacity", 12_040, 10_002, 10_002),
        one("context_too_long", "terminal", 3, 3, 0),
    ]
}
