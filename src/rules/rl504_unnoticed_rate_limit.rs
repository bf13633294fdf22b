//! A run that depends on its retries.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::measure::{Fleet, RunTally};
use crate::model::{Remedy, Severity, Symbol};

const SHARE: Setting =
    Setting { name: "late_share", default: 0.2, unit: "", meaning: "share of the run's calls that succeed late" };
const CALLS: Setting = Setting { name: "min_late_calls", default: 10.0, unit: "", meaning: "calls that succeed late" };
const LATE: Setting = Setting {
    name: "late_attempt",
    default: 3.0,
    unit: "",
    meaning: "a success on this attempt or a later one is late",
};
const SPREAD: Setting = Setting {
    name: "spread",
    default: 0.5,
    unit: "",
    meaning: "share of the run's time between the first and the last of them: what comes once is an incident",
};
const WAITING: Setting = Setting {
    name: "waiting",
    default: 0.2,
    unit: "",
    meaning: "calls that were waiting for the limit at any time of the run, on average",
};

/// A call at a minute past nine: two 429s, and a success on the third attempt.
macro_rules! late {
    ($class:literal: $($minute:literal),*) => {
        concat!($(
            r#"{"ts":"2026-03-10T09:"#, $minute, r#":00Z","run_id":"r","call_id":"l"#, $minute, r#"","duration_ms":100,"#, $class, "}\n",
            r#"{"ts":"2026-03-10T09:"#, $minute, r#":10.2Z","run_id":"r","call_id":"l"#, $minute, r#"","duration_ms":100,"#, $class, "}\n",
            r#"{"ts":"2026-03-10T09:"#, $minute, r#":20.4Z","run_id":"r","call_id":"l"#, $minute, r#"","duration_ms":100,"status":200}"#, "\n"
        ),*)
    };
}
/// A call that succeeds at once.
macro_rules! ok {
    ($($minute:literal $second:literal),*) => {
        concat!($(
            r#"{"ts":"2026-03-10T09:"#, $minute, ":", $second, r#"Z","run_id":"r","call_id":"o"#, $minute, $second, r#"","status":200}"#, "\n"
        ),*)
    };
}

/// Catalogue entry of the rule.
///
/// Only rate limits count, not overloads, which affect everyone. Rate limits confined to a part of the run are an
/// incident that its retries handled, which is their purpose.
// The examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL504",
    name: "unnoticed-rate-limit",
    severity: Severity::Warning,
    scope: Scope::Run,
    summary: "A good part of the run's calls succeeded only on the third attempt or later, after rate limits, all the time.",
    why: "Such a run is green and slow: it asks for more than its limit, and what looks like latency is the wait for \
          the limit. Retries hide it until the load grows a little.",
    fix: "Put a queue at the limit's rate in front of the calls, lower the number of workers, or ask for a higher \
          limit; then retries are for what is out of the ordinary.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: token bucket, refilled continuously; a call that routinely \
             succeeds on attempt 3 runs at a limit nobody has noticed",
    needs: &[Field::Time, Field::CallIdentity],
    settings: &[SHARE, CALLS, LATE, SPREAD, WAITING],
    exceptions: &[&[
        "Overloads do not count: they are everyone's.",
        "Late calls within a short part of the run are an incident.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        late!(r#""status":429,"error_type":"rate_limit_error","retry_after":10"#:
            "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10"),
        concat!(
            late!(r#""status":429,"error_type":"rate_limit_exceeded""#:
                "00", "01", "02", "03", "04", "05", "06", "07", "08", "09"),
            ok!("00" "30", "01" "30", "02" "30", "03" "30", "04" "30", "05" "30", "06" "30", "07" "30", "08" "30"),
        ),
    ],
    near_misses: &[
        // Overloads, not rate limits.
        late!(r#""status":529,"error_type":"overloaded_error""#: "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10"),
        // All of them within ten minutes of an hour.
        concat!(
            late!(r#""status":429,"error_type":"rate_limit_error""#:
                "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10"),
            ok!("20" "00", "25" "00", "30" "00", "35" "00", "40" "00", "45" "00", "50" "00", "55" "00"),
        ),
        // Too few to be typical of the run.
        late!(r#""status":429,"error_type":"rate_limit_error""#: "00", "05", "10", "15"),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let get = |setting| settings.get(RULE.code, setting);
    let (share, min_calls, spread, waiting) = (get(&SHARE), get(&CALLS), get(&SPREAD), get(&WAITING));
    let runs = fleet.sorted_runs().into_iter();
    runs.filter_map(|(_, run, tally)| {
        let (late, calls) = (&tally.late, tally.calls());
        if (late.calls as f64) < min_calls.max(share * calls as f64) {
            return None;
        }
        let span = tally.last.s_since(tally.first);
        let spread_s = late.last?.s_since(late.first?.sent);
        let waiting_on_average = late.waited.s() / span;
        (span > 0.0 && spread_s >= spread * span && waiting_on_average >= waiting)
            .then(|| hit(run, tally, waiting_on_average, late_attempt(settings)))
    })
    .collect()
}

/// Returns the number of the attempt from which on a success is late.
pub(super) fn late_attempt(settings: &Settings) -> usize {
    settings.get(RULE.code, &LATE).max(2.0) as usize
}

fn hit(run: Symbol, tally: &RunTally, waiting: f64, late_attempt: usize) -> Hit {
    let (late, calls) = (&tally.late, tally.calls());
    let mut hit = Hit::new(format!(
        "{} of {calls} calls succeeded only on attempt {late_attempt} or later, after {} rate limits and {} of waiting",
        late.calls,
        late.refused,
        late.waited.words(),
    ))
    .count("late_calls", late.calls)
    .count("calls", calls)
    .count("refusals_429", late.refused)
    .number("waited_s", late.waited.s())
    .number("calls_waiting_on_average", waiting);
    hit.rows.extend(late.first.map(|row_ref| row_ref.row));
    hit.run = Some(run);
    hit
}
