//! The log has the same attempt more than once.

use super::{Check, Field, Hit, Rule, Scope, Settings};
use crate::measure::Fleet;
use crate::model::{Remedy, Severity, units};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL806",
    name: "duplicate-lines",
    severity: Severity::Info,
    scope: Scope::Fleet,
    summary: "The log holds the same attempt more than once; each counts once here.",
    why: "Whoever counts lines counts retries that never happened: a duplicate of a failed attempt looks like a \
          retry without a wait.",
    fix: "Nothing in the client. Where the log is shipped at least once, drop duplicates by request id, time and \
          attempt number before counting.",
    remedy: Remedy::Fix,
    source: "The same request id, time and attempt number are one attempt; log shippers deliver at least once",
    needs: &[Field::Identity],
    settings: &[],
    exceptions: &[&[
        "A repeated record counts as a duplicate only with a request id, or a call id and a place in the call.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"request_id":"req_1","status":200}
{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"request_id":"req_1","status":200}"#,
        // Without request ids, whole records are compared.
        r#"{"ts":"2026-03-10T09:00:00.125Z","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:01.500Z","call_id":"c","attempt":2,"status":200}
{"ts":"2026-03-10T09:00:00.125Z","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}"#,
    ],
    near_misses: &[
        // Another request id means another attempt, however close in time.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"request_id":"req_1","status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":2,"request_id":"req_2","status":200}"#,
        // Two calls that look alike.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","status":200}
{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"d","status":200}"#,
    ],
};

fn check(fleet: &Fleet<'_>, _: &Settings) -> Vec<Hit> {
    let (duplicates, attempts) = (fleet.tally.duplicates, fleet.tally.sends);
    if duplicates == 0 {
        return Vec::new();
    }
    let (lines, counted) = (units::counted(duplicates, "duplicate line"), units::counted(attempts, "attempt"));
    let mut hit = Hit::new(format!("{lines} ignored ({counted} counted)"))
        .count("duplicates", duplicates)
        .count("attempts", attempts);
    hit.rows.extend(fleet.tally.first_duplicate.map(|row_ref| row_ref.row));
    vec![hit]
}
