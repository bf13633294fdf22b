//! No wait at all after the server said it had no room.

use super::{Check, Confidence, Field, Hit, Remedy, Rule, Scope, Setting, Settings, Severity};
use crate::attempt::Symbol;
use crate::measure::{Fleet, Haste};

const SHARE: Setting = Setting {
    name: "share",
    default: 0.5,
    unit: "",
    meaning: "share of the retries of a run from which on it is said for information that chance may explain",
};

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL304",
    name: "immediate-retry",
    severity: Severity::Error,
    scope: Scope::Run,
    summary: "Requests were sent again at once after overloads or rate limits.",
    why: "Nothing can have changed in a few milliseconds: the send is refused again, and a fleet that does so \
          doubles the load at the very moment there is no room.",
    fix: "Wait before every retry: exponential backoff with full jitter, from half a second upward, and no less \
          than retry-after where there is one.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter; official SDKs, _constants.py: the first wait \
             is 0.5 s",
    needs: &[Field::CallIdentity, Field::Duration],
    settings: &[SHARE],
    check: Check::Fleet(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":100}"#,
        r#"{"timestamp":"2026-05-20T10:00:00.000Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"delay_ms":0,"decision":"retry"}
{"timestamp":"2026-05-20T10:00:00.250Z","session_id":"s","turn_id":"t","try":2,"status_code":200}"#,
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c0","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.102Z","run_id":"r","call_id":"c0","attempt":2,"status":200,"duration_ms":100}
{"ts":"2026-05-20T10:00:01.000Z","run_id":"r","call_id":"c1","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:01.102Z","run_id":"r","call_id":"c1","attempt":2,"status":200,"duration_ms":100}
{"ts":"2026-05-20T10:00:02.000Z","run_id":"r","call_id":"c2","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:02.102Z","run_id":"r","call_id":"c2","attempt":2,"status":200,"duration_ms":100}"#,
    ],
    near_misses: &[
        // Full jitter: one wait in some is short.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.130Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.900Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:02.700Z","run_id":"r","call_id":"c","attempt":4,"status":200,"duration_ms":100}"#,
        // The server said "now".
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":0,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":100}"#,
        // A lost connection says nothing of capacity: one try at once is common.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"kind":"connection_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":100}"#,
        // Two sends in one second of a clock that has only seconds.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // Another model is asked at once: a fallback.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"model":"a","status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"model":"b","status":200,"duration_ms":100}"#,
    ],
};

/// So unlikely, it is no chance.
const SURE: f64 = 3e-5;

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let share = settings.get(RULE.code, &SHARE);
    let runs = fleet.sorted_runs().into_iter();
    runs.filter_map(|(_, run, tally)| hit(run, &tally.haste, share)).collect()
}

fn hit(run: Symbol, haste: &Haste, share: f64) -> Option<Hit> {
    let (short, waits) = (haste.short(), haste.waits());
    let sure = haste.is_meant() || haste.by_chance() < SURE;
    // A short wait among many is what jitter is for.
    if short == 0 || (!sure && (short as f64) < share * waits as f64) {
        return None;
    }
    let mut message = format!("{short} of {waits} retries after an overload or a rate limit came at once");
    if waits == 1 {
        message = "a retry after an overload or a rate limit came at once".to_owned();
    }
    message.push_str(if sure { ", with no backoff" } else { "; jitter may have made so few waits this short" });
    let mut hit = Hit::new(message).count("immediate_sends", short).count("waits", waits);
    hit.rows.extend(haste.rows());
    hit.wasted_more = if sure { haste.refused_again() } else { 0 };
    hit.run = run.is_some().then_some(run);
    if !sure {
        hit.severity = Some(Severity::Info);
        hit.confidence = Confidence::Low;
    }
    Some(hit)
}
