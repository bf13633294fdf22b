//! No wait at all after the server said that it had no capacity.

use super::scripted::retried;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::measure::{Fleet, LoopImmediateRetries, LoopKey, Shape};
use crate::model::{Confidence, Remedy, Severity, Symbol};

const MAX_OUTER_CHANCE: Setting = Setting {
    name: "layered_chance",
    default: 1e-2,
    unit: "",
    meaning: "the same for a loop around another that never waits: a warning",
};

const MAX_CHANCE: Setting = Setting {
    name: "chance",
    default: 3e-5,
    unit: "",
    meaning: "the waits are no chance where full jitter makes so many of them this short less often",
};

const NO_WAIT: Setting = Setting { name: "no_wait_ms", default: 50.0, unit: "ms", meaning: "a shorter wait is none" };

const MIN_SHARE: Setting = Setting {
    name: "share",
    default: 0.5,
    unit: "",
    meaning: "share of the retries of a run from which on it is said for information that chance may explain",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL304",
    name: "immediate-retry",
    severity: Severity::Error,
    scope: Scope::Run,
    summary: "Calls were retried at once after overloads or rate limits.",
    why: "Nothing can have changed in a few milliseconds: the retry is refused as well, and a fleet that does so \
          doubles the load at the very moment there is no room. A wait under 50 ms (no_wait_ms) is none; the waits of the client's \
          own retries and those of a loop around them are judged apart. Full jitter makes some waits that short: where \
          it may explain their number, this is for information, and a warning where a loop around another never waits.",
    fix: "Wait before every retry: exponential backoff with full jitter, from half a second upward, and no less \
          than retry-after where there is one.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter; official SDKs, _constants.py: the first wait \
             is 0.5 s",
    needs: &[Field::CallIdentity, Field::Duration],
    settings: &[MIN_SHARE, MAX_CHANCE, MAX_OUTER_CHANCE, NO_WAIT],
    exceptions: &[&[
        "A hint of zero, and another client, model or account, do not count; nor do lost connections.",
        "A clock of whole seconds shows nothing, unless the client says that it planned no wait.",
        "Short waits in a number that full jitter from half a second on explains are info from the share on, and \
         nothing below it.",
    ]],
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
        // Six calls of a run, each with one retry after 12 ms: full jitter does that in one of a million such runs.
        concat!(
            retried!("a", "00.000", "00.112"),
            retried!("b", "01.000", "01.112"),
            retried!("c", "02.000", "02.112"),
            retried!("d", "03.000", "03.112"),
            retried!("e", "04.000", "04.112"),
            retried!("f", "05.000", "05.112"),
        ),
        // The client's own retries wait correctly, and the loop around them does not wait at all.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.540Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.652Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:01.180Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:01.295Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":200,"duration_ms":100}"#,
    ],
    near_misses: &[
        // Full jitter: some waits are short.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.130Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.900Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:02.700Z","run_id":"r","call_id":"c","attempt":4,"status":200,"duration_ms":100}"#,
        // The server said "now".
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":0,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":100}"#,
        // A lost connection shows nothing about capacity: one immediate retry is common.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"kind":"connection_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":100}"#,
        // Two attempts within one second, by a clock of whole seconds.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // Another model is tried at once: a fallback.
        r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"model":"a","status":529,"error_type":"overloaded_error","duration_ms":100}
{"ts":"2026-05-20T10:00:00.103Z","run_id":"r","call_id":"c","attempt":2,"model":"b","status":200,"duration_ms":100}"#,
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let runs = fleet.sorted_runs().into_iter();
    runs.flat_map(|(_, run, tally)| {
        let loops = [(&tally.immediate_retries.inner, false), (&tally.immediate_retries.outer, true)];
        loops
            .into_iter()
            .filter_map(move |(immediate_retries, outer)| hit(fleet, run, immediate_retries, outer, settings))
    })
    .collect()
}

/// Returns the length below which a wait counts as none, in µs.
pub(super) fn no_wait_us(settings: &Settings) -> i64 {
    shared::micros(settings.get(RULE.code, &NO_WAIT) / 1e3)
}

/// Returns whether jitter does not explain the number of retries without a wait.
pub(super) fn excludes_jitter(immediate_retries: &LoopImmediateRetries, settings: &Settings) -> bool {
    immediate_retries.short() > 0
        && (immediate_retries.is_intended()
            || chance_of_jitter(immediate_retries, settings) < settings.get(RULE.code, &MAX_CHANCE))
}

fn chance_of_jitter(immediate_retries: &LoopImmediateRetries, settings: &Settings) -> f64 {
    immediate_retries.chance_of_jitter(no_wait_us(settings))
}

fn hit(
    fleet: &Fleet<'_>,
    run: Symbol,
    immediate_retries: &LoopImmediateRetries,
    outer: bool,
    settings: &Settings,
) -> Option<Hit> {
    let (short, waits) = (immediate_retries.short(), immediate_retries.waits());
    let is_certain = excludes_jitter(immediate_retries, settings);
    let likely = immediate_retries.is_all_layered()
        && chance_of_jitter(immediate_retries, settings) < settings.get(RULE.code, &MAX_OUTER_CHANCE);
    // Some short waits among many are normal with jitter.
    if short == 0 || (!is_certain && !likely && (short as f64) < settings.get(RULE.code, &MIN_SHARE) * waits as f64) {
        return None;
    }
    let by = if outer { " by the loop around the client's own" } else { "" };
    let mut message = format!("{short} of {waits} retries{by} after an overload or a rate limit came at once");
    if waits == 1 {
        message = format!("a retry{by} after an overload or a rate limit came at once");
    }
    if let Some(length) = scheduled_s(fleet, immediate_retries, outer) {
        message.push_str(&format!(" ({})", shared::seconds(length)));
    }
    message.push_str(match (is_certain, likely) {
        (true, _) => ", with no backoff",
        (false, true) => "; every time, so that jitter hardly explains it",
        (false, false) => "; jitter may have made so few waits this short",
    });
    let mut hit = Hit::new(message).count("immediate_sends", short).count("waits", waits);
    hit.rows.extend(immediate_retries.rows());
    // With a wait before them, the refused retries might have succeeded, so they are excess and not wasted.
    hit.excess_more = if is_certain { immediate_retries.refused_again() } else { 0 };
    hit.run = run.is_some().then_some(run);
    if likely && !is_certain {
        hit.severity = Some(Severity::Warning);
        hit.confidence = Confidence::Medium;
    } else if !is_certain {
        hit.severity = Some(Severity::Info);
        hit.confidence = Confidence::Low;
    }
    Some(hit)
}

/// Returns the first wait of the loop's schedule in seconds if the schedule is to retry immediately: the same figure as
/// in the report of its backoff.
fn scheduled_s(fleet: &Fleet<'_>, immediate_retries: &LoopImmediateRetries, outer: bool) -> Option<f64> {
    let origin = fleet.table.origin(&fleet.table.rows[immediate_retries.rows().next()? as usize]);
    let key = LoopKey { provider: origin.provider, client: origin.client, layer: origin.layer, outer };
    let schedule = fleet.backoffs.of(&key)?.schedule();
    schedule.first_s.filter(|first| schedule.shape == Shape::Immediate && *first >= 0.001)
}
