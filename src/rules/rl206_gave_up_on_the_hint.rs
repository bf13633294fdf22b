//! The server said when to retry, and the client gave up.

use super::sdk::{self, LongHint};
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::Call;
use crate::model::{Confidence, Flags, Outcome, Remedy, Severity};

const CAP: Setting =
    Setting { name: "cap_s", default: 60.0, unit: "s", meaning: "the longest single wait clients commonly allow" };
const BUFFER: Setting =
    Setting { name: "buffer_s", default: 1.0, unit: "s", meaning: "what clients commonly add to a hint" };
const MAX_HINT: Setting = Setting {
    name: "worth_s",
    default: 300.0,
    unit: "s",
    meaning: "a hint beyond this is a reason to end the call so that it can resume later",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL206",
    name: "gave-up-on-the-hint",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "The server named a wait that the client's own cap does not allow, or could not read, and the call gave up.",
    why: "A cap of 60 s meets a hint of 60 s plus a buffer of 1 s, and the call fails for one second; a hint \
          that cannot be read is no reason to fail either.",
    fix: "Let the cap for a server's hint be well above 60 s (a per-minute limit asks for up to 60 s plus the \
          buffer), and fall back to ordinary backoff where the hint cannot be read.",
    remedy: Remedy::Fix,
    source: "Official SDKs, _base_client.py: hints were honoured up to 60 s, later versions up to 120 s or any \
             length; RFC 9110, section 10.2.3, Retry-After: seconds without sign, or a date",
    needs: &[Field::CallIdentity, Field::RetryAfter],
    settings: &[CAP, BUFFER, MAX_HINT],
    exceptions: &[&[
        "A call whose declared attempts are spent ended for that reason.",
        "A call that followed such a hint earlier can follow it.",
        "Hints beyond the length that is worth waiting for rightly end a call.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":5,"status":429,"retry_after":60,"error_type":"rate_limit_error","decision":"fail"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"headers":{"Retry-After":"-1"},"error":{"type":"rate_limit_error","message":"slow down"},"exception":"ValueError: sleep length must be non-negative","decision":"fail"}"#,
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":5,"status":429,"retry_after":2,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:02.4Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":5,"status":429,"retry_after":90,"error_type":"rate_limit_error"}"#,
    ],
    near_misses: &[
        // No attempts are left: the attempt cap ended the call, not the hint.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":3,"max_attempts":3,"status":429,"retry_after":60,"error_type":"rate_limit_error","decision":"fail"}"#,
        // A short hint is within any cap: giving up on it is RL201.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":5,"status":429,"retry_after":5,"error_type":"rate_limit_error","decision":"fail"}"#,
        // The client obeyed such a hint before, so the hint is not what made it stop.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":70,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:01:11Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":70,"error_type":"rate_limit_error"}"#,
        // Two hours: ending the call so that it can resume is right.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":7200,"error_type":"rate_limit_error","decision":"fail"}"#,
    ],
};

/// Reason why a client could not follow a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The hint in µs, which exceeds a common cap.
    Long(i64),
    /// The hint is neither a number of seconds nor a date.
    Unreadable,
}

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let obstacle = gave_up(call, settings)?;
    let last = call.last();
    let what = shared::class_words(last.class);
    let buffer = settings.get(RULE.code, &BUFFER);
    let cap = settings.get(RULE.code, &CAP);
    let hit = match obstacle {
        Obstacle::Long(hint) => {
            let asked = hint as f64 / 1e6;
            Hit::new(format!(
                "gave up on {what} when the server asked for {}: with {} on top that passes the {} many clients allow one wait",
                shared::seconds(asked),
                shared::seconds(buffer),
                shared::seconds(cap),
            ))
            .number("retry_after_s", asked)
            .number("cap_s", cap)
        }
        Obstacle::Unreadable => Hit::new(format!("gave up on {what} whose retry-after cannot be read as a wait")),
    };
    let mut hit = hit.on(call, call.len() - 1).about(last.class).count("attempts", call.len() as u64);
    match (obstacle, known_client_behaviour(call)) {
        (Obstacle::Long(hint), Some(LongHint::Refused(over))) if hint > i64::from(over) * 1_000_000 => {
            hit.message.push_str(&format!("; this version of the client ends a call over {over} s"));
        }
        // Such a client would still be waiting: what ended the call is not in the log.
        (Obstacle::Long(_), Some(LongHint::Obeyed)) => hit.confidence = Confidence::Low,
        _ => {}
    }
    if let Some(planned) = call.detail(call.len() - 1).and_then(|detail| detail.planned_us) {
        hit = hit.number("planned_wait_s", planned as f64 / 1e6);
    }
    Some(hit)
}

/// Returns what the client of the last attempt does with long hints, if known.
fn known_client_behaviour(call: &Call<'_>) -> Option<LongHint> {
    let (origin, names) = (call.origin(call.len() - 1), &call.table().names);
    let (client, version) = sdk::of(origin, names);
    sdk::long_hint(client, version)
}

/// Returns what kept the client from following the server's last hint, if that is why the call ended.
pub(super) fn gave_up(call: &Call<'_>, settings: &Settings) -> Option<Obstacle> {
    let last = call.last();
    let is_last_allowed = last.max_attempts > 0 && last.number >= last.max_attempts;
    let ended = call.outcome == Outcome::Failed && last.failed() && !last.terminal() && !is_last_allowed;
    let continues = last.flags.has(Flags::DECIDED_RETRY) || last.flags.has(Flags::TOOL);
    let position = call.len() - 1;
    if !ended || continues || (0..position).any(|earlier| obstacle(call, earlier, settings).is_some()) {
        return None;
    }
    obstacle(call, position, settings)
}

/// Returns whether the hint at `position` is so long that the call should end and be resumed later.
pub(super) fn too_long(call: &Call<'_>, position: usize, settings: &Settings) -> bool {
    call.hint_us(position).is_some_and(|hint| hint > resume_later_us(settings))
}

/// Returns the longest hint that a call should wait for, in µs.
pub(super) fn resume_later_us(settings: &Settings) -> i64 {
    shared::micros(settings.get(RULE.code, &MAX_HINT))
}

/// Returns the longest single wait that clients commonly allow, in µs.
pub(super) fn cap_us(settings: &Settings) -> i64 {
    shared::micros(settings.get(RULE.code, &CAP))
}

fn obstacle(call: &Call<'_>, position: usize, settings: &Settings) -> Option<Obstacle> {
    if call.at(position).flags.has(Flags::BAD_HINT) && call.hint_us(position).is_none() {
        return Some(Obstacle::Unreadable);
    }
    let hint = call.explicit_hint_us(position).filter(|&hint| hint > 0)?;
    let [cap, buffer] = [&CAP, &BUFFER].map(|setting| shared::micros(settings.get(RULE.code, setting)));
    let long = hint + buffer > cap || call.detail(position)?.planned_us.is_some_and(|planned| planned > cap);
    (long && !too_long(call, position, settings)).then_some(Obstacle::Long(hint))
}
