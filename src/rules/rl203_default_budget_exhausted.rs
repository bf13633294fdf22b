//! A call retried correctly, but too few times.

use super::rl206_gave_up_on_the_hint as rl206;
use super::rl301_retry_before_retry_after as rl301;
use super::rl304_immediate_retry as rl304;
use super::sdk::{self, DefaultBackoff, OFFICIAL_SDKS};
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::{Call, Grouping, Wait};
use crate::classify::Class;
use crate::measure::{ImmediateRetries, loops_of};
use crate::model::{Attempt, Confidence, Flags, Outcome, Remedy, Severity};
use std::borrow::Cow;

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

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL203",
    name: "default-budget-exhausted",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call spent all its attempts on overloads or rate limits within seconds, and failed.",
    why: "The waits had the right shape, but together they were shorter than an ordinary dip in capacity: the \
          number of attempts, often a default of two retries, decided the outcome. Nothing is said where the caller \
          has declared a cap of its own, in the policy or as a max_attempts that is not the client's default, nor \
          where the waits themselves were wrong: before their time (RL301), or none at all beyond what chance explains \
          (RL304).",
    fix: "Raise the cap, or better set a budget in seconds: five retries on the usual ladder cover 15 s, nine \
          about 48 s; an unattended job can afford minutes.",
    remedy: Remedy::Fix,
    source: "Official SDKs, _constants.py: two retries, 0.5 s doubling to 8 s, so about 1.5 s in all; AWS \
             Builders' Library, Timeouts, retries and backoff with jitter",
    needs: &[Field::CallIdentity],
    settings: &[WAITED, ATTEMPTS],
    exceptions: &[
        &[
            "Every attempt must have met a rate limit or a lack of capacity.",
            "A cap in the policy, or a logged one that is not the client's default, is the caller's choice.",
            "A call with attempts left, or with a decision to retry or to go elsewhere, was ended by something else.",
            "A run that asks another model within seconds of the failure has fallen back; tools are not judged.",
            "Waits that came early (RL301), immediate retries (RL304), hints a cap does not allow (RL206) and two loops \
             (RL401) are those rules'.",
            "As many retries as are advised, attempts grouped by likeness, and 429s that nothing explains make it info.",
        ],
        &shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.480Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:01.390Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
        r#"{"time":1779271200.10,"run":"r","call":"c","attempt":1,"max_retries":2,"status":429,"headers":{"retry-after":"1"},"error":{"type":"rate_limit_error"},"elapsed_s":0.1}
{"time":1779271201.30,"run":"r","call":"c","attempt":2,"max_retries":2,"status":429,"headers":{"retry-after":"1"},"error":{"type":"rate_limit_error"},"elapsed_s":0.1}
{"time":1779271202.50,"run":"r","call":"c","attempt":3,"max_retries":2,"status":429,"headers":{"retry-after":"1"},"error":{"type":"rate_limit_error"},"elapsed_s":0.1}"#,
        // Jitter may have caused a single wait of 10 ms: that is an info of RL304, and this stays a warning.
        r#"{"ts":"2026-05-20T10:00:00.00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.03Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
        // As many retries as recommended, all of them short by chance: an info.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.3Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.8Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:01.9Z","run_id":"r","call_id":"c","attempt":4,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:03.6Z","run_id":"r","call_id":"c","attempt":5,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:06.5Z","run_id":"r","call_id":"c","attempt":6,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
    ],
    near_misses: &[
        // Six attempts and 15 s of waiting are a fair budget: the outage was longer than that.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01.5Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:03.5Z","run_id":"r","call_id":"c","attempt":4,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:07.5Z","run_id":"r","call_id":"c","attempt":5,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:15.5Z","run_id":"r","call_id":"c","attempt":6,"status":529,"error_type":"overloaded_error"}"#,
        // The waits ignored the server's hint: that is RL301, not a small budget.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":65,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":64,"error_type":"rate_limit_error"}"#,
        // Three of its five attempts were left, so something else ended it.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":5,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":5,"status":529,"error_type":"overloaded_error"}"#,
        // It repeatedly did not wait at all: that is RL304.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.023Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.046Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.069Z","run_id":"r","call_id":"c","attempt":4,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
        // The caller wants exactly one retry.
        r#"{"ts":"2026-05-20T10:00:00.00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.48Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
        // The policy allows three attempts.
        r#"[policy]
max_attempts = 3
---
{"ts":"2026-05-20T10:00:00.00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:00.48Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":20}
{"ts":"2026-05-20T10:00:01.39Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":20}"#,
        // An exhausted quota: no budget is enough.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_code":"insufficient_quota"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":429,"error_code":"insufficient_quota"}"#,
        // Not all failures were for lack of capacity.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":500,"error_type":"api_error"}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let exhausted = call.len() > 1 && call.outcome == Outcome::Failed && call.attempts().all(lacks_capacity);
    if !exhausted {
        return None;
    }
    let small = call.len() as f64 <= settings.get(RULE.code, &ATTEMPTS);
    let is_intended = call.fell_back || ended_before_cap(call.last()) || declared(call, settings);
    if !small || is_intended || reported_by_another_rule(call, settings) {
        return None;
    }
    let min_waited_s = settings.get(RULE.code, &WAITED);
    let waited = (1..call.len()).try_fold(Wait::NONE, |sum, p| Some(sum.and(call.wait_before(p)?)))?;
    if waited.us >= shared::micros(min_waited_s) {
        return None;
    }
    let what = shared::class_words(call.last().class);
    let default_backoff = default_backoff(call);
    let mut hit = Hit::new(format!(
        "failed on {what} after {} attempts and {} of waiting in all; {}",
        call.len(),
        waited.words(),
        retries_needed(call, default_backoff, min_waited_s),
    ))
    .on_call(call)
    .about(call.last().class)
    .count("attempts", call.len() as u64)
    .number("waited_s", waited.s());
    if let Some(default_backoff) = default_backoff {
        let next = default_backoff.retries_for(min_waited_s).max(call.len() - 1);
        hit = hit.count("next_retries", next as u64).number("next_wait_s", default_backoff.waits_s(next));
    }
    hit.fix = fix(default_backoff);
    let is_unexplained = |attempt: &Attempt| attempt.class == Some(Class::UnexplainedRateLimit);
    if call.attempts().any(is_unexplained) {
        hit.confidence = Confidence::Low;
    }
    // If the attempts were grouped by inference, the waits between them are uncertain. If there are as many retries as
    // recommended, the budget is not too small, and full jitter made all waits short by chance.
    let advised = default_backoff.unwrap_or(OFFICIAL_SDKS).retries_for(min_waited_s);
    // A 429 without explanation may mean an empty account, which no budget outlasts.
    let all_unexplained = call.attempts().all(is_unexplained);
    if call.grouping == Grouping::Inferred || call.len() > advised || all_unexplained {
        hit.severity = Some(Severity::Info);
    }
    Some(hit)
}

/// Returns the default backoff of the client library, if known.
fn default_backoff(call: &Call<'_>) -> Option<DefaultBackoff> {
    sdk::default_backoff(call.table().names.text(call.origin(call.len() - 1).client))
}

/// Describes how long more retries would wait.
fn retries_needed(call: &Call<'_>, default_backoff: Option<DefaultBackoff>, min_waited_s: f64) -> String {
    let Some(default_backoff) = default_backoff else {
        return format!("a fair budget waits {} at least", shared::seconds(min_waited_s));
    };
    let next = default_backoff.retries_for(min_waited_s).max(call.len() - 1);
    format!("{next} retries of {} wait {}", default_backoff.client_name, shared::seconds(default_backoff.waits_s(next)))
}

/// Returns a fix for clients other than the official SDKs, which the rule's own fix is for.
fn fix(default_backoff: Option<DefaultBackoff>) -> Option<Cow<'static, str>> {
    let job = "an unattended job can afford minutes";
    match default_backoff {
        Some(OFFICIAL_SDKS) => None,
        Some(default_backoff) => {
            let [few, more] = [4, 5].map(|retries| shared::seconds(default_backoff.waits_s(retries)));
            let (option, client_name) = (default_backoff.option, default_backoff.client_name);
            Some(format!("Raise {option}: four retries of {client_name} wait {few}, five {more}; {job}.").into())
        }
        None => Some(
            format!(
                "Raise the cap, or better set a budget in seconds, longer than an ordinary dip in capacity; {job}."
            )
            .into(),
        ),
    }
}

/// Returns whether the caller chose the number of attempts: the policy declares it, or the log has a cap that is not
/// the client's default.
fn declared(call: &Call<'_>, settings: &Settings) -> bool {
    let last = call.len() - 1;
    let default = default_backoff(call).unwrap_or(OFFICIAL_SDKS).attempts;
    let cap = call.last().max_attempts;
    let by_policy = settings.layer_policy(call, last).is_some_and(|policy| policy.max_attempts.is_some());
    by_policy || (cap > 0 && cap != default)
}

/// Returns whether the failure might have ended if the client had waited longer.
fn lacks_capacity(attempt: &Attempt) -> bool {
    !attempt.terminal() && attempt.refused()
}

/// Returns whether something other than the cap ended the call.
fn ended_before_cap(last: &Attempt) -> bool {
    let cap_left = last.max_attempts > 0 && last.number > 0 && last.number < last.max_attempts;
    cap_left
        || last.flags.has(Flags::DECIDED_RETRY)
        || last.flags.has(Flags::DECIDED_OTHER)
        || last.flags.has(Flags::TOOL)
}

/// Returns whether another rule reports the call, because the lengths of the waits were wrong rather than their number.
fn reported_by_another_rule(call: &Call<'_>, settings: &Settings) -> bool {
    let immediate_retries = ImmediateRetries::of(call, &super::short_window::call_terms(settings));
    let immediate = rl304::excludes_jitter(&immediate_retries.inner, settings)
        || rl304::excludes_jitter(&immediate_retries.outer, settings);
    immediate
        || call.retried().any(|position| rl301::early(call, position, settings).is_some())
        || rl206::gave_up(call, settings).is_some()
        || rl206::too_long(call, call.len() - 1, settings)
        || loops_of(call).is_some()
}
