//! A call that did everything right, too few times.

use super::rl206_gave_up_on_the_hint as rl206;
use super::rl301_retry_before_retry_after as rl301;
use super::{Check, Confidence, Field, Hit, Remedy, Rule, Scope, Setting, Settings, Severity, sdk, shared};
use crate::attempt::{Attempt, Flags};
use crate::calls::{Call, Grouping};
use crate::classify::Class;
use crate::measure::{OwnWait, loops_of};
use crate::report::Outcome;

const WAITED: Setting = Setting {
    name: "waited_s",
    default: 10.0,
    unit: "s",
    meaning: "a call that waited longer than this in total had a fair budget",
};
const ATTEMPTS: Setting = Setting {
    name: "attempts",
    default: 10.0,
    unit: "",
    meaning: "with more attempts than this it is not their number that is too small",
};

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL203",
    name: "default-budget-exhausted",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call spent all its attempts on overloads or rate limits within seconds, and failed.",
    why: "The waits had the right shape, but together they were shorter than an ordinary dip in capacity: the \
          number of attempts, often a default of two retries, decided the outcome.",
    fix: "Raise the cap, or better set a budget in seconds: five retries on the usual ladder cover 15 s, nine \
          about 48 s; an unattended job can afford minutes.",
    remedy: Remedy::Fix,
    source: "Official SDKs, _constants.py: two retries, 0.5 s doubling to 8 s, so about 1.5 s in all; AWS \
             Builders' Library, Timeouts, retries and backoff with jitter",
    needs: &[Field::CallIdentity],
    settings: &[WAITED, ATTEMPTS],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.480Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:01.390Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
        r#"{"time":1779271200.10,"run":"r","call":"c","attempt":1,"max_retries":1,"status":429,"headers":{"retry-after":"1"},"error":{"type":"rate_limit_error"},"elapsed_s":0.1}
{"time":1779271201.30,"run":"r","call":"c","attempt":2,"max_retries":1,"status":429,"headers":{"retry-after":"1"},"error":{"type":"rate_limit_error"},"elapsed_s":0.1}"#,
        // As many retries as are advised, all of them short by chance: an info.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.3Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.8Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:01.9Z","run_id":"r","call_id":"c","attempt":4,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:03.6Z","run_id":"r","call_id":"c","attempt":5,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:06.5Z","run_id":"r","call_id":"c","attempt":6,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
    ],
    near_misses: &[
        // Six attempts and 15 s of waiting are a fair budget: the outage was longer.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01.5Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:03.5Z","run_id":"r","call_id":"c","attempt":4,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:07.5Z","run_id":"r","call_id":"c","attempt":5,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:15.5Z","run_id":"r","call_id":"c","attempt":6,"status":529,"error_type":"overloaded_error"}"#,
        // The waits ignored the server's hint: that is RL301, not a small budget.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":65,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":64,"error_type":"rate_limit_error"}"#,
        // Three of its five attempts were left: something else ended it.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":5,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":5,"status":529,"error_type":"overloaded_error"}"#,
        // It did not wait at all: that is RL304.
        r#"{"ts":"2026-05-20T10:00:00.00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.03Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
        // A used-up quota: no budget is enough.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_code":"insufficient_quota"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":429,"error_code":"insufficient_quota"}"#,
        // Not all failures were of that kind.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":500,"error_type":"api_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let exhausted = call.len() > 1 && call.outcome == Outcome::Failed && call.attempts().all(lacks_capacity);
    let small = call.len() as f64 <= settings.get(RULE.code, &ATTEMPTS);
    if !exhausted || !small || call.fell_back || stopped_short(call.last()) || another_tells(call, settings) {
        return None;
    }
    let waits: Option<Vec<f64>> = (1..call.len()).map(|p| call.wait_before(p).map(|wait| wait.s())).collect();
    let waited: f64 = waits?.iter().sum();
    let fair = settings.get(RULE.code, &WAITED);
    if waited >= fair {
        return None;
    }
    let retries = call.len() - 1;
    let next = sdk::retries_for(fair).max(retries);
    let next_wait = sdk::ladder_s(next);
    let what = shared::class_words(call.last().class);
    let mut hit = Hit::new(format!(
        "failed on {what} after {} attempts and {} of waiting in all; {next} retries on the official SDKs' ladder wait {}",
        call.len(),
        shared::seconds(waited),
        shared::seconds(next_wait),
    ))
    .on_call(call)
    .about(call.last().class)
    .count("attempts", call.len() as u64)
    .number("waited_s", waited)
    .count("next_retries", next as u64)
    .number("next_wait_s", next_wait);
    if call.attempts().any(|attempt| attempt.class == Some(Class::UnexplainedRateLimit)) {
        hit.confidence = Confidence::Low;
    }
    // Waits between attempts that were brought together by guess are a guess too. And as many retries as are
    // advised are no small budget: it is chance if full jitter makes all of them short.
    if call.grouping == Grouping::Inferred || retries >= sdk::retries_for(fair) {
        hit.severity = Some(Severity::Info);
    }
    Some(hit)
}

/// A failure that waiting longer may well have outlasted.
fn lacks_capacity(attempt: &Attempt) -> bool {
    let limited = matches!(attempt.class, Some(Class::RateLimited | Class::UnexplainedRateLimit));
    !attempt.terminal() && (limited || shared::is_capacity(attempt))
}

/// Whether something other than the cap ended the call.
fn stopped_short(last: &Attempt) -> bool {
    let cap_left = last.max_attempts > 0 && last.number > 0 && last.number < last.max_attempts;
    cap_left
        || last.flags.has(Flags::DECIDED_RETRY)
        || last.flags.has(Flags::DECIDED_OTHER)
        || last.flags.has(Flags::TOOL)
}

/// Whether the shape of the waits, not their number, is what was wrong.
fn another_tells(call: &Call<'_>, settings: &Settings) -> bool {
    let ill_timed = |position| {
        rl301::early(call, position, settings).is_some() || OwnWait::after(call, position).is_some_and(OwnWait::is_none)
    };
    call.retried().any(ill_timed)
        || rl206::gave_up(call, settings).is_some()
        || rl206::too_long(call, call.len() - 1, settings)
        || loops_of(call).is_some()
}
