//! More calls are in progress than the pool allows.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::measure::{Fleet, Peak};
use crate::model::{Confidence, Evidence, Remedy, Scope as Limits, Severity};

const TIMED: Setting = Setting {
    name: "timed_share",
    default: 0.9,
    unit: "",
    meaning: "share of the attempts whose duration must be known",
};

const POOL: Setting = Setting {
    name: "pool",
    default: 0.0,
    unit: "calls",
    meaning: "calls that may be under way at once, over all workers; 0 for the pool of the declared policy, which is \
              one client's: it is held against a log of one run",
};

/// A log with a declared pool of two.
macro_rules! pooled {
    ($($log:expr),*) => { concat!("[policy]\npool = 2\n---\n", $($log),*) };
}
/// Calls that start together and last `$ms` ms.
macro_rules! calls {
    ($ms:literal: $($call:literal),*) => {
        concat!($(
            r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","model":"m","call_id":""#, $call, r#"","status":200,"duration_ms":"#, $ms, "}\n"
        ),*)
    };
}

/// Catalogue entry of the rule.
// The examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL508",
    name: "pool-too-small",
    severity: Severity::Info,
    scope: Scope::Fleet,
    summary: "More calls were under way at once than the declared pool holds.",
    why: "By Little's law as many calls are under way as arrive a second times the seconds each takes. What exceeds \
          the pool waits for a slot outside the log, or the pool is not the bound it is taken for. Waits of \
          over five minutes do not count; overlaps of less than 50 ms (1 s by a clock of whole seconds) alone are no \
          finding.",
    fix: "Size the pool by arrival rate times time in system, with room for the slow ones; or admit no more than \
          pool divided by time in system a second.",
    remedy: Remedy::Fix,
    source: "Little's law, L = lambda x W: 20 calls a second that take 12 s are 240 at once, which 50 slots do not hold",
    needs: &[Field::Time, Field::Duration],
    settings: &[POOL, TIMED],
    exceptions: &[&[
        "Waits of over five minutes do not count as under way.",
        "Overlaps of less than 50 ms, or a second by a clock of whole seconds, alone are no finding.",
        "Where the durations of too many attempts are missing, nothing is said.",
        "The pool of a policy is held against a log of one run only.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        pooled!(calls!("300000": "a", "b", "c")),
        // Five at once, for three seconds.
        pooled!(calls!("3000": "a", "b", "c", "d", "e")),
        // The third waits between two attempts, but is in progress.
        pooled!(
            calls!("300000": "a", "b"),
            r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","model":"m","call_id":"c","attempt":1,"status":429,"retry_after":280,"duration_ms":1000,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:04:50Z","run_id":"r","model":"m","call_id":"c","attempt":2,"status":200,"duration_ms":10000}"#
        ),
    ],
    near_misses: &[
        // Two calls fit into the pool.
        pooled!(calls!("300000": "a", "b")),
        // Four at once, for a second, by a clock of whole seconds.
        pooled!(calls!("1000": "a", "b", "c", "d")),
        // Three calls, of which the third starts when the first has ended.
        pooled!(
            calls!("300000": "a", "b"),
            r#"{"ts":"2026-03-10T09:05:00Z","run_id":"r","model":"m","call_id":"c","status":200,"duration_ms":9000}"#
        ),
        // The size of the pool is unknown.
        calls!("300000": "a", "b", "c"),
    ],
};

/// Returns the configured pool size, or the one that the policy declares for all models and providers of the only run
/// in the log.
fn pool(fleet: &Fleet<'_>, settings: &Settings) -> Option<f64> {
    let configured = settings.get(RULE.code, &POOL);
    if configured >= 1.0 {
        return Some(configured);
    }
    let (only_run, names) = (fleet.runs.keys().next().filter(|_| fleet.runs.len() == 1)?, &fleet.table.names);
    let of_scope = |scope: &Limits| {
        settings.policies.find(names.text(*only_run), names.text(scope.model), names.text(scope.provider))?.pool
    };
    let mut pools = fleet.scopes.keys().map(of_scope);
    let first = pools.next()??;
    pools.all(|pool| pool == Some(first)).then_some(f64::from(first))
}

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let Some(pool) = pool(fleet, settings) else { return Vec::new() };
    let loads = || fleet.scopes.values().map(|tally| &tally.load);
    let timed: u64 = loads().map(|load| load.timed).sum();
    if (timed as f64) < settings.get(RULE.code, &TIMED) * fleet.tally.sends as f64 {
        return Vec::new();
    }
    fleet.under_way.more_than(pool).map(|most| hit(fleet, pool, most)).into_iter().collect()
}

/// Returns whether calls in progress have to be counted.
pub(super) fn needs_count(settings: &Settings) -> bool {
    settings.get(RULE.code, &POOL) >= 1.0 || settings.policies.iter().any(|policy| policy.pool.is_some())
}

fn hit(fleet: &Fleet<'_>, pool: f64, most: Peak) -> Hit {
    let calls: u64 = fleet.scopes.values().map(|tally| tally.load.calls).sum();
    let in_system: u64 = fleet.scopes.values().map(|tally| tally.load.in_system_us).sum();
    let time_in_system_s = in_system as f64 / calls.max(1) as f64 / 1e6;
    let admits = if time_in_system_s > 0.0 { pool / time_in_system_s } else { f64::INFINITY };
    let mut hit = Hit::new(format!(
        "{} calls were under way at once, and the pool holds {pool:.0}; at {} a call it can admit {admits:.2} calls a \
         second",
        most.count,
        shared::seconds(time_in_system_s),
    ))
    .count("calls_under_way", most.count)
    .number("pool", pool)
    .number("time_in_system_s", time_in_system_s)
    .figure("at", Evidence::At(most.at));
    hit.rows.extend(fleet.tally.first.map(|row_ref| row_ref.row));
    hit.scope = Some(Limits::default());
    hit.confidence = Confidence::Medium;
    hit
}
