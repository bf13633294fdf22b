//! A client-side timeout cuts an answer off, and the retry runs into the same timeout.

use super::rl603_timeout_too_short as rl603;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, repeats, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Confidence, Flags, Remedy, Severity};
use smallvec::SmallVec;

const LEAST: Setting = Setting {
    name: "least_s",
    default: 10.0,
    unit: "s",
    meaning: "an attempt cut off before this has hardly been billed for an answer",
};
const SPREAD: Setting = Setting {
    name: "spread_share",
    default: 0.02,
    unit: "",
    meaning: "attempts whose lengths differ by no more than this were cut by one deadline",
};

const FEW: Setting = Setting {
    name: "few",
    default: 2.0,
    unit: "",
    meaning: "so many attempts cut off by one deadline may be an outage, unless tokens or money were logged for them",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL604",
    name: "timeout-paid-twice",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "An attempt was cut off by a deadline and sent again: an answer nobody read may have been produced and billed.",
    why: "The server goes on working after the client has hung up. Where every attempt runs into the same \
          deadline, each is another answer paid for, and none arrives.",
    fix: "Raise the deadline above what the answer takes, or stream it with an idle limit of some 20 s, and give \
          the request an idempotency key where the provider honours one.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors, long requests: use streaming or batches for requests that run \
             for minutes; official SDKs, _base_client.py: a timed-out request is sent again twice by default",
    needs: &[Field::CallIdentity, Field::Duration],
    settings: &[LEAST, SPREAD, FEW],
    exceptions: &[&[
        "An attempt that never connected, and one with a status, are not counted; tools are RL608.",
        "One attempt, two without logged tokens or money, and a deadline that fits max_tokens make it info.",
        "Lost connections count only where two or more lasted as long.",
    ]],
    check: Check::Call(check),
    firing: &[
        // One lost connection after another, each after the same time.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"exception":"aiohttp.ServerDisconnectedError","duration_ms":30100}
{"ts":"2026-05-20T10:00:31.1Z","run_id":"r","call_id":"c","attempt":2,"exception":"aiohttp.ServerDisconnectedError","duration_ms":30100}
{"ts":"2026-05-20T10:01:03.2Z","run_id":"r","call_id":"c","attempt":3,"status":200,"duration_ms":21000}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"kind":"timeout","elapsed_s":45,"usage":{"input_tokens":9000,"output_tokens":1200}}
{"timestamp":"2026-05-20T10:00:46Z","session_id":"s","turn_id":"t","try":2,"kind":"timeout","elapsed_s":45,"usage":{"input_tokens":9000,"output_tokens":1200}}"#,
        // Only once: an info.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","duration_ms":60000}
{"ts":"2026-05-20T10:01:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":30000}"#,
        // Three answers of up to 4,000 tokens, each cut off after 30 s.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","max_tokens":4000,"duration_ms":30000}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"kind":"timeout","max_tokens":4000,"duration_ms":30000}
{"ts":"2026-05-20T10:01:02Z","run_id":"r","call_id":"c","attempt":3,"kind":"timeout","max_tokens":4000,"duration_ms":30000}"#,
    ],
    near_misses: &[
        // The server ended it, and bills nothing.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":504,"error_type":"timeout_error","duration_ms":60000}
{"ts":"2026-05-20T10:01:01Z","run_id":"r","call_id":"c","attempt":2,"status":504,"error_type":"timeout_error","duration_ms":60000}"#,
        // No connection was established, so nothing was sent.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","exception":"httpx.ConnectTimeout","duration_ms":15000}
{"ts":"2026-05-20T10:00:16Z","run_id":"r","call_id":"c","attempt":2,"kind":"timeout","exception":"httpx.ConnectTimeout","duration_ms":15000}"#,
        // Half a second: hardly any output was produced.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","duration_ms":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"kind":"timeout","duration_ms":500}"#,
        // The call ended at the deadline.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","duration_ms":60000,"decision":"fail"}"#,
        // Two unrelated lost connections.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"exception":"aiohttp.ServerDisconnectedError","duration_ms":14100}
{"ts":"2026-05-20T10:00:15Z","run_id":"r","call_id":"c","attempt":2,"exception":"aiohttp.ServerDisconnectedError","duration_ms":31000}
{"ts":"2026-05-20T10:00:48Z","run_id":"r","call_id":"c","attempt":3,"status":200,"duration_ms":21000}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let long: SmallVec<[(usize, i64); 8]> =
        (0..call.len()).filter_map(|p| Some((p, length_us(call, p, settings)?))).collect();
    let spread = settings.get(RULE.code, &SPREAD);
    // The deadline is the duration that most of these attempts have in common.
    let with_duration = |duration_us: i64| {
        long.iter()
            .filter(move |(_, other)| (other - duration_us).abs() <= shared::scaled(duration_us, spread))
            .map(|(p, _)| *p)
    };
    let deadline = long
        .iter()
        .map(|(_, duration_us)| *duration_us)
        .max_by_key(|&duration_us| with_duration(duration_us).count())?;
    let cut_off: SmallVec<[usize; 8]> = with_duration(deadline).collect();
    let timeouts = cut_off.iter().any(|&p| call.at(p).class == Some(Class::Timeout));
    let first = *cut_off.first()?;
    let resent = first + 1 < call.len() && shared::shows_retry(call, first);
    if !resent || (cut_off.len() < 2 && !timeouts) {
        return None;
    }
    let usage = cut_off.iter().map(|&p| call.usage(p));
    let tokens: u64 = usage.clone().map(|u| u64::from(u.input_tokens) + u64::from(u.output_tokens)).sum();
    let usd = usage.map(|u| f64::from(u.cost_micro_usd)).sum::<f64>() / 1e6;
    let deadline_s = deadline as f64 / 1e6;
    let duration_us = shared::seconds(deadline_s);
    let message = match cut_off.len() {
        1 => format!(
            "cut off after {duration_us} and sent again: the first answer may have been billed and was not read"
        ),
        n => format!("{n} attempts were cut off after {duration_us} each: up to {n} answers billed and not read"),
    };
    let mut hit = Hit::new(message)
        .on_call(call)
        .about(call.at(first).class)
        .count("cut_off", cut_off.len() as u64)
        .number("deadline_s", deadline_s);
    if tokens > 0 {
        hit = hit.count("tokens_unread", tokens);
    }
    if usd > 0.0 {
        hit = hit.number("usd_unread", usd);
    }
    // Two in a row may be due to an outage, and so may more if the deadline is long enough for the answer.
    let max_tokens = call.detail(first)?.max_tokens;
    let is_long_enough = max_tokens > 0 && deadline >= rl603::required_us(max_tokens, settings);
    let may_be_outage = cut_off.len() as f64 <= settings.get(RULE.code, &FEW) && tokens == 0 && usd == 0.0;
    if cut_off.len() == 1 || is_long_enough || may_be_outage {
        hit.severity = Some(Severity::Info);
    } else {
        // One retry may finish before the deadline; further ones are more than a correct loop makes.
        hit = hit.in_excess(call, cut_off[1..].iter().copied());
    }
    if tokens == 0 && usd == 0.0 {
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Returns how long the attempt at `position` ran before it was cut off in µs, if that is long enough to matter.
fn length_us(call: &Call<'_>, position: usize, settings: &Settings) -> Option<i64> {
    let attempt = call.at(position);
    let ended_without_response = matches!(attempt.class, Some(Class::Timeout | Class::Connection));
    // A tool is not billed by the token; that is RL608.
    let is_model_call = !attempt.flags.has(Flags::TOOL);
    if !ended_without_response || !is_model_call || attempt.status != 0 || repeats::was_never_sent(call, position) {
        return None;
    }
    let duration_us = attempt.duration.as_us()?;
    (duration_us >= shared::micros(settings.get(RULE.code, &LEAST))).then_some(duration_us)
}
