//! A run in which every call succeeded, but some only after retries.

use super::{Check, Hit, Rule, Scope, Settings};
use crate::measure::{Fleet, RunTally};
use crate::model::{Outcome, Remedy, Severity, Symbol, units};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL804",
    name: "green-with-retries",
    severity: Severity::Info,
    scope: Scope::Run,
    summary: "Every call of the run succeeded, and at least one took more than one attempt.",
    why: "A run that succeeded on its last attempt looks like one that never failed, until the day it takes one \
          attempt more. The waits are in its duration, too.",
    fix: "Nothing is broken. Report attempts and waits beside the verdict of each run, and look at calls that \
          need their third attempt or a later one as a matter of course.",
    remedy: Remedy::Fix,
    source: "Nine retries on the usual ladder of 0.5 s doubling to 8 s wait 47.5 s, and the run is green",
    needs: &[],
    settings: &[],
    exceptions: &[&["An attempt after a success does not make a run green with retries."]],
    check: Check::Fleet(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":200}
{"ts":"2026-03-10T09:00:05Z","run_id":"r","call_id":"b","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:07Z","run_id":"r","call_id":"b","attempt":2,"status":200}"#,
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":429,"retry_after":3,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:04Z","run_id":"r","call_id":"a","attempt":2,"status":500,"error_type":"api_error"}
{"ts":"2026-03-10T09:00:06Z","run_id":"r","call_id":"a","attempt":3,"status":200}"#,
    ],
    near_misses: &[
        // No retries.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":200}
{"ts":"2026-03-10T09:00:05Z","run_id":"r","call_id":"b","attempt":1,"status":200}"#,
        // Not green, as one call failed.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02Z","run_id":"r","call_id":"a","attempt":2,"status":200}
{"ts":"2026-03-10T09:00:05Z","run_id":"r","call_id":"b","attempt":1,"status":400,"error_type":"invalid_request_error"}"#,
    ],
};

fn check(fleet: &Fleet<'_>, _: &Settings) -> Vec<Hit> {
    let runs = fleet.sorted_runs().into_iter();
    runs.filter(|(_, _, tally)| tally.outcome() == Outcome::Ok)
        .filter_map(|(_, run, tally)| {
            let worst = *tally.success_by_attempt().last_key_value()?.0;
            // An attempt after a success is not a retry.
            (worst > 1).then(|| hit(run, tally, worst))
        })
        .collect()
}

fn hit(run: Symbol, tally: &RunTally, worst: u32) -> Hit {
    let retries = tally.retries;
    let calls = match (tally.retried_calls, tally.calls()) {
        (1, 1) => "its only call".to_owned(),
        (retried, all) => format!("{retried} of its {}", units::counted(all, "call")),
    };
    let mut hit = Hit::new(format!(
        "the run is green after {} in {calls} and {} of waiting; one call succeeded only on attempt {worst}",
        units::counted(retries, "retry"),
        tally.waited.words(),
    ))
    .count("retries", retries)
    .count("retried_calls", tally.retried_calls)
    .count("calls", tally.calls())
    .number("waited_s", tally.waited.s())
    .count("worst_attempt", u64::from(worst));
    hit.rows.extend(tally.retried.map(|row_ref| row_ref.row));
    hit.run = Some(run);
    hit
}
