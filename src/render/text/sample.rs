//! Invented reports for tests and snapshots.

use crate::model::{Bar, Cost, Input, Ledger, LimitKind, Outcome, Reject, Remedy, Severity, Time, Unreadable};
use crate::report::{
    Advice, Coverage, Headroom, HeadroomPoint, Histogram, Problem, Report, Run, SCHEMA_VERSION, Share, Totals,
    Undecided, Window,
};
use std::collections::BTreeMap;

mod measures;

/// 2026-03-10T21:04:03Z.
const START: i64 = 1_773_176_643;

/// Text that a hostile log may contain anywhere.
pub(in crate::render) const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2J\r\u{202e}gnirts\u{2066}\u{200b}\tx\u{9b}1m\n日本語の長い文字列がここに続きます\
    e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306} ☁\u{fe0f}👩\u{200d}👩\u{200d}👧 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa \
    sk-ant-api03-abcdefghijklmnop Bearer abcdef0123456789abcdef";

fn at(minutes: i64) -> Time {
    Time((START + minutes * 60) * 1_000_000)
}

/// A log without failures or retries.
pub(in crate::render) fn clean() -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        generator: "retrylens 0.1.0".to_owned(),
        title: None,
        verdict: "All 412 calls succeeded (412 attempts). No problem found in how calls were retried.".to_owned(),
        last_failed: Vec::new(),
        ledger: Ledger { lines: 415, attempts: 412, skipped: 3, ..Ledger::default() },
        window: Some(Window { first: at(0), last: at(42) }),
        notices: Vec::new(),
        baseline: None,
        totals: Totals {
            calls: 412,
            calls_ok: 412,
            runs: 3,
            sends: 412,
            amplification: 1.0,
            green_runs: 3,
            with_request_id: Share { count: 412, of: 412 },
            with_headroom: Share { count: 412, of: 412 },
            ..Totals::default()
        },
        advice: Vec::new(),
        advice_omitted: 0,
        problems: Vec::new(),
        problems_hidden: 0,
        findings: Vec::new(),
        findings_omitted: 0,
        runs: (1..=3).map(|n| run(&format!("night-{n:04}"), &[(1, 137, 0)])).collect(),
        histogram: Histogram { bars: [(1, Bar { ok: 412, failed: 0, open: 0 })].into() },
        classes: Vec::new(),
        backoff: Vec::new(),
        headroom: vec![headroom_series("anthropic claude-opus-4-1", LimitKind::Requests, 4000, 0.6, 0)],
        incidents: Vec::new(),
        incidents_omitted: 0,
        counterfactual: None,
        recovery: Vec::new(),
        load: measures::load(),
        layers: Vec::new(),
        who: Vec::new(),
        who_omitted: 0,
        coverage: vec![coverage_gap(&["RL201", "RL202"], "retry_after", 0, 0)],
        undecided: Vec::new(),
        unreadable: Vec::new(),
        inputs: vec![input("logs/night.jsonl")],
        rejects: Vec::new(),
    }
}

/// A log with many failures.
pub(in crate::render) fn failing() -> Report {
    Report {
        verdict:
            "123 of 4,607 calls failed; 4 more had failed when the log ends and may go on (`--complete` counts them as \
             failed); 14 of 61 runs failed. 2 problems found: 1 error, 1 warning (8 findings). 412 of 5,080 attempts \
             (8.1%) could not have helped; 2 h 13 min of waiting between attempts; 14 of 47 green runs needed more than \
             one attempt."
                .to_owned(),
        last_failed: measures::last_failed(),
        ledger: Ledger {
            lines: 12_345,
            attempts: 10_000,
            skipped: 2000,
            rejected: 40,
            blank: 300,
            duplicates: 5,
            views: 0,
            filtered: 12,
        },
        window: Some(Window { first: at(0), last: at(548) }),
        notices: Vec::new(),
        totals: totals(),
        advice: advice(),
        problems: problems(),
        runs: runs(),
        histogram: Histogram {
            bars: [(1, 4100, 20, 0), (2, 280, 12, 3), (3, 88, 30, 0), (4, 9, 0, 1), (5, 3, 60, 0), (9, 0, 1, 0)]
                .map(|(k, ok, failed, open)| (k, Bar { ok, failed, open }))
                .into(),
        },
        classes: measures::classes(),
        backoff: Vec::new(),
        headroom: vec![
            headroom_series("anthropic claude-opus-4-1 org-7f3a", LimitKind::Requests, 4000, 0.62, 0),
            headroom_series("anthropic claude-opus-4-1 org-7f3a", LimitKind::InputTokens, 2_000_000, 0.0, 7),
            headroom_series("anthropic claude-opus-4-1 org-7f3a", LimitKind::OutputTokens, 400_000, 0.21, 7),
            headroom_series("openai gpt-5", LimitKind::Tokens, 1_500_000, 0.45, 0),
        ],
        incidents: measures::incidents(),
        recovery: measures::recovery(),
        layers: measures::layers(),
        who: measures::who(),
        who_omitted: 3,
        coverage: vec![
            coverage_gap(&["RL201", "RL202", "RL203"], "retry_after", 3, 180),
            coverage_gap(&["RL401"], "max_attempts", 0, 10_000),
        ],
        undecided: [("RL307", 12), ("RL315", 1)]
            .map(|(rule, calls)| Undecided { rule, field: "duration_ms", calls })
            .to_vec(),
        unreadable: vec![Unreadable {
            field: "retry_after",
            count: 3,
            example: "30 seconds\u{1b}[31m".to_owned(),
            file: "logs/2026-03-10/worker-1.jsonl.zst".to_owned(),
            line: 7,
        }],
        inputs: (1..=4).map(|n| input(&format!("logs/2026-03-10/worker-{n}.jsonl.zst"))).collect(),
        rejects: (1..=7)
            .map(|n| Reject {
                file: "logs/2026-03-10/worker-2.jsonl.zst".to_owned(),
                line: 4410 + n,
                column: 17 * (n % 3),
                reason: "expected `,` or `}` after a value, found end of line: the line was cut off".to_owned(),
            })
            .collect(),
        ..clean()
    }
}

/// The same with hostile text wherever text of a log can occur.
pub(in crate::render) fn hostile() -> Report {
    let mut report = failing();
    let bad = HOSTILE.to_owned();
    report.verdict.push_str(HOSTILE);
    for advice in &mut report.advice {
        advice.text = bad.clone();
    }
    for problem in &mut report.problems {
        problem.example = bad.repeat(20);
        problem.fix = bad.clone();
        problem.model = Some(bad.clone());
        problem.provider = Some(bad.clone());
        problem.request_ids = vec![bad.clone(); 3];
    }
    for run in &mut report.runs {
        run.run_id.insert_str(0, HOSTILE);
        run.calls = u64::MAX;
        run.wait_s = f64::MAX;
    }
    for incident in &mut report.incidents {
        incident.model = Some(bad.clone());
        incident.failed = u64::MAX;
        incident.peak_per_min = u64::MAX;
    }
    for load in &mut report.load {
        load.scope.push_str(HOSTILE);
        load.arrivals_per_s = Some(f64::MAX);
        load.requests_limit = Some(i64::MAX);
    }
    for layer in &mut report.layers {
        layer.inner.push_str(HOSTILE);
    }
    for headroom in &mut report.headroom {
        headroom.scope.push_str(HOSTILE);
        headroom.limit = i64::MAX;
    }
    for input in &mut report.inputs {
        input.path = bad.clone();
    }
    for reject in &mut report.rejects {
        reject.file = bad.clone();
        reject.reason = bad.clone();
    }
    report
}

fn totals() -> Totals {
    Totals {
        attempts_implied: 0,
        attempts_upstream: 0,
        joined_by_guess: Share { count: 0, of: 4607 },
        calls: 4607,
        calls_ok: 4480,
        calls_failed: 123,
        calls_open: 4,
        runs: 61,
        runs_failed: 14,
        sends: 5080,
        retries: 473,
        amplification: 1.103,
        wasted_sends: 412,
        wait_s: 7980.0,
        waits_measured: Share { count: 460, of: 473 },
        green_runs: 47,
        green_runs_with_retries: 14,
        errors: 3,
        warnings: 5,
        infos: 40,
        suppressed: 0,
        with_request_id: Share { count: 9999, of: 10_000 },
        hinted_429: Share { count: 3, of: 180 },
        with_headroom: Share { count: 8214, of: 10_000 },
        rules_with_evidence: Share { count: 70, of: 74 },
        tokens: Some(41_200_000),
        cache_tokens: 1_900_000,
        usd: Some(312.4),
        wasted_tokens: Some(120_000),
        wasted_usd: Some(1.2),
        with_tokens: Share { count: 9100, of: 10_000 },
        with_cost: Share { count: 9100, of: 10_000 },
    }
}

fn advice() -> Vec<Advice> {
    let one = |rule, remedy, until, text: &str, sends, wait_s, findings| Advice {
        rule,
        remedy,
        until,
        ended: None,
        text: text.to_owned(),
        cost: Cost { sends, wait_s, ..Cost::default() },
        findings,
    };
    vec![
        one(
            "RL101",
            Remedy::Wait,
            Some(Time(1_775_001_600_000_000)),
            "Read error.details.error_code before the status: stop at enforced_spend_limit_reached, alert whoever owns \
             the budget, and resume when the cap reopens.",
            212,
            4332.0,
            38,
        ),
        one(
            "RL104",
            Remedy::Shrink,
            None,
            "The request asks for 342,389 tokens where the limit is 30,000: no wait lets it through. Split it, or ask \
             for a higher limit.",
            120,
            1210.0,
            4,
        ),
        one(
            "RL401",
            Remedy::Stop,
            None,
            "Do not send a 400 again: the same request gets the same answer.",
            80,
            12.3,
            9,
        ),
        one("RL302", Remedy::Fix, None, "Let one layer retry: set max_retries=0 in the SDK.", 0, 0.0, 1),
    ]
}

fn problems() -> Vec<Problem> {
    let one = |rule, name, severity, count, runs, cost: (u64, f64)| Problem {
        rule,
        name,
        severity,
        provider: Some("anthropic".to_owned()),
        model: Some("claude-opus-4-1-20250805".to_owned()),
        class: Some("spend_cap"),
        count,
        runs,
        first_seen: at(3),
        last_seen: at(500),
        cost: Cost { sends: cost.0, wait_s: cost.1, ..Cost::default() },
        example: "a spent monthly cap was sent again 4 times over 12 min 5 s; no send can succeed before it reopens"
            .to_owned(),
        request_ids: vec!["req_011CSHoEeqs5C35K2UUqR7Fy".to_owned(), "req_011CSHoEeqs5C35K2UUqR7Fz".to_owned()],
        fix:
            "Read error.details.error_code before the status: stop at enforced_spend_limit_reached, alert whoever owns \
              the budget, and resume when the cap reopens."
                .to_owned(),
        known: false,
        grew: false,
    };
    let mut all = vec![
        one("RL101", "spend-cap-retried", Severity::Error, 38, 12, (212, 4332.0)),
        one("RL501", "retries-in-step", Severity::Warning, 1, 0, (0, 0.0)),
    ];
    all.extend((0..13).map(|n| one("RL901", "sdk-default-attempts", Severity::Info, 3 + n, 2, (0, 0.0))));
    all
}

fn runs() -> Vec<Run> {
    let mut runs = vec![
        run(
            "night-eval-2026-03-10T21-04-03-claude-opus-4-1-swebench-verified-0001",
            &[(1, 49, 0), (2, 12, 0), (3, 3, 0), (5, 1, 60)],
        ),
        run("file:logs/2026-03-10/worker-1.jsonl.zst", &[(1, 400, 2), (2, 12, 0), (3, 3, 0)]),
        run("日本語の実行-7", &[(1, 40, 0), (2, 9, 0)]),
    ];
    runs.extend((0..57).map(|n| {
        run(&format!("night-eval-{n:04}"), if n % 3 == 0 { &[(1, 77, 0), (2, 1, 0)] } else { &[(1, 77, 0)] })
    }));
    runs
}

/// Creates a run from rows of (attempts, successful calls, failed calls).
fn run(id: &str, rows: &[(u32, u64, u64)]) -> Run {
    let calls = rows.iter().map(|(_, ok, failed)| ok + failed).sum();
    let attempts = rows.iter().map(|(k, ok, failed)| u64::from(*k) * (ok + failed)).sum();
    let failed = rows.iter().map(|(.., failed)| failed).sum();
    let histogram: BTreeMap<u32, u64> = rows.iter().map(|(k, ok, failed)| (*k, ok + failed)).collect();
    Run {
        run_id: id.to_owned(),
        calls,
        attempts,
        retries: attempts - calls,
        amplification: attempts as f64 / calls as f64,
        histogram,
        bars: Histogram {
            bars: rows.iter().map(|(k, ok, failed)| (*k, Bar { ok: *ok, failed: *failed, open: 0 })).collect(),
        },
        success_by_attempt: rows.iter().map(|(k, ok, _)| (*k, *ok)).collect(),
        outcome: if failed > 0 { Outcome::Failed } else { Outcome::Ok },
        calls_failed: failed,
        first: at(0),
        last: at(90),
        wait_s: (attempts - calls) as f64 * 11.4,
        wasted_sends: failed,
        tokens: Some(calls * 4000),
        usd: Some(calls as f64 * 0.03),
        wasted_tokens: None,
        wasted_usd: None,
        worst_call_attempts: rows.iter().map(|(k, ..)| *k).max().unwrap_or(1),
        models: vec!["claude-opus-4-1".to_owned()],
        findings: [failed.min(3), u64::from(attempts - calls > 10) * 2, 0],
        green_with_retries: failed == 0 && attempts > calls,
    }
}

/// A limit that is used up again and again down to the share `floor`, with `rejected` 429s at each low.
fn headroom_series(scope: &str, limit_kind: LimitKind, limit: i64, floor: f64, rejected: u64) -> Headroom {
    let point = |n: i64| {
        let phase = (n % 90) as f64 / 89.0;
        let left = (limit as f64 * (1.0 - phase * (1.0 - floor))) as i64;
        let rejected = if n % 90 == 89 { rejected } else { 0 };
        HeadroomPoint {
            at: at(n),
            first: left,
            min: left,
            last: left,
            limit,
            rejected,
            overloaded: u64::from(n == 300),
        }
    };
    Headroom {
        scope: scope.to_owned(),
        limit_kind,
        limit,
        min_ratio: floor,
        bad_readings: false,
        resolution_s: 60.0,
        points: (0..548).filter(|n| !(380..420).contains(n)).map(point).collect(),
    }
}

fn coverage_gap(rules: &[&'static str], field: &'static str, count: u64, of: u64) -> Coverage {
    Coverage { rules: rules.to_vec(), field, present: Share { count, of } }
}

fn input(path: &str) -> Input {
    Input {
        path: path.to_owned(),
        format: "native",
        envelope: None,
        bytes: 1_000_000,
        ledger: Ledger::default(),
        failure: None,
    }
}
