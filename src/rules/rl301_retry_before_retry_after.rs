//! The wait requested by the server is a minimum, and the client retried before it was over.

use super::sdk;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::{Call, Wait};
use crate::model::{Confidence, HintSource, Remedy, Severity};
use smallvec::SmallVec;
use std::ops::RangeInclusive;

const SHARE: Setting = Setting {
    name: "tolerance_share",
    default: 0.02,
    unit: "",
    meaning: "share of the hint by which a wait may fall short",
};
const FIXED: Setting = Setting {
    name: "tolerance_ms",
    default: 50.0,
    unit: "ms",
    meaning: "time by which a wait may fall short, if that is more",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL301",
    name: "retry-before-retry-after",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call was retried before the wait that the server had asked for was over.",
    why: "The limit is still in force, so the attempt is refused with everything else the account sends in that \
          time, and the few attempts of the call are spent before any of them could succeed. A wait may fall short \
          by 2% or 50 ms; attempts of another model or account, and hints beside a spent quota or window, do not \
          count.",
    fix: "Take retry-after (or retry-after-ms) as the least wait, whatever its length, and put jitter on top of \
          it; where the wait is too long for the call, end the call instead of coming back early.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: earlier retries will fail; official SDKs, \
             _base_client.py: several versions discard a retry-after over 60 s",
    needs: &[Field::CallIdentity, Field::RetryAfter],
    settings: &[SHARE, FIXED],
    exceptions: &[
        &[
            "The second that a clock of whole seconds hides is tolerated; without ids such a log is not judged.",
            "An estimate, and the time until a limit is whole again, count only where the next attempt failed alike.",
            "A hint beside a spent quota or window is no promise; attempts on another model or account do not count.",
            "A bare number over four days may count milliseconds: it must be early in either unit.",
            "A hint of zero asks for no wait.",
            "Only an early retry that was refused again, or failed alike, counts as one that could not have helped.",
        ],
        &shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        // The hint is in the message of the error.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_message":"Rate limit reached on tokens per min (TPM). Please try again in 7.5s.","duration_ms":10}
{"ts":"2026-05-20T10:00:01.000Z","run_id":"r","call_id":"c","attempt":2,"status":429,"error_message":"Rate limit reached on tokens per min (TPM). Please try again in 6.5s.","duration_ms":10}"#,
        // Six days in words: no doubt about the unit.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"headers":{"retry-after":"144h0m0s"},"duration_ms":10}
{"ts":"2026-05-20T10:00:10.000Z","run_id":"r","call_id":"c","attempt":2,"status":429,"headers":{"retry-after":"143h59m50s"},"duration_ms":10}"#,
        // The limit that refused it had not fully recovered, and refused it again.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"headers":{"x-rate-limit-reset-tokens":"55"},"duration_ms":10}
{"ts":"2026-05-20T10:00:00.700Z","run_id":"r","call_id":"c","attempt":2,"status":429,"headers":{"x-rate-limit-reset-tokens":"54"},"duration_ms":10}"#,
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":90,"error_type":"rate_limit_error","duration_ms":10,"client":{"name":"Anthropic/Python","version":"0.50.0"}}
{"ts":"2026-05-20T10:00:00.470Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":89,"error_type":"rate_limit_error","duration_ms":10,"client":{"name":"Anthropic/Python","version":"0.50.0"}}"#,
        r#"{"timestamp":"2026-05-20T10:00:00.000Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"headers":{"Retry-After-Ms":"1500"},"error":{"type":"rate_limit_error"},"latency_ms":100}
{"timestamp":"2026-05-20T10:00:01.100Z","session_id":"s","turn_id":"t","try":2,"status_code":200,"latency_ms":100}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":503,"headers":{"retry-after":"20"}}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
    near_misses: &[
        // 345,601 may count milliseconds, and then 346 s are long enough.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":345601,"error_type":"rate_limit_error","duration_ms":10}
{"ts":"2026-05-20T10:05:46Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":10}"#,
        // Just within the tolerance of 2%.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":10,"error_type":"rate_limit_error","duration_ms":0}
{"ts":"2026-05-20T10:00:09.800Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":10}"#,
        // A little after the hint, which is right.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":30,"error_type":"rate_limit_error","duration_ms":10}
{"ts":"2026-05-20T10:00:30.015Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":10}"#,
        // Zero means at once.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:00.400Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // A hint with an exhausted quota is no promise: that is RL107.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":60,"error_code":"insufficient_quota"}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":55,"error_code":"insufficient_quota"}"#,
        // The limit of one model does not apply to another.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"model":"a","status":429,"retry_after":60,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"model":"b","status":200}"#,
        // A limit that recovers fully in 40 s may let a request in sooner, and did.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"headers":{"x-ratelimit-remaining-requests":"0","x-ratelimit-reset-requests":"40s"},"duration_ms":10}
{"ts":"2026-05-20T10:00:04.000Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":10}"#,
        // The log has the wait that the client planned.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_message":"Rate limit reached, will retry in 30 seconds","duration_ms":10}
{"ts":"2026-05-20T10:00:04.000Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":10}"#,
        // Two seconds may appear as one by a clock of whole seconds.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":2,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
};

/// A hint without a unit beyond this, in µs, may be meant in milliseconds: four days, which as milliseconds are 345.6
/// s.
const MAX_SECONDS_HINT_US: i64 = 4 * 86_400 * 1_000_000;

/// Longest wait that a timer with 32 bits of milliseconds can hold, in µs.
const MAX_TIMER_US: i64 = i32::MAX as i64 * 1000;

/// A retry that came too early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Early {
    position: usize,
    wait: Wait,
    hint_us: i64,
    source: HintSource,
    /// Whether the hint may be meant in milliseconds instead of seconds.
    unit_in_doubt: bool,
}

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let all: SmallVec<[Early; 4]> = call.retried().filter_map(|p| early(call, p, settings)).collect();
    let worst = *all.iter().min_by_key(|early| (early.wait.us, early.position))?;
    let mut message =
        format!("retried after {} although the server asked for {}", worst.wait.words(), hint_words(worst));
    if all.len() > 1 {
        message.push_str(&format!("; {} retries of this call came early", all.len()));
    }
    let mut hit = Hit::new(message)
        .about(call.at(worst.position).class)
        .number("wait_s", worst.wait.s())
        .number("retry_after_s", worst.hint_us as f64 / 1e6)
        .text("hint_source", worst.source.name())
        .count("early_sends", all.len() as u64);
    for early in &all {
        add_early_retry(&mut hit, call, *early);
    }
    if !worst.source.is_explicit() {
        hit.severity = Some(Severity::Warning);
    }
    if worst.unit_in_doubt || !worst.source.is_explicit() {
        hit.confidence = Confidence::Medium;
    }
    if let Some((cause, fix)) = cause(call, worst) {
        hit.message = format!("{}; {cause}", hit.message);
        hit.evidence.push(("cause", crate::model::Evidence::Text(cause)));
        hit.fix = Some(fix.into());
    }
    Some(hit)
}

fn add_early_retry(hit: &mut Hit, call: &Call<'_>, early: Early) {
    for position in [early.position, early.position + 1] {
        let row = call.rows()[position];
        if hit.rows.last() != Some(&row) {
            hit.rows.push(row);
        }
    }
    // An early retry that is refused again, or fails with the same class, could not have helped, so it is wasted. One
    // that was accepted, or failed for another reason, is not.
    let (before, next) = (call.at(early.position), call.at(early.position + 1));
    if next.refused() || (next.failed() && next.class == before.class) {
        hit.wasted.push(call.rows()[early.position + 1]);
        hit.wait_s += early.wait.s();
    }
}

/// Returns the retry of the attempt at `position`, if it was earlier than the server allowed.
pub(super) fn early(call: &Call<'_>, position: usize, settings: &Settings) -> Option<Early> {
    let detail = call.detail(position)?;
    let hint_us = detail.hint_us.filter(|&hint| hint > 0)?;
    let source = detail.hint_source;
    // A token bucket lets requests in before it is full again, and a model may load faster than estimated, so only a
    // retry that was refused again was too early.
    if !source.is_explicit() && call.at(position + 1).class != call.at(position).class {
        return None;
    }
    // A wait stated along with an exhausted window or quota does not mean that waiting helps.
    if call.at(position).terminal() || !shared::same_scope(call, position, position + 1) {
        return None;
    }
    let clock_step = shared::clock_step_us(call);
    // With a clock of whole seconds and no id, nothing distinguishes a retry from another request.
    if clock_step > 0 && !shared::shows_retry(call, position) {
        return None;
    }
    let wait = call.wait_before(position + 1)?;
    // If the unit is in doubt, a retry is early only if it is early in both units.
    let unit_in_doubt = hint_us > MAX_SECONDS_HINT_US && !detail.hint_unit_known;
    let min_wait_us = if unit_in_doubt { hint_us / 1000 } else { hint_us };
    let tolerance = tolerance_us(min_wait_us, settings) + clock_step;
    (wait.us < min_wait_us - tolerance).then_some(Early { position, wait, hint_us, source, unit_in_doubt })
}

/// Returns by how much a wait may be shorter than a hint; both in µs.
pub(super) fn tolerance_us(hint: i64, settings: &Settings) -> i64 {
    let (share, fixed_us) = tolerance(settings);
    shared::scaled(hint, share).max(fixed_us)
}

/// Returns the tolerance as a share of the hint and in µs; the larger one applies.
pub(super) fn tolerance(settings: &Settings) -> (f64, i64) {
    (settings.get(RULE.code, &SHARE), shared::micros(settings.get(RULE.code, &FIXED) / 1e3))
}

fn hint_words(early: Early) -> String {
    let asked = early.hint_us as f64 / 1e6;
    if early.unit_in_doubt {
        let (long, short) = (shared::seconds(asked), shared::seconds(asked / 1e3));
        format!("a wait of {asked:.0}, which is {long} if it counts seconds and {short} if it counts milliseconds")
    } else {
        let source_words = match early.source {
            HintSource::Body => " (in the body of the error)",
            HintSource::Message => " (in the words of the error)",
            HintSource::Estimate => " (by its own estimate)",
            HintSource::Reset => " (until the spent limit is whole again)",
            _ => "",
        };
        format!("{}{source_words}", shared::seconds(asked))
    }
}

/// Returns what the figures suggest as the cause, and the fix for it.
fn cause(call: &Call<'_>, early: Early) -> Option<(String, &'static str)> {
    let wait_us = early.wait.us;
    if early.hint_us > MAX_TIMER_US && wait_us < 1_000_000 {
        return Some((
            "a timer of 32 bits cannot hold that many milliseconds and fires at once".to_owned(),
            "Cap the wait before it reaches the timer (2147483647 ms at most), and end the call where the server \
             asks for more than it can wait.",
        ));
    }
    if early.hint_us > MINUTE_US && CAPPED_TO_MINUTE_US.contains(&wait_us) {
        // A wait of a minute that ended a little early was not capped.
        return Some(("the wait looks cut to a cap of 60 s".to_owned(), CAPPED_FIX));
    }
    if sent_by_outer_loop(call, early.position) {
        return Some((
            "no SDK retried it, as its counter of 0 shows: the loop around it did not read the hint".to_owned(),
            "Have the loop that catches the error read retry-after from the response in it, and wait at least that \
             long; or set its retries to 0 and leave them to the SDK.",
        ));
    }
    let is_sdk_backoff = SDK_BACKOFF_US.contains(&wait_us);
    if early.hint_us >= MINUTE_US && is_sdk_backoff {
        return discarded_hint(call, early);
    }
    let planned = call.detail(early.position)?.planned_us.filter(|&planned| planned > 0 && planned < early.hint_us)?;
    Some((
        format!(
            "the client had planned to wait {}: a cap or schedule of its own",
            shared::seconds(planned as f64 / 1e6)
        ),
        CAPPED_FIX,
    ))
}

/// Fix for a client that limits the server's hint to a cap of its own.
const CAPPED_FIX: &str = "Let the cap apply to the client's own backoff only, not to the server's hint: obey the \
                          hint in full, or end the call.";
/// Waits that may have been capped to a minute, with some jitter, in µs. They affect only the wording of the cause, not
/// whether there is a finding.
const CAPPED_TO_MINUTE_US: RangeInclusive<i64> = 58_000_000..=66_000_000;
/// Waits of the official SDKs' own backoff, in µs: 75% of half a second to 8 s, plus timer delay.
const SDK_BACKOFF_US: RangeInclusive<i64> = 300_000..=8_500_000;

/// Returns whether the attempt after `position` was sent by a loop around the SDK: the SDK's own counter is 0 again.
fn sent_by_outer_loop(call: &Call<'_>, position: usize) -> bool {
    call.at(position).sdk_count().is_some() && call.at(position + 1).sdk_count() == Some(0)
}

/// Hint from which, or above which, some client versions discard it, in µs.
const MINUTE_US: i64 = 60_000_000;

/// Returns the cause for a hint of a minute or more and a wait typical of the SDKs' own backoff: some versions discard
/// long hints.
fn discarded_hint(call: &Call<'_>, early: Early) -> Option<(String, &'static str)> {
    let origin = call.origin(early.position);
    let names = &call.table().names;
    let (client, version) = sdk::of(origin, names);
    let cause = match sdk::long_hint(client, version) {
        Some(long) => {
            let bound = long.discards(early.hint_us)?;
            format!("{client} {version} discards a hint {bound} and falls back to its own 0.5 to 8 s")
        }
        None if early.hint_us == MINUTE_US => return None,
        None => "the wait fits clients that discard a hint over 60 s and fall back to their own 0.5 to 8 s".to_owned(),
    };
    Some((
        cause,
        "Upgrade to a version of the client that obeys long hints, or switch its retries off and wait as long as \
         retry-after says in a layer of your own.",
    ))
}
