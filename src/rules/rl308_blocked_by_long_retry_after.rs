//! A call obeyed a hint of minutes and was blocked all that time.

use super::rl315_over_wait as rl315;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::{Call, Wait};
use crate::model::{Remedy, Severity};

const LONG: Setting = Setting {
    name: "long_s",
    default: 300.0,
    unit: "s",
    meaning: "a hint longer than this is a reason to end the call so that it can resume",
};

const SHORT: Setting = Setting {
    name: "short_share",
    default: 0.1,
    unit: "",
    meaning: "share of the hint by which a wait may fall short and still have followed it",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL308",
    name: "blocked-by-long-retry-after",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call slept through a wait of more than five minutes that the server had asked for.",
    why: "Coming back earlier would be wrong, but a sleeping call holds its worker, its memory and its place in the \
          queue, and everything is lost if the process ends before the wait does. A wait counts that is no more than a tenth \
          shorter than the hint; one of more than three times the hint is RL315.",
    fix: "Over a limit of your own (some minutes) end the call with the time at which it may resume, free the \
          worker, and put the job back into the queue for then.",
    remedy: Remedy::Fix,
    source: "RFC 9110, section 10.2.3, Retry-After; AWS Builders' Library, Timeouts, retries and backoff with \
             jitter: waiting clients hold resources",
    needs: &[Field::CallIdentity, Field::RetryAfter],
    settings: &[LONG, SHORT],
    exceptions: &[
        &[
            "A wait a tenth shorter than the hint still followed it; a shorter one is RL301.",
            "A wait that passes the factor of RL315 is that rule's.",
        ],
        &shared::CLOCK,
        &shared::SHOWN,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1200,"error_type":"rate_limit_error","duration_ms":20}
{"ts":"2026-05-20T10:20:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":503,"headers":{"Retry-After":"600"}}
{"timestamp":"2026-05-20T10:10:05Z","session_id":"s","turn_id":"t","try":2,"status_code":503,"headers":{"Retry-After":"600"}}"#,
        // Twice as long as requested, and still blocked.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":400,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:13:20Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
    ],
    near_misses: &[
        // More than a tenth shorter than the hint: that is RL301.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":400,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:05:30Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // Four times as long as requested: that is RL315.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":400,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:27:00Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // A minute and a half is worth waiting for.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":90,"error_type":"rate_limit_error","duration_ms":20}
{"ts":"2026-05-20T10:01:31Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // The call was ended, to be resumed.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1200,"error_type":"rate_limit_error","decision":"fail"}"#,
        // It did not wait: that is RL301.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1200,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let long_wait = call.retried().filter_map(|p| Some((p, long_wait(call, p, settings)?)));
    let (position, (wait, hint)) = long_wait.max_by(|a, b| a.1.0.us.cmp(&b.1.0.us).then(b.0.cmp(&a.0)))?;
    let hint = hint as f64 / 1e6;
    Some(
        Hit::new(format!(
            "one wait held the call for {}; the server had asked for {}",
            wait.words(),
            shared::seconds(hint),
        ))
        .on(call, position)
        .on(call, position + 1)
        .about(call.at(position).class)
        .number("wait_s", wait.s())
        .number("retry_after_s", hint),
    )
}

/// Returns the wait after the attempt at `position` and the hint in µs that it followed, if both are long.
pub(super) fn long_wait(call: &Call<'_>, position: usize, settings: &Settings) -> Option<(Wait, i64)> {
    let long = shared::micros(settings.get(RULE.code, &LONG));
    let hint = call.hint_us(position)?;
    let wait = call.wait_before(position + 1)?;
    // A client that retried early did not wait as requested; much longer waits are for RL315.
    let followed_hint = wait.us >= hint - shared::scaled(hint, settings.get(RULE.code, &SHORT))
        && wait.us <= rl315::max_wait_us(hint, settings);
    (hint > long && followed_hint && shared::shows_retry(call, position)).then_some((wait, hint))
}
