//! All waits of one step are equal, so calls that fail together retry together.

use super::scripted::{attempts, retried};
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, backoffs, shared};
use crate::measure::{Fleet, LoopKey, LoopTally, Step, Waits};
use crate::model::{Remedy, Severity};

const WAITS: Setting = Setting {
    name: "waits",
    default: 8.0,
    unit: "",
    meaning: "waits of one step, at least eight, from which on it is a finding",
};
const SPREAD: Setting = Setting {
    name: "spread",
    default: 0.05,
    unit: "",
    meaning: "the middle nine tenths of the waits of a step lie closer together than this share of their median",
};

/// A call with the wait as logged by the client, and no durations.
macro_rules! planned {
    ($call:literal, $at:literal, $wait:literal, $again:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $at,
            r#"Z","call_id":""#,
            $call,
            r#"","attempt":1,"status":529,"error_type":"overloaded_error","backoff_s":"#,
            $wait,
            "}\n",
            r#"{"ts":"2026-03-10T09:00:"#,
            $again,
            r#"Z","call_id":""#,
            $call,
            r#"","attempt":2,"status":200}"#,
            "\n"
        )
    };
}
/// A call whose request was refused, changed and accepted.
macro_rules! repaired {
    ($call:literal, $at:literal, $again:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $at,
            r#"Z","call_id":""#,
            $call,
            r#"","attempt":1,"status":413,"error_type":"request_too_large","request_hash":"long","duration_ms":100}"#,
            "\n",
            r#"{"ts":"2026-03-10T09:00:"#,
            $again,
            r#"Z","call_id":""#,
            $call,
            r#"","attempt":2,"status":200,"request_hash":"short","duration_ms":900}"#,
            "\n"
        )
    };
}
/// A call with a hint from the server.
macro_rules! hinted {
    ($call:literal, $at:literal, $again:literal) => {
        attempts!($call: 1 limited $at, 2 ok $again)
    };
}

/// Catalogue entry of the rule.
// The calls of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL302",
    name: "no-jitter",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "The waits of a retry loop have no jitter, so calls that failed together retry together.",
    why: "A fleet that met one overload without jitter returns as one crowd, is refused as one, and returns again: \
          the server never sees the load spread out, and each retry has the odds of the first. Waits that the server \
          asked for do not count, nor does the time before a request that was changed after a refusal.",
    fix: "Draw each wait at random between 0 and the nominal wait (full jitter); where the server names a wait, \
          add the jitter on top of it.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter: without jitter, calls that contend keep \
             contending, and full jitter needs the fewest of them",
    needs: &[Field::CallIdentity, Field::Duration],
    settings: &[WAITS, SPREAD],
    exceptions: &[&[
        "Waits that the server asked for, and the time before a changed request, do not count.",
        "Waits that are none are RL304.",
        "Whole seconds, of the log's clock or of the client's plan, may be rounded and show nothing.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            retried!("a", "00.000", "01.100"), retried!("b", "03.000", "04.101"), retried!("c", "06.000", "07.102"),
            retried!("d", "09.000", "10.100"), retried!("e", "12.000", "13.103"), retried!("f", "15.000", "16.100"),
            retried!("g", "18.000", "19.101"), retried!("h", "21.000", "22.100"),
        ),
        concat!(
            planned!("a", "00.0", "2.5", "02.9"), planned!("b", "01.0", "2.5", "04.1"), planned!("c", "02.0", "2.5", "05.3"),
            planned!("d", "03.0", "2.5", "05.6"), planned!("e", "04.0", "2.5", "06.9"), planned!("f", "05.0", "2.5", "07.8"),
            planned!("g", "06.0", "2.5", "08.9"), planned!("h", "07.0", "2.5", "09.7"),
        ),
    ],
    near_misses: &[
        // Full jitter.
        concat!(
            retried!("a", "00.000", "00.431"), retried!("b", "03.000", "03.982"), retried!("c", "06.000", "06.250"),
            retried!("d", "09.000", "09.744"), retried!("e", "12.000", "12.190"), retried!("f", "15.000", "16.012"),
            retried!("g", "18.000", "18.655"), retried!("h", "21.000", "21.871"),
        ),
        // The jitter of the official SDKs: 375 to 500 ms.
        concat!(
            retried!("a", "00.000", "00.581"), retried!("b", "03.000", "03.498"), retried!("c", "06.000", "06.522"),
            retried!("d", "09.000", "09.594"), retried!("e", "12.000", "12.477"), retried!("f", "15.000", "15.560"),
            retried!("g", "18.000", "18.510"), retried!("h", "21.000", "21.539"),
        ),
        // Every wait was requested by the server.
        concat!(
            hinted!("a", "00.000", "02.100"), hinted!("b", "03.000", "05.101"), hinted!("c", "06.000", "08.102"),
            hinted!("d", "09.000", "11.100"), hinted!("e", "12.000", "14.103"), hinted!("f", "15.000", "17.100"),
            hinted!("g", "18.000", "20.101"), hinted!("h", "21.000", "23.100"),
        ),
        // Each request was made smaller after it had been refused, which is no retry.
        concat!(
            repaired!("a", "00.000", "00.300"), repaired!("b", "03.000", "03.301"), repaired!("c", "06.000", "06.300"),
            repaired!("d", "09.000", "09.302"), repaired!("e", "12.000", "12.300"), repaired!("f", "15.000", "15.301"),
            repaired!("g", "18.000", "18.300"), repaired!("h", "21.000", "21.301"),
        ),
        // Too few waits to tell.
        concat!(
            retried!("a", "00.000", "01.100"), retried!("b", "03.000", "04.101"), retried!("c", "06.000", "07.102"),
            retried!("d", "09.000", "10.100"), retried!("e", "12.000", "13.103"), retried!("f", "15.000", "16.100"),
        ),
        // Waits of whole seconds, both by the clock of the log and as logged by the client, may be rounded.
        concat!(
            planned!("a", "00", "1", "01"), planned!("b", "02", "1", "03"), planned!("c", "04", "1", "05"),
            planned!("d", "06", "1", "07"), planned!("e", "08", "1", "09"), planned!("f", "10", "1", "11"),
            planned!("g", "12", "1", "13"), planned!("h", "14", "1", "15"),
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let min_waits = settings.get(RULE.code, &WAITS) as u64;
    let spread = settings.get(RULE.code, &SPREAD);
    backoffs::each(fleet, |key, tally| judge(fleet, key, tally, min_waits, spread))
}

fn judge(fleet: &Fleet<'_>, key: LoopKey, tally: &LoopTally, min_waits: u64, spread: f64) -> Option<Hit> {
    let is_equal = |step: &Step| {
        step.waits.count() >= min_waits
            && shared::micros(step.waits.quantile_s(0.5)) >= tally.no_wait_us()
            && step.waits.are_equal(spread)
    };
    let steps: Vec<(u8, &Step)> =
        tally.steps.iter().map(|(number, step)| (*number, step)).filter(|(_, step)| is_equal(step)).collect();
    // The step with the most waits; of several, the first.
    let (number, widest) = steps.iter().rev().max_by_key(|(_, step)| step.waits.count())?;
    let waits = &widest.waits;
    let others =
        if steps.len() > 1 { format!("; {} of its steps are alike in that", steps.len()) } else { String::new() };
    // The width shown is at least the resolution of the histogram.
    let width = (waits.quantile_s(0.95) - waits.quantile_s(0.05)).max(waits.quantile_s(0.5) * Waits::RESOLUTION);
    let message = format!(
        "{} wait {} before the {} retry, every time ({} waits, nine in ten of them within {}){others}",
        backoffs::label(fleet, key),
        shared::seconds(waits.quantile_s(0.5)),
        backoffs::ordinal(*number),
        waits.count(),
        shared::seconds(width),
    );
    let hit = backoffs::hit(key, message, steps.iter().map(|(_, step)| *step));
    Some(
        hit.count("waits", waits.count())
            .count("retry", (*number).into())
            .number("median_s", waits.quantile_s(0.5))
            .number("spread", waits.spread()),
    )
}
