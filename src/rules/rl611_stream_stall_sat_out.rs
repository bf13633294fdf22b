//! A stream stalled, and its client continued to wait.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Flags, Remedy, Severity};

const READ: Setting = Setting {
    name: "read_timeout",
    default: 2.0,
    unit: "",
    meaning: "a timeout of at most so many idle deadlines is a read timeout that would have ended the stall soon",
};

const IDLE: Setting = Setting {
    name: "idle_s",
    default: 20.0,
    unit: "s",
    meaning: "a stream silent for longer is taken as stalled; gaps below 5 s are not kept",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL611",
    name: "stream-stall-sat-out",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A stream delivered nothing for longer than an idle deadline, and its client neither aborted it nor had a read timeout.",
    why: "A connection that died silently looks like a slow answer: without a deadline between chunks the call holds its \
          worker until something else ends it, which may be never.",
    fix: "Give every stream a deadline between chunks (20 s, pings counted as chunks), abort when it passes, and treat \
          that like a lost connection: discard what arrived and send again with backoff.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Streaming messages: ping events are sent throughout a stream; httpx \
             documentation, Timeouts: a read timeout bounds the wait for each chunk",
    needs: &[Field::ChunkGap],
    settings: &[IDLE, READ],
    exceptions: &[&[
        "An attempt that the client ended (timeout, cancellation) is no stall sat out.",
        "A logged timeout of at most twice the idle deadline would have ended the stall soon.",
        "Gaps under 5 s are not kept, so that a lower idle deadline acts like 5 s.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","stream":true,"status":200,"outcome":"ok","duration_ms":61000,"max_chunk_gap_ms":48000}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","status_code":200,"streaming":true,"latency_ms":41000,"max_gap_s":25.5}"#,
    ],
    near_misses: &[
        // Slow, but not stalled.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","stream":true,"status":200,"outcome":"ok","duration_ms":61000,"max_chunk_gap_ms":12000}"#,
        // The client aborted it and retried.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","attempt":1,"stream":true,"status":200,"kind":"timeout","duration_ms":22000,"max_chunk_gap_ms":21000}
{"ts":"2026-05-20T10:00:24Z","call_id":"c","attempt":2,"stream":true,"status":200,"duration_ms":4000,"max_chunk_gap_ms":300}"#,
        // The caller ended it.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","stream":true,"status":200,"kind":"cancelled","duration_ms":32000,"max_chunk_gap_ms":31000}"#,
        // Its own timeout was about to end it.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","stream":true,"status":200,"outcome":"ok","duration_ms":28000,"max_chunk_gap_ms":22000,"timeout_s":30}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let idle = settings.get(RULE.code, &IDLE);
    let max_timeout_us = shared::scaled(shared::micros(idle), settings.get(RULE.code, &READ));
    let unaborted_stall = |position: usize| {
        let gap = call.chunk_gap_us(position)?;
        (gap > shared::micros(idle) && !was_or_would_be_aborted(call, position, max_timeout_us))
            .then_some((position, gap as f64 / 1e6))
    };
    let stalls: Vec<(usize, f64)> = (0..call.len()).filter_map(unaborted_stall).collect();
    let (position, longest) = stalls.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let mut hit = Hit::new(format!(
        "a stream delivered nothing for {}, and its client waited on (idle deadline {})",
        shared::seconds(longest),
        shared::seconds(idle),
    ))
    .on(call, position)
    .about(call.at(position).class)
    .number("max_chunk_gap_s", longest)
    .number("idle_s", idle);
    if stalls.len() > 1 {
        hit = hit.count("stalls", stalls.len() as u64);
    }
    hit.wait_s = stalls.iter().map(|(_, gap)| gap - idle).sum();
    Some(hit)
}

/// Returns whether the client ended the attempt at `position`, or would have done so soon: it has a timeout of at most
/// `max_timeout_us`.
fn was_or_would_be_aborted(call: &Call<'_>, position: usize, max_timeout_us: i64) -> bool {
    let attempt = call.at(position);
    let timeout = call.detail(position).and_then(|detail| detail.timeout.as_us());
    matches!(attempt.class, Some(Class::Timeout | Class::Cancelled))
        || attempt.flags.has(Flags::TOOL)
        || timeout.is_some_and(|timeout| timeout <= max_timeout_us)
}
