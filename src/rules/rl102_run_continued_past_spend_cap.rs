//! A cap that refused one call refuses every later one, but the run opened further calls.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::classify::Class;
use crate::measure::{CapKey, CapTally, CappedCalls, Fleet, Holder};
use crate::model::{Confidence, Evidence, Flags, Remedy, Severity, Symbol, Time};

const GRACE: Setting = Setting {
    name: "grace_s",
    default: 0.5,
    unit: "s",
    meaning: "calls opened this soon after the first refusal was answered were on their way",
};
const CALLS: Setting = Setting {
    name: "further_calls",
    default: 1.0,
    unit: "",
    meaning: "calls opened after the first refusal, from which on it is a finding",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL102",
    name: "run-continued-past-spend-cap",
    severity: Severity::Error,
    scope: Scope::Run,
    summary: "Money or quota was used up, and the run or the account opened further calls, which failed alike.",
    why: "A spent cap holds for the whole account until it reopens or is raised. Each further call is refused \
          too, so a run that goes on spends attempts and hours and ends with nothing.",
    fix: "Treat spend_cap, spend_limit and quota_exhausted as the end of the run, not of the call: stop all \
          workers on the account, alert whoever owns the budget, and resume when the cap reopens.",
    remedy: Remedy::Wait,
    source: "Anthropic API documentation, Errors: retrying fails until 00:00 UTC on the first of the next month \
             or until the limit is raised; a limit of your own names its date in the message",
    needs: &[Field::Time, Field::ErrorText],
    settings: &[GRACE, CALLS],
    exceptions: &[&[
        "A call whose first attempt is not in the log was opened at an unknown time and does not count.",
        "It says nothing once something of the same account succeeds before the cap reopens; of a run any later \
         success counts.",
        "Calls that start within the grace time after the first refusal may not have known of it.",
    ]],
    check: Check::FleetIfLogged(check, missing_field),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:20:00Z","run_id":"r","call_id":"b","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T11:00:00Z","run_id":"r","call_id":"c","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        // Two runs of one account; a success after the limit has reopened shows nothing about the time before.
        r#"{"ts":"2026-03-30T09:00:00Z","run_id":"r","call_id":"a","org":"o","status":400,"error_type":"invalid_request_error","error_message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}
{"ts":"2026-03-30T09:05:00Z","run_id":"s","call_id":"b","org":"o","model":"m","status":400,"error_type":"invalid_request_error","error_message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}
{"ts":"2026-04-01T00:10:00Z","run_id":"s","call_id":"c","org":"o","model":"m","status":200}"#,
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":429,"error_type":"insufficient_quota","error_code":"insufficient_quota"}
{"ts":"2026-03-10T09:00:02Z","run_id":"r","call_id":"b","duration_ms":300,"status":429,"error_type":"insufficient_quota","error_code":"insufficient_quota"}"#,
    ],
    near_misses: &[
        // The limit was raised: a later call succeeded.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:20:00Z","run_id":"r","call_id":"b","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T11:00:00Z","run_id":"r","call_id":"c","status":200}"#,
        // Three workers met the cap at the same moment, and each stopped.
        r#"{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","call_id":"a","org":"o","duration_ms":150,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:00:00.05Z","run_id":"s","call_id":"b","org":"o","duration_ms":150,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:00:00.20Z","run_id":"t","call_id":"c","org":"o","duration_ms":150,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        // The log names no account, so nothing shows that both runs share one.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:20:00Z","run_id":"s","call_id":"b","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        // A call that was already in progress; the log lacks its first attempt.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","attempt":1,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:00:20Z","run_id":"r","attempt":3,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        // A single call, however often it was sent: that is RL101.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:00:10Z","run_id":"r","call_id":"a","attempt":2,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let grace_us = (settings.get(RULE.code, &GRACE) * 1e6) as i64;
    let min_calls = settings.get(RULE.code, &CALLS).max(1.0) as u64;
    let caps = fleet.sorted_caps().into_iter();
    caps.filter_map(|(key, cap)| {
        let known_at = cap.known_at(fleet.table).plus_us(grace_us);
        let further = cap.opened_since(known_at);
        let is_finding = further.calls >= min_calls && !reopened(fleet, key, known_at);
        is_finding.then(|| hit(fleet, key, cap, further))
    })
    .collect()
}

/// Counts calls of several runs that were refused by a cap of the same kind, if no account is logged that the runs
/// might share.
fn missing_field(fleet: &Fleet<'_>, _: &Settings) -> Option<(Field, u64)> {
    let of_runs: Vec<(Symbol, Class, u64)> = (fleet.caps.iter())
        .filter_map(|(key, cap)| match key.holder {
            Holder::Run(run) => Some((run, key.class, cap.opened_since(Time(i64::MIN)).calls)),
            Holder::Account(_) => None,
        })
        .collect();
    let shared = |&&(run, class, _): &&(Symbol, Class, u64)| of_runs.iter().any(|o| o.0 != run && o.1 == class);
    let calls: u64 = of_runs.iter().filter(shared).map(|(.., calls)| calls).sum();
    (calls > 0).then_some((Field::Organisation, calls))
}

/// Returns whether a call of the same account or run succeeded before the cap was due to reopen. Only the last success
/// of a run is known, so for a run any later success counts.
fn reopened(fleet: &Fleet<'_>, key: &CapKey, known_at: Time) -> bool {
    match key.holder {
        Holder::Account(account) => {
            let mut scopes = fleet.scopes.iter().filter(|(scope, _)| scope.account() == account);
            scopes.any(|(_, tally)| tally.succeeded_between(known_at, key.reopens))
        }
        Holder::Run(run) => {
            let last = fleet.runs.get(&run).and_then(|tally| tally.last_success);
            last.is_some_and(|last| last >= known_at)
        }
    }
}

fn hit(fleet: &Fleet<'_>, key: &CapKey, cap: &CapTally, further: CappedCalls) -> Hit {
    let hours = cap.last.sent.s_since(cap.first.sent) / 3600.0;
    let cap_name = match key.class {
        Class::SpendCap => "the monthly spend cap",
        Class::SpendLimit => "the account's own spend limit",
        _ => "the account's quota",
    };
    let who = match key.holder {
        Holder::Account(account) => format!("on {}", fleet.scope_label(&account)),
        Holder::Run(_) => "of the run".to_owned(),
    };
    let until = key.reopens.map(|time| format!("; it reopens at {time}")).unwrap_or_default();
    let calls =
        if further.calls == 1 { "1 further call".to_owned() } else { format!("{} further calls", further.calls) };
    let mut hit = Hit::new(format!(
        "{calls} {who} ({} in all) ran into {cap_name} over {} after it had refused the first{until}",
        sends(further.sends),
        super::shared::seconds(hours * 3600.0),
    ))
    .about(Some(key.class))
    .count("further_calls", further.calls)
    .count("further_sends", further.sends)
    .number("hours", hours)
    .figure("first_refusal", Evidence::At(cap.first.sent))
    .figure("last_refusal", Evidence::At(cap.last.sent));
    if let Some(reopens) = key.reopens {
        hit = hit.figure("reopens_at", Evidence::At(reopens));
    }
    hit.until = key.reopens;
    hit.rows.extend([cap.first.row, cap.last.row]);
    // Attempts after the first of each call are counted by the rules about calls.
    hit.wasted_more = further.calls;
    match key.holder {
        Holder::Account(account) => hit.scope = Some(account),
        Holder::Run(run) => hit.run = Some(run),
    }
    if fleet.table.rows[cap.first.row as usize].flags.has(Flags::LOW_CONFIDENCE) {
        hit.confidence = Confidence::Low;
    }
    hit
}

fn sends(n: u64) -> String {
    if n == 1 { "1 attempt".to_owned() } else { format!("{n} attempts") }
}
