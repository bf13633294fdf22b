//! The prompt cache expired while the call waited.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::Call;
use crate::model::{Confidence, Flags, Remedy, Severity};

const TTL: Setting =
    Setting { name: "ttl_s", default: 300.0, unit: "s", meaning: "how long the prompt cache lives without a hit" };

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL309",
    name: "cache-ttl-crossed",
    severity: Severity::Info,
    scope: Scope::Call,
    summary: "A wait outlived the prompt cache, so the next attempt wrote the prompt anew.",
    why: "A cached prompt is read at a tenth of the input price, and written at one and a quarter of it: a wait \
          just over the cache's lifetime makes the next attempt many times dearer.",
    fix: "Where calls may wait longer than five minutes, ask for the one-hour cache, or end the call and plan for \
          the write when it resumes.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Prompt caching: five minutes, refreshed by each hit; one hour as an \
             option; writes at 1.25 times the input price",
    needs: &[Field::CallId, Field::Duration],
    settings: &[TTL],
    exceptions: &[
        &[
            "The next attempt must have succeeded, on the same account and model.",
            "Usage that shows no more tokens written than read denies it.",
            "A wait that is not known from the end of the attempt does not count.",
        ],
        &shared::CLOCK,
        &shared::SHOWN,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":320,"error_type":"rate_limit_error","duration_ms":20}
{"ts":"2026-05-20T10:05:21Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900,"usage":{"input_tokens":100,"output_tokens":50,"cache_creation_input_tokens":80000}}"#,
        // Nothing is known about the cache.
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":529,"elapsed_s":1}
{"timestamp":"2026-05-20T10:06:00Z","session_id":"s","turn_id":"t","try":2,"status_code":200,"elapsed_s":3}"#,
    ],
    near_misses: &[
        // Half an hour between the starts of two attempts, the first of which has no known end.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1800,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:30:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"cache_creation_input_tokens":90000}"#,
        // Other calls had kept the cache alive.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":320,"error_type":"rate_limit_error","duration_ms":20}
{"ts":"2026-05-20T10:05:21Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900,"usage":{"input_tokens":100,"output_tokens":50,"cache_read_input_tokens":80000}}"#,
        // A wait of four minutes.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":20}
{"ts":"2026-05-20T10:04:00Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // No cache is used.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":20}
{"ts":"2026-05-20T10:06:00Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900,"usage":{"input_tokens":9000,"output_tokens":50}}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let ttl = settings.get(RULE.code, &TTL);
    let position = call.retried().find(|&p| crossed(call, p, ttl))?;
    let wait = call.wait_before(position + 1)?.s();
    let usage = call.usage(position + 1);
    let written = u64::from(usage.cache_write_tokens);
    let end = if written > 0 {
        format!("the next attempt wrote {written} tokens anew")
    } else {
        "if the prompt was cached, the next attempt wrote it anew".to_owned()
    };
    let mut hit = Hit::new(format!(
        "a wait of {} outlived the prompt cache ({}): {end}",
        shared::seconds(wait),
        shared::seconds(ttl)
    ))
    .on(call, position)
    .on(call, position + 1)
    .about(call.at(position).class)
    .number("wait_s", wait)
    .number("ttl_s", ttl);
    if written > 0 {
        hit = hit.count("cache_write_tokens", written);
    } else {
        hit.confidence = Confidence::Low;
    }
    Some(hit)
}

/// Whether the wait after the attempt at `position` outlasted the cache, unless the logged usage contradicts that.
fn crossed(call: &Call<'_>, position: usize, ttl: f64) -> bool {
    let usage = call.usage(position + 1);
    let reported = usage.input_tokens > 0 || usage.output_tokens > 0 || usage.cache_read_tokens > 0;
    let written = usage.cache_write_tokens > usage.cache_read_tokens;
    let answered = !call.at(position + 1).failed() && !call.at(position + 1).flags.has(Flags::TOOL);
    answered
        && (written || !reported)
        && call.wait_before(position + 1).is_some_and(|wait| wait.is_exact && wait.us > shared::micros(ttl))
        && shared::same_scope(call, position, position + 1)
        && shared::shows_retry(call, position)
}
