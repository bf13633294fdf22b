//! More retries than a retry budget would have allowed.

use super::rl403_retry_amplification::storm_terms;
use super::storm::{ServiceTraffic, by_service, storm};
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::measure::{Amplified, Fleet, most_amplified, windows_over};
use crate::model::{Confidence, Evidence, Remedy, Severity, units};

const RATIO: Setting =
    Setting { name: "ratio", default: 0.2, unit: "", meaning: "retries for each first attempt that a budget allows" };
const WINDOW: Setting =
    Setting { name: "window_s", default: 600.0, unit: "s", meaning: "length of the stretch looked at" };
const CALLS: Setting =
    Setting { name: "min_calls", default: 20.0, unit: "", meaning: "calls that must have started in the stretch" };
const MIN_WINDOWS: Setting = Setting {
    name: "min_stretches",
    default: 2.0,
    unit: "",
    meaning: "stretches over the budget, from which on it is a finding although the waits do grow: one outage is not",
};

macro_rules! sent {
    ($call:literal, $minute:literal, $second:literal, $rest:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            ":",
            $second,
            r#"Z","run_id":"r","model":"m","duration_ms":50,"call_id":""#,
            $minute,
            $call,
            "\",",
            $rest,
            "}\n"
        )
    };
}
/// Calls that are sent three times, half a second apart.
macro_rules! early {
    ($minute:literal: $($call:literal),*) => {
        concat!($(
            sent!($call, $minute, "00.00", r#""status":529"#), sent!($call, $minute, "00.55", r#""status":529"#),
            sent!($call, $minute, "01.10", r#""status":200"#)
        ),*)
    };
}
/// Calls that are retried once, after a second.
macro_rules! once {
    ($minute:literal: $($call:literal),*) => {
        concat!($(sent!($call, $minute, "00.0", r#""status":529"#), sent!($call, $minute, "01.5", r#""status":200"#)),*)
    };
}
macro_rules! ok {
    ($minute:literal: $($call:literal),*) => { concat!($(sent!($call, $minute, "05", r#""status":200"#)),*) };
}

/// Catalogue entry of the rule.
///
/// In an outage, any client without a budget exceeds one, which is not its fault. So that alone is reported only if it
/// persists, and as more than an info only if the clients make it worse (see [`super::storm`]).
// The examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL405",
    name: "retry-budget-exceeded",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "Over ten minutes there were more retries than a fifth of the first attempts.",
    why: "A retry budget lets the few retries through that heal blips, and stops them when everything fails: then \
          each retry only adds load. Without one a failing service gets a multiple of its load.",
    fix: "Give the process, or the service mesh, a retry budget of about 20% of first attempts, shared by all calls; \
          beyond it, calls fail at once and may be resumed later.",
    remedy: Remedy::Fix,
    source: "Finagle, RetryBudget: 20% of requests and 10 a second; Linkerd, retry_ratio 0.2; Envoy, retry budgets",
    needs: &[Field::Time, Field::CallIdentity, Field::Duration],
    settings: &[RATIO, WINDOW, CALLS, MIN_WINDOWS],
    exceptions: &[&[
        "One stretch over the budget is an outage, unless the waits do not grow or a second loop sent.",
        "Where it rests on several stretches alone, it is info.",
        "All accounts of a model count together: it is the service that gets the load.",
        "Counted are the calls that start within the window, and all their attempts, whenever those were sent.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        early!("00": "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"),
        // Info: four calls in ten are retried, in this quarter of an hour and in the next.
        concat!(
            once!("00": "a", "b", "c", "d", "e", "f", "g", "h"),
            ok!("01": "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            once!("20": "a", "b", "c", "d", "e", "f", "g", "h"),
            ok!("21": "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
        ),
    ],
    near_misses: &[
        // One such quarter of an hour.
        concat!(
            once!("00": "a", "b", "c", "d", "e", "f", "g", "h"),
            ok!("01": "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            ok!("20": "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"),
        ),
        // One retry per ten calls.
        concat!(
            early!("00": "a"),
            ok!("01": "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"),
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let window_us = (settings.get(RULE.code, &WINDOW) * 1e6) as i64;
    let min_calls = settings.get(RULE.code, &CALLS) as u64;
    let ratio = settings.get(RULE.code, &RATIO);
    let min_windows = settings.get(RULE.code, &MIN_WINDOWS) as u64;
    let services = by_service(fleet);
    services
        .iter()
        .filter_map(|traffic| {
            let worst =
                most_amplified(&traffic.flows, window_us, min_calls).filter(|worst| worst.retry_ratio() > ratio)?;
            let windows = windows_over(&traffic.flows, window_us, min_calls, ratio);
            let (hit, clients_add_load) = hit(fleet, traffic, &worst, settings);
            (clients_add_load || windows >= min_windows).then(|| hit.count("stretches_over_budget", windows))
        })
        .collect()
}

/// Builds the finding, and returns whether the clients cause the load.
fn hit(fleet: &Fleet<'_>, traffic: &ServiceTraffic, worst: &Amplified, settings: &Settings) -> (Hit, bool) {
    let ratio = settings.get(RULE.code, &RATIO);
    let storm = storm(&traffic.wait_growth, worst, storm_terms(settings));
    let why = storm.as_ref().map_or_else(String::new, |storm| format!("; {}", storm.words()));
    let (retries, allowed) = (worst.sends - worst.calls, (ratio * worst.calls as f64) as u64);
    let mut hit = Hit::new(format!(
        "{} on {} that started within {} made {}, where a budget of {} of first attempts allows {allowed}{why}",
        units::counted(worst.calls, "call"),
        traffic.service.label(fleet.table),
        super::shared::seconds(worst.window_s()),
        units::counted(retries, "retry"),
        units::percent(ratio),
    ))
    .count("retries", retries)
    .count("first_attempts", worst.calls)
    .number("window_s", worst.window_s())
    .count("allowed_retries", allowed)
    .figure("from", Evidence::At(worst.from))
    .figure("until", Evidence::At(worst.until));
    let clients_add_load = storm.is_some();
    match storm {
        Some(storm) => hit = storm.figures(hit),
        None => {
            hit.severity = Some(Severity::Info);
            hit.confidence = Confidence::Medium;
        }
    }
    hit.rows.extend(worst.first.map(|row_ref| row_ref.row));
    hit.scope = Some(traffic.service.scope());
    (hit, clients_add_load)
}
