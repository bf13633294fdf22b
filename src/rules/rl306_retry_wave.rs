//! Retries that come in waves: calls that failed together retry together and fail together again.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, backoffs, shared};
use crate::measure::{Fleet, Jitter, LoopKey, Train, WaveTerms};
use crate::model::{Confidence, Evidence, Remedy, Scope as Limits, Severity};

const LASTING: Setting = Setting {
    name: "lasting",
    default: 3.0,
    unit: "",
    meaning: "waves that no jitter worth the name lets happen, so that nothing need be known of the waits",
};

const CALLS: Setting =
    Setting { name: "calls", default: 10.0, unit: "", meaning: "retries of so many calls within 250 ms make a wave" };
const SHARE: Setting = Setting {
    name: "share",
    default: 0.5,
    unit: "",
    meaning: "least share they are of all calls that were waiting for a retry meanwhile",
};
const WAVES: Setting = Setting {
    name: "waves",
    default: 2.0,
    unit: "",
    meaning: "least waves of a train: two or more, each of calls that were in the one before",
};

/// One attempt of a call, at second `$at` of the minute.
macro_rules! sent {
    ($call:literal, $number:literal, $at:literal, $rest:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $at,
            r#"Z","model":"m","call_id":""#,
            $call,
            r#"","attempt":"#,
            $number,
            r#","duration_ms":20,"#,
            $rest,
            "}\n"
        )
    };
}
/// A call that meets an overload three times.
macro_rules! thrice {
    ($call:literal, $a:literal, $b:literal, $c:literal) => {
        concat!(
            sent!($call, "1", $a, r#""status":529,"error_type":"overloaded_error""#),
            sent!($call, "2", $b, r#""status":529,"error_type":"overloaded_error""#),
            sent!($call, "3", $c, r#""status":529,"error_type":"overloaded_error""#)
        )
    };
}
/// A call that meets an overload once.
macro_rules! twice {
    ($call:literal, $a:literal, $b:literal) => {
        concat!(
            sent!($call, "1", $a, r#""status":529,"error_type":"overloaded_error""#),
            sent!($call, "2", $b, r#""status":200"#)
        )
    };
}
/// A call that is told to wait 5 s, twice.
macro_rules! hinted {
    ($call:literal, $a:literal, $b:literal, $c:literal) => {
        concat!(
            sent!($call, "1", $a, r#""status":429,"retry_after":5,"error_type":"rate_limit_error""#),
            sent!($call, "2", $b, r#""status":429,"retry_after":5,"error_type":"rate_limit_error""#),
            sent!($call, "3", $c, r#""status":200"#)
        )
    };
}

/// Catalogue entry of the rule.
// The calls of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL306",
    name: "retry-wave",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "Retries of many calls arrived together, were refused together, and came back together.",
    why: "Waits that are alike keep a crowd together: each wave is as large as the overload that made it, and is \
          refused for that very reason, while the time between two waves goes unused.",
    fix: "Draw each wait at random between 0 and the nominal wait (full jitter), and add jitter on top of a wait the \
          server named; let a shared gate release the waiting calls one by one.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter: without jitter, clusters of calls stay together",
    needs: &[Field::Time, Field::CallId],
    settings: &[CALLS, SHARE, WAVES, LASTING],
    exceptions: &[&[
        "A loop with full or equal jitter made no wave: what came together did so by chance.",
        "Attempts of a clock of whole seconds are not judged.",
        "Narrow jitter is info, and so are waits the log does not show, unless there are three waves.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        // Refused within 6 ms, and fewer each time.
        concat!(
            thrice!("a", "00.000", "02.020", "06.040"), thrice!("b", "00.001", "02.021", "06.041"),
            thrice!("c", "00.002", "02.022", "06.042"), thrice!("d", "00.003", "02.023", "06.043"),
            thrice!("e", "00.004", "02.024", "06.044"), thrice!("f", "00.005", "02.025", "06.045"),
            thrice!("g", "00.006", "02.026", "06.046"), thrice!("h", "00.007", "02.027", "06.047"),
            thrice!("i", "00.008", "02.028", "06.048"), thrice!("j", "00.009", "02.029", "06.049"),
            twice!("k", "00.010", "02.030"), twice!("l", "00.011", "02.031"), twice!("m", "00.012", "02.032"),
            twice!("n", "00.013", "02.033"), twice!("o", "00.014", "02.034"),
        ),
        concat!(
            thrice!("a", "00.000", "02.020", "04.040"), thrice!("b", "00.010", "02.030", "04.050"),
            thrice!("c", "00.012", "02.035", "04.055"), thrice!("d", "00.015", "02.036", "04.056"),
            thrice!("e", "00.020", "02.040", "04.060"), thrice!("f", "00.022", "02.042", "04.062"),
            thrice!("g", "00.025", "02.045", "04.065"), thrice!("h", "00.030", "02.050", "04.070"),
            thrice!("i", "00.035", "02.055", "04.075"), thrice!("j", "00.040", "02.060", "04.080"),
        ),
        // All of them obey the same hint exactly.
        concat!(
            hinted!("a", "00.000", "05.021", "10.045"), hinted!("b", "00.010", "05.031", "10.055"),
            hinted!("c", "00.012", "05.035", "10.058"), hinted!("d", "00.015", "05.037", "10.059"),
            hinted!("e", "00.020", "05.042", "10.065"), hinted!("f", "00.022", "05.043", "10.067"),
            hinted!("g", "00.025", "05.047", "10.069"), hinted!("h", "00.030", "05.052", "10.074"),
            hinted!("i", "00.035", "05.057", "10.079"), hinted!("j", "00.040", "05.062", "10.084"),
        ),
        // Without durations, it is unknown how the calls waited, so this is an info.
        r#"{"ts":"2026-03-10T09:00:00.031Z","model":"m","call_id":"a","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.037Z","model":"m","call_id":"b","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.040Z","model":"m","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.047Z","model":"m","call_id":"d","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.037Z","model":"m","call_id":"e","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.046Z","model":"m","call_id":"f","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.001Z","model":"m","call_id":"g","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.023Z","model":"m","call_id":"h","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.047Z","model":"m","call_id":"i","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:00.032Z","model":"m","call_id":"j","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.216Z","model":"m","call_id":"a","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.027Z","model":"m","call_id":"b","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.113Z","model":"m","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.059Z","model":"m","call_id":"d","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.131Z","model":"m","call_id":"e","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.138Z","model":"m","call_id":"f","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.003Z","model":"m","call_id":"g","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.052Z","model":"m","call_id":"h","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.067Z","model":"m","call_id":"i","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02.220Z","model":"m","call_id":"j","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.184Z","model":"m","call_id":"a","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.038Z","model":"m","call_id":"b","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.191Z","model":"m","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.033Z","model":"m","call_id":"d","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.148Z","model":"m","call_id":"e","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.030Z","model":"m","call_id":"f","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.000Z","model":"m","call_id":"g","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.209Z","model":"m","call_id":"h","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.050Z","model":"m","call_id":"i","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:06.052Z","model":"m","call_id":"j","attempt":3,"status":529,"error_type":"overloaded_error"}"#,
    ],
    near_misses: &[
        // As many calls, each with a different wait.
        concat!(
            thrice!("a", "00.000", "00.420", "03.040"), thrice!("b", "00.010", "01.930", "02.450"),
            thrice!("c", "00.012", "00.735", "04.055"), thrice!("d", "00.015", "01.136", "01.556"),
            thrice!("e", "00.020", "01.440", "05.060"), thrice!("f", "00.022", "00.942", "02.862"),
            thrice!("g", "00.025", "01.745", "03.765"), thrice!("h", "00.030", "00.550", "01.070"),
            thrice!("i", "00.035", "01.255", "04.575"), thrice!("j", "00.040", "01.660", "02.180"),
        ),
        // Nine calls are too few.
        concat!(
            thrice!("a", "00.000", "02.020", "04.040"), thrice!("b", "00.010", "02.030", "04.050"),
            thrice!("c", "00.012", "02.035", "04.055"), thrice!("d", "00.015", "02.036", "04.056"),
            thrice!("e", "00.020", "02.040", "04.060"), thrice!("f", "00.022", "02.042", "04.062"),
            thrice!("g", "00.025", "02.045", "04.065"), thrice!("h", "00.030", "02.050", "04.070"),
            thrice!("i", "00.035", "02.055", "04.075"),
        ),
        // Timestamps of whole seconds merge attempts that may have been apart.
        concat!(
            thrice!("a", "00", "02", "04"), thrice!("b", "00", "02", "04"), thrice!("c", "00", "02", "04"),
            thrice!("d", "00", "02", "04"), thrice!("e", "00", "02", "04"), thrice!("f", "00", "02", "04"),
            thrice!("g", "00", "02", "04"), thrice!("h", "00", "02", "04"), thrice!("i", "00", "02", "04"),
            thrice!("j", "00", "02", "04"),
        ),
    ],
};

/// Returns the thresholds for a train of waves.
pub(super) fn terms(settings: &Settings) -> WaveTerms {
    WaveTerms {
        calls: settings.get(RULE.code, &CALLS).max(2.0) as u64,
        share: settings.get(RULE.code, &SHARE),
        waves: settings.get(RULE.code, &WAVES) as u64,
    }
}

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let terms = terms(settings);
    let mut hits = Vec::new();
    for (scope, tally) in fleet.sorted_scopes() {
        let trains = tally.short_window.trains(&terms);
        hits.extend(trains.iter().filter_map(|train| judge(fleet, scope, train, settings)));
    }
    hits
}

/// Reason why the calls of a train stay together.
enum Cause {
    /// Their waits are equal.
    NoJitter,
    /// They waited exactly as long as the server requested.
    Hint,
    /// Their jitter is narrow, so they spread only slowly.
    NarrowJitter,
    /// The log does not show how they waited.
    Unknown,
}

fn judge(fleet: &Fleet<'_>, scope: Limits, train: &Train, settings: &Settings) -> Option<Hit> {
    let cause = if train.server_requested * 2 > train.sends { Cause::Hint } else { loop_cause(fleet, train)? };
    let (words, severity) = match cause {
        Cause::Hint => ("each wait was what the server had asked for, with nothing on top", None),
        Cause::NoJitter => ("the waits have no jitter", None),
        Cause::NarrowJitter => {
            ("the waits have narrow jitter, which draws the calls apart slowly", Some(Severity::Info))
        }
        Cause::Unknown if train.waves as f64 >= settings.get(RULE.code, &LASTING) => {
            ("the log does not show how the calls waited", None)
        }
        Cause::Unknown => ("the log does not show how the calls waited", Some(Severity::Info)),
    };
    let mut hit = Hit::new(format!(
        "retries on {} came in {} waves, {} apart, of up to {} calls within 250 ms; {} of their {} attempts were refused; {words}",
        fleet.scope_label(&scope),
        train.waves,
        periods(train.periods_s),
        train.most,
        train.refused,
        train.sends,
    ))
    .count("waves", train.waves)
    .number("period_s", train.periods_s.0)
    .number("longest_period_s", train.periods_s.1)
    .count("most_calls", train.most)
    .count("sends", train.sends)
    .count("refused", train.refused)
    .figure("first_wave", Evidence::At(train.first))
    .figure("last_wave", Evidence::At(train.last));
    hit.severity = severity;
    if matches!(cause, Cause::Unknown) {
        hit.confidence = Confidence::Low;
    }
    hit.rows.extend_from_slice(&train.examples);
    hit.scope = Some(scope);
    Some(hit)
}

/// Returns how the loop waits that sent the first of these retries; `None` if its jitter is wide, so that the retries
/// coincided by chance.
fn loop_cause(fleet: &Fleet<'_>, train: &Train) -> Option<Cause> {
    let origin = train.examples.first().map(|row| fleet.table.origin(&fleet.table.rows[*row as usize]));
    let jitter = [false, true].into_iter().find_map(|outer| {
        let origin = origin?;
        let key = LoopKey { provider: origin.provider, client: origin.client, layer: origin.layer, outer };
        fleet.backoffs.of(&key)?.schedule().jitter
    });
    match jitter {
        Some(Jitter::Full | Jitter::Equal) => None,
        Some(Jitter::Narrow) => Some(Cause::NarrowJitter),
        Some(Jitter::None) => Some(Cause::NoJitter),
        // If a loop's waits are unknown, the waves themselves show whether they were alike.
        None if train.equal_waits => Some(Cause::NoJitter),
        None => Some(Cause::Unknown),
    }
}

/// Returns words such as "2 s", or "1 s to 8 s" if waits grow.
fn periods((shortest, longest): (f64, f64)) -> String {
    shared::seconds_range(backoffs::tenths(shortest), backoffs::tenths(longest))
}
