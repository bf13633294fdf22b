//! A deadline that is too short for the longest allowed answer.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, repeats, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::measure::{Fleet, Service};
use crate::model::{Confidence, Evidence, Flags, Remedy, Severity, units};
use smallvec::SmallVec;

const FIRST_TOKEN: Setting =
    Setting { name: "first_token_s", default: 5.0, unit: "s", meaning: "time to the first token" };
const SPEED: Setting =
    Setting { name: "tokens_per_s", default: 50.0, unit: "/s", meaning: "output tokens a second once it writes" };
const MARGIN: Setting = Setting { name: "margin_s", default: 5.0, unit: "s", meaning: "the least margin on top" };
const MARGIN_SHARE: Setting =
    Setting { name: "margin_share", default: 0.1, unit: "", meaning: "margin as a share of the time, if that is more" };

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL603",
    name: "timeout-too-short",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "The client hung up at a deadline shorter than the longest answer it had asked for takes.",
    why: "An answer that arrives whole takes as long as it takes to write: a deadline below that kills the long \
          ones every time, each retry is billed and killed again.",
    fix: "Derive the deadline from max_tokens (5 s to the first token, plus one second for every 50 tokens, plus a \
          margin), or stream and limit the time between two events instead.",
    remedy: Remedy::Fix,
    source: "Official Anthropic SDKs, _base_client.py: the deadline of a request without streaming is computed from \
             max_tokens; Anthropic API documentation, Errors, long requests",
    needs: &[Field::Duration, Field::MaxTokens],
    settings: &[FIRST_TOKEN, SPEED, MARGIN, MARGIN_SHARE],
    exceptions: &[&[
        "Streams, tools, attempts that had begun to answer, that never connected or that the server ended are not \
         judged.",
        "Where no timeout is logged the confidence is medium: the log does not say that nothing was streamed.",
    ]],
    check: Check::CallWithShare(check, add_share),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"kind":"timeout","timeout_s":30,"max_tokens":4000,"duration_ms":30010}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"kind":"timeout","timeout_s":30,"max_tokens":4000,"duration_ms":30010}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"exception":"httpx.ReadTimeout","max_output_tokens":1000,"elapsed_s":10}
{"timestamp":"2026-05-20T10:00:11Z","session_id":"s","turn_id":"t","try":2,"status_code":200,"elapsed_s":9}"#,
    ],
    near_misses: &[
        // 200 tokens take less than 14 s.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","timeout_s":15,"max_tokens":200,"duration_ms":15000}
{"ts":"2026-05-20T10:00:16Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":4000}"#,
        // The timeout of a stream applies to the time between events.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"kind":"timeout","timeout_s":20,"max_tokens":4000,"duration_ms":20000}
{"ts":"2026-05-20T10:00:21Z","run_id":"r","call_id":"c","attempt":2,"stream":true,"status":200}"#,
        // No connection was established.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","exception":"httpx.ConnectTimeout","max_tokens":4000,"duration_ms":5000}
{"ts":"2026-05-20T10:00:06Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // The server's own deadline.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":504,"error_type":"timeout_error","max_tokens":4000,"duration_ms":60000}
{"ts":"2026-05-20T10:01:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let timed_out: SmallVec<[(usize, f64, f64); 4]> = (0..call.len())
        .filter_map(|p| deadlines_s(call, p, settings).map(|(actual_s, required_s)| (p, actual_s, required_s)))
        .collect();
    let &(first, actual_s, required_s) = timed_out.first()?;
    let max_tokens = call.detail(first)?.max_tokens;
    let mut message = format!(
        "hung up after {} although an answer of up to {max_tokens} tokens may take {}",
        shared::seconds(actual_s),
        shared::seconds(required_s),
    );
    if timed_out.len() > 1 {
        message.push_str(&format!("; {} of the {} attempts ended so", timed_out.len(), call.len()));
    }
    let mut hit = Hit::new(message)
        .about(call.at(first).class)
        .number("deadline_s", actual_s)
        .number("derived_s", required_s)
        .count("max_tokens", u64::from(max_tokens))
        .count("killed", timed_out.len() as u64);
    hit.rows.extend(timed_out.iter().map(|&(p, ..)| call.rows()[p]));
    // The log does not show that the answer was not streamed.
    if call.detail(first)?.timeout.as_us().is_none() {
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Adds to a finding how many of the calls to the model, `timed_out` of them, had attempts ended by such a deadline.
fn add_share(fleet: &Fleet<'_>, service: Service, timed_out: u64, hit: &mut Hit) {
    let calls = fleet.calls_of(service).max(timed_out);
    let share = timed_out as f64 / calls as f64;
    if calls > 1 {
        let of = format!(
            "; attempts of {timed_out} of the {calls} calls to this model ended so ({})",
            units::percent(share)
        );
        hit.message.push_str(&of);
    }
    hit.evidence.extend([
        ("calls_killed", Evidence::Count(timed_out)),
        ("calls", Evidence::Count(calls)),
        ("killed_share", Evidence::Number(share)),
    ]);
}

/// Returns the deadline that ended the attempt at `position` and the one it should have had, in seconds; `None` if the
/// deadline was long enough, or the attempt is not judged.
fn deadlines_s(call: &Call<'_>, position: usize, settings: &Settings) -> Option<(f64, f64)> {
    let (attempt, detail) = (call.at(position), call.detail(position)?);
    let client_timed_out = attempt.class == Some(Class::Timeout) && attempt.status == 0;
    let is_exempt =
        attempt.flags.has(Flags::STREAM) || attempt.flags.has(Flags::TOOL) || attempt.flags.has(Flags::DELIVERED);
    let began = call.usage(position).ttft_ms_plus_1 > 0;
    if !client_timed_out || is_exempt || began || detail.max_tokens == 0 || repeats::was_never_sent(call, position) {
        return None;
    }
    let positive = |us: Option<i64>| us.filter(|us| *us > 0);
    let actual_us = positive(attempt.duration.as_us()).or_else(|| positive(detail.timeout.as_us()))?;
    let required_us = required_us(detail.max_tokens, settings);
    (actual_us < required_us).then_some((actual_us as f64 / 1e6, required_us as f64 / 1e6))
}

/// Returns how long an answer of `max_tokens` may take including a margin, in µs.
pub(super) fn required_us(max_tokens: u32, settings: &Settings) -> i64 {
    let value = |setting: &Setting| settings.get(RULE.code, setting);
    let answer_s = value(&FIRST_TOKEN) + f64::from(max_tokens) / value(&SPEED).max(1e-3);
    shared::micros(answer_s + value(&MARGIN).max(answer_s * value(&MARGIN_SHARE)))
}
