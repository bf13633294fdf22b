//! The calls of a few minutes became a multiple of attempts.

use super::storm::{ServiceTraffic, by_service, storm};
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::measure::{Amplified, Fleet, most_amplified};
use crate::model::{Confidence, Evidence, Remedy, Severity, units};

const RATIO: Setting =
    Setting { name: "ratio", default: 1.5, unit: "", meaning: "attempts a call, from which on it is a finding" };
const ERROR: Setting =
    Setting { name: "error_ratio", default: 3.0, unit: "", meaning: "attempts a call, from which on it is an error" };
const WINDOW: Setting =
    Setting { name: "window_s", default: 300.0, unit: "s", meaning: "length of the stretch looked at" };
const GROWTH: Setting = Setting {
    name: "growth",
    default: 1.3,
    unit: "",
    meaning: "waits that grow by less from the first to the last of a call show no backoff: the gentlest in use \
              multiply by 1.5 a step; RL405 follows",
};
const GROWTH_CALLS: Setting =
    Setting { name: "growth_calls", default: 20.0, unit: "", meaning: "calls that must show it; RL405 follows" };
const LONG_WAIT: Setting = Setting {
    name: "gentle_s",
    default: 5.0,
    unit: "s",
    meaning: "waits as long as this need not grow; RL405 follows",
};
const CALLS: Setting =
    Setting { name: "min_calls", default: 20.0, unit: "", meaning: "calls that must have started in the stretch" };

/// A call that fails three times and then succeeds: its name and the seconds of its attempts.
macro_rules! retried {
    ($call:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            sent!($call, $a, r#""status":529"#),
            sent!($call, $b, r#""status":529"#),
            sent!($call, $c, r#""status":529"#),
            sent!($call, $d, r#""status":200"#),
        )
    };
}
macro_rules! sent {
    ($call:literal, $second:literal, $($rest:literal),+) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","run_id":"r","model":"m","duration_ms":50,"call_id":""#,
            $call,
            "\",",
            $($rest,)+
            "}\n"
        )
    };
}
/// Like `retried`, half a second between attempts.
macro_rules! early {
    ($($call:literal),*) => { concat!($(retried!($call, "00.00", "00.55", "01.10", "01.65")),*) };
}
/// Calls with one key, each sent three times, half a second apart.
macro_rules! keyed {
    ($key:literal: $($call:literal),*) => {
        concat!($(
            sent!($call, "00.00", "\"status\":529,\"api_key_id\":\"", $key, "\""),
            sent!($call, "00.55", "\"status\":529,\"api_key_id\":\"", $key, "\""),
            sent!($call, "01.10", "\"status\":200,\"api_key_id\":\"", $key, "\"")
        ),*)
    };
}
/// Like `retried`, with waits that double.
macro_rules! backed_off {
    ($($call:literal),*) => { concat!($(retried!($call, "00.00", "00.55", "01.60", "03.65")),*) };
}
/// A loop of two rounds around the SDK's own loop of two attempts.
macro_rules! layered {
    ($($call:literal),*) => {
        concat!($(
            sent!($call, "00.0", r#""status":529,"sdk_retry_count":0"#),
            sent!($call, "00.5", r#""status":529,"sdk_retry_count":1"#),
            sent!($call, "02.0", r#""status":529,"sdk_retry_count":0"#),
            sent!($call, "02.5", r#""status":200,"sdk_retry_count":1"#)
        ),*)
    };
}

/// Catalogue entry of the rule.
///
/// The ratio of attempts to calls alone would blame every client with a cap for an outage: while nothing answers, each
/// call makes all its attempts. So the ratio alone is an info, and more only if the log shows that the clients make it
/// worse (see [`super::storm`]).
// The examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL403",
    name: "retry-amplification",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "The calls of some minutes became a multiple of attempts, by retries that do not back off or that multiply.",
    why: "A service that is short of capacity gets the load of every call several times over, just then: retries \
          keep it down that were to wait for it to come back. Info where the waits do grow: then it is the outage.",
    fix: "Let waits grow exponentially with full jitter, leave retries to one layer, and give the process a retry \
          budget (about a fifth of its first attempts) that ends retries in an outage, not only attempts of a call.",
    remedy: Remedy::Fix,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls; AWS Architecture Blog, \
             Exponential Backoff And Jitter; Google, Site Reliability Engineering, Addressing Cascading Failures",
    needs: &[Field::CallIdentity],
    settings: &[RATIO, ERROR, WINDOW, CALLS, GROWTH, GROWTH_CALLS, LONG_WAIT],
    exceptions: &[&[
        "Where the waits of the calls do grow and no second loop sent, it is an outage, and info.",
        "Long waits need not grow.",
        "All accounts of a model count together: it is the service that gets the load.",
        "Counted are the calls that start within the window, and all their attempts, whenever those were sent.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        early!("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"),
        layered!("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"),
        // Info: healthy clients in an outage.
        backed_off!("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"),
        // Two keys with ten calls each: the load on the service is that of both.
        concat!(
            keyed!("k1": "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"),
            keyed!("k2": "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"),
        ),
    ],
    near_misses: &[
        // Ten calls, and ten more six minutes later.
        r#"{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"a","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"a","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"a","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"a","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"b","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"b","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"b","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"b","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"c","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"c","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"c","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"c","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"d","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"d","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"d","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"d","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"e","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"e","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"e","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"e","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"f","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"f","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"f","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"f","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"g","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"g","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"g","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"g","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"h","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"h","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"h","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"h","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"i","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"i","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"i","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"i","status":200}
{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"j","status":529}
{"ts":"2026-03-10T09:00:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"j","status":529}
{"ts":"2026-03-10T09:00:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"j","status":529}
{"ts":"2026-03-10T09:00:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"j","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"k","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"k","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"k","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"k","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"l","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"l","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"l","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"l","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"m","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"m","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"m","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"m","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"n","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"n","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"n","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"n","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"o","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"o","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"o","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"o","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"p","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"p","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"p","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"p","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"q","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"q","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"q","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"q","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"r","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"r","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"r","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"r","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"s","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"s","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"s","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"s","status":200}
{"ts":"2026-03-10T09:06:00.00Z","run_id":"r","model":"m","duration_ms":50,"call_id":"t","status":529}
{"ts":"2026-03-10T09:06:00.55Z","run_id":"r","model":"m","duration_ms":50,"call_id":"t","status":529}
{"ts":"2026-03-10T09:06:01.10Z","run_id":"r","model":"m","duration_ms":50,"call_id":"t","status":529}
{"ts":"2026-03-10T09:06:01.65Z","run_id":"r","model":"m","duration_ms":50,"call_id":"t","status":200}"#,
        // Too few calls to tell.
        early!("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"),
        // Three of 23 calls are retried.
        concat!(
            early!("a", "b", "c"),
            sent!("d", "00", r#""status":200"#), sent!("e", "01", r#""status":200"#), sent!("f", "02", r#""status":200"#),
            sent!("g", "03", r#""status":200"#), sent!("h", "04", r#""status":200"#), sent!("i", "05", r#""status":200"#),
            sent!("j", "06", r#""status":200"#), sent!("k", "07", r#""status":200"#), sent!("l", "08", r#""status":200"#),
            sent!("m", "09", r#""status":200"#), sent!("n", "10", r#""status":200"#), sent!("o", "11", r#""status":200"#),
            sent!("p", "12", r#""status":200"#), sent!("q", "13", r#""status":200"#), sent!("r", "14", r#""status":200"#),
            sent!("s", "15", r#""status":200"#), sent!("t", "16", r#""status":200"#), sent!("u", "17", r#""status":200"#),
            sent!("v", "18", r#""status":200"#), sent!("w", "19", r#""status":200"#),
        ),
    ],
};

/// Returns the least growth of waits, the number of calls that must show it, and the wait in seconds from which on
/// waits need not grow.
pub(super) fn storm_terms(settings: &Settings) -> [f64; 3] {
    [&GROWTH, &GROWTH_CALLS, &LONG_WAIT].map(|setting| settings.get(RULE.code, setting))
}

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let window_us = (settings.get(RULE.code, &WINDOW) * 1e6) as i64;
    let min_calls = settings.get(RULE.code, &CALLS) as u64;
    let ratio = settings.get(RULE.code, &RATIO);
    let services = by_service(fleet);
    services
        .iter()
        .filter_map(|traffic| {
            let worst = most_amplified(&traffic.flows, window_us, min_calls).filter(|worst| worst.ratio() >= ratio)?;
            Some(hit(fleet, traffic, &worst, settings))
        })
        .collect()
}

fn hit(fleet: &Fleet<'_>, traffic: &ServiceTraffic, worst: &Amplified, settings: &Settings) -> Hit {
    let storm = storm(&traffic.wait_growth, worst, storm_terms(settings));
    let why = storm.as_ref().map_or_else(String::new, |storm| format!("; {}", storm.words()));
    let mut hit = Hit::new(format!(
        "{} on {} that started within {} became {}, {:.1} a call{why}",
        units::counted(worst.calls, "call"),
        traffic.service.label(fleet.table),
        super::shared::seconds(worst.window_s()),
        units::counted(worst.sends, "attempt"),
        worst.ratio(),
    ))
    .count("calls", worst.calls)
    .count("sends", worst.sends)
    .number("window_s", worst.window_s())
    .number("sends_per_call", worst.ratio())
    .figure("from", Evidence::At(worst.from))
    .figure("until", Evidence::At(worst.until));
    hit.severity = match &storm {
        None => Some(Severity::Info),
        Some(_) if worst.ratio() >= settings.get(RULE.code, &ERROR) => Some(Severity::Error),
        Some(_) => None,
    };
    match storm {
        Some(storm) => hit = storm.figures(hit),
        None => hit.confidence = Confidence::Medium,
    }
    hit.rows.extend(worst.first.map(|row_ref| row_ref.row));
    hit.rows.extend(
        traffic.wait_growth.example.filter(|_| hit.severity != Some(Severity::Info)).map(|row_ref| row_ref.row),
    );
    hit.scope = Some(traffic.service.scope());
    hit
}
