//! A call waited as long as the server asked, repeatedly and without success.

use super::rl301_retry_before_retry_after as rl301;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::{Call, Wait};
use crate::model::{Remedy, Severity};
use smallvec::SmallVec;

const WAITS: Setting = Setting { name: "waits", default: 5.0, unit: "", meaning: "obedient waits without success" };
const CHANGE: Setting = Setting {
    name: "change_share",
    default: 0.05,
    unit: "",
    meaning: "share by which hints may differ and still count as the same",
};

const LATE_SHARE: Setting = Setting {
    name: "late_share",
    default: 0.5,
    unit: "",
    meaning: "share of the hint by which a wait may pass it and still have followed it",
};
const LATE: Setting =
    Setting { name: "late_s", default: 2.0, unit: "s", meaning: "time by which it may pass it on top of that" };

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL312",
    name: "obedient-without-progress",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "The call waited as long as the server asked, again and again, for a hint that never changed and never helped.",
    why: "A hint that counts down shortens; one that stays the same is made up, often by a proxy that cuts it \
          to a minute while the real window is hours. Obeying it can go on for ever. Hints may differ by 5%; a wait \
          obeys one from 2% or 50 ms before it to half of it and 2 s after it, and only those are counted.",
    fix: "Give the call a budget in seconds besides the hint, end it resumable when the hint does not shorten, \
          and look at the limit behind the hop that writes it.",
    remedy: Remedy::Fix,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls: a budget for the whole \
             call; RFC 9110, section 10.2.3, Retry-After",
    needs: &[Field::CallIdentity, Field::RetryAfter],
    settings: &[WAITS, CHANGE, LATE_SHARE, LATE],
    exceptions: &[
        &[
            "A success, or a failure that is final, ends the matter.",
            "Hints that change by more than the share count down or grow: they may be true.",
            "A wait that falls short by less than RL301 tolerates, and passes the hint by less than the thresholds, followed it.",
        ],
        &shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"headers":{"retry-after":"59"}}
{"ts":"2026-05-20T10:00:59.2Z","run_id":"r","call_id":"c","attempt":2,"status":429,"headers":{"retry-after":"59"}}
{"ts":"2026-05-20T10:01:58.4Z","run_id":"r","call_id":"c","attempt":3,"status":429,"headers":{"retry-after":"59"}}
{"ts":"2026-05-20T10:02:57.6Z","run_id":"r","call_id":"c","attempt":4,"status":429,"headers":{"retry-after":"59"}}
{"ts":"2026-05-20T10:03:56.8Z","run_id":"r","call_id":"c","attempt":5,"status":429,"headers":{"retry-after":"59"}}
{"ts":"2026-05-20T10:04:56.0Z","run_id":"r","call_id":"c","attempt":6,"status":429,"headers":{"retry-after":"59"}}"#,
        r#"{"time":1779271200.0,"run":"r","call":"c","attempt":1,"status":503,"retry_after":10}
{"time":1779271210.5,"run":"r","call":"c","attempt":2,"status":503,"retry_after":10}
{"time":1779271221.1,"run":"r","call":"c","attempt":3,"status":503,"retry_after":10}
{"time":1779271231.4,"run":"r","call":"c","attempt":4,"status":503,"retry_after":10}
{"time":1779271242.0,"run":"r","call":"c","attempt":5,"status":503,"retry_after":10}
{"time":1779271252.7,"run":"r","call":"c","attempt":6,"status":503,"retry_after":10}"#,
    ],
    near_misses: &[
        // Each wait lasts twice as long as the hint.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":10,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:20Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":10,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:40Z","run_id":"r","call_id":"c","attempt":3,"status":429,"retry_after":10,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:01:00Z","run_id":"r","call_id":"c","attempt":4,"status":429,"retry_after":10,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:01:20Z","run_id":"r","call_id":"c","attempt":5,"status":429,"retry_after":10,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:01:40Z","run_id":"r","call_id":"c","attempt":6,"status":429,"retry_after":10,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:02:00Z","run_id":"r","call_id":"c","attempt":7,"status":429,"retry_after":10,"duration_ms":0,"error_type":"rate_limit_error"}"#,
        // Each wait ends a tenth too early: that is RL301.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":30,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:27Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":30,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:00:54Z","run_id":"r","call_id":"c","attempt":3,"status":429,"retry_after":30,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:01:21Z","run_id":"r","call_id":"c","attempt":4,"status":429,"retry_after":30,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:01:48Z","run_id":"r","call_id":"c","attempt":5,"status":429,"retry_after":30,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:02:15Z","run_id":"r","call_id":"c","attempt":6,"status":429,"retry_after":30,"duration_ms":0,"error_type":"rate_limit_error"}
{"ts":"2026-05-20T10:02:42Z","run_id":"r","call_id":"c","attempt":7,"status":429,"retry_after":30,"duration_ms":0,"error_type":"rate_limit_error"}"#,
        // The hint counts down, so the window is real.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":20}
{"ts":"2026-05-20T10:00:20.2Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":16}
{"ts":"2026-05-20T10:00:36.4Z","run_id":"r","call_id":"c","attempt":3,"status":429,"retry_after":12}
{"ts":"2026-05-20T10:00:48.6Z","run_id":"r","call_id":"c","attempt":4,"status":429,"retry_after":8}
{"ts":"2026-05-20T10:00:56.8Z","run_id":"r","call_id":"c","attempt":5,"status":429,"retry_after":4}
{"ts":"2026-05-20T10:01:01.0Z","run_id":"r","call_id":"c","attempt":6,"status":429,"retry_after":2}"#,
        // Waiting helped in the end.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":5}
{"ts":"2026-05-20T10:00:05.2Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":5}
{"ts":"2026-05-20T10:00:10.4Z","run_id":"r","call_id":"c","attempt":3,"status":429,"retry_after":5}
{"ts":"2026-05-20T10:00:15.6Z","run_id":"r","call_id":"c","attempt":4,"status":429,"retry_after":5}
{"ts":"2026-05-20T10:00:20.8Z","run_id":"r","call_id":"c","attempt":5,"status":429,"retry_after":5}
{"ts":"2026-05-20T10:00:26.0Z","run_id":"r","call_id":"c","attempt":6,"status":200}"#,
        // Two waits are too few to tell.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":59}
{"ts":"2026-05-20T10:00:59.2Z","run_id":"r","call_id":"c","attempt":2,"status":429,"retry_after":59}
{"ts":"2026-05-20T10:01:58.4Z","run_id":"r","call_id":"c","attempt":3,"status":429,"retry_after":59}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let min_waits = settings.get(RULE.code, &WAITS);
    if (call.len() as f64) <= min_waits || call.attempts().any(|attempt| !attempt.failed() || attempt.terminal()) {
        return None;
    }
    let hints: SmallVec<[i64; 8]> = (0..call.len()).filter_map(|p| call.hint_us(p)).collect();
    let (&shortest, &longest) = (hints.iter().min()?, hints.iter().max()?);
    let change = settings.get(RULE.code, &CHANGE);
    let same = shortest > 0 && longest - shortest <= shared::scaled(shortest, change);
    let waits_as_asked: SmallVec<[Wait; 8]> =
        call.retried().filter_map(|position| wait_as_asked(call, position, settings)).collect();
    if !same || (waits_as_asked.len() as f64) < min_waits {
        return None;
    }
    let hint = shortest as f64 / 1e6;
    let waited = waits_as_asked.iter().copied().fold(Wait::NONE, Wait::and);
    let mut hit = Hit::new(format!(
        "waited {} over {} waits, each as long as the server asked ({}), and the hint never shortened",
        waited.words(),
        waits_as_asked.len(),
        shared::seconds(hint),
    ))
    .on_call(call)
    .about(call.last().class)
    .count("obedient_waits", waits_as_asked.len() as u64)
    .number("retry_after_s", hint)
    .number("waited_s", waited.s());
    hit.wait_s = waited.s();
    Some(hit)
}

/// Returns the wait after the attempt at `position`, if it was as long as the server requested and little longer.
fn wait_as_asked(call: &Call<'_>, position: usize, settings: &Settings) -> Option<Wait> {
    let (hint, wait) = (call.hint_us(position)?, call.wait_before(position + 1)?);
    let tolerance = rl301::tolerance_us(hint, settings) + shared::clock_step_us(call);
    let [share, late] = [&LATE_SHARE, &LATE].map(|setting| settings.get(RULE.code, setting));
    let latest = hint + shared::scaled(hint, share) + shared::micros(late);
    (hint - tolerance..=latest).contains(&wait.us).then_some(wait)
}
