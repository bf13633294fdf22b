//! Many calls start at once, and some are refused for that reason.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::measure::{Fanout, FanoutTerms, Fleet};
use crate::model::{Confidence, Evidence, Remedy, Scope as Limits, Severity};

const STARTS: Setting =
    Setting { name: "starts", default: 12.0, unit: "", meaning: "calls that start within one second" };
const REFUSED_SHARE: Setting = Setting {
    name: "met_share",
    default: 0.25,
    unit: "",
    meaning: "share of them whose first attempt meets a rate limit, an overload or a 503",
};
const OVER_BASELINE: Setting = Setting {
    name: "over_normal",
    default: 3.0,
    unit: "",
    meaning: "how many times the usual rate of starts, over the half minute before it or the one after, whichever is \
              busier, makes a burst",
};

const DEVIATIONS: Setting = Setting {
    name: "deviations",
    default: 8.0,
    unit: "",
    meaning: "standard deviations above the usual number of starts: no chance puts so many there",
};
const BASELINE: Setting = Setting {
    name: "usual_s",
    default: 30.0,
    unit: "s",
    meaning: "how long before it, and after it, is looked at for the usual rate of starts",
};
const NEAR: Setting = Setting {
    name: "near_s",
    default: 10.0,
    unit: "s",
    meaning: "how long before it, and after it, failures as common are an outage",
};

/// A call at 09:00: second, name, and further fields of its record.
macro_rules! call {
    ($second:literal, $call:literal, $rest:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","run_id":"r","model":"m","call_id":""#,
            $call,
            "\",",
            $rest,
            "}\n"
        )
    };
}
macro_rules! ok {
    ($second:literal, $call:literal) => {
        call!($second, $call, r#""status":200"#)
    };
}
macro_rules! overloaded {
    ($second:literal, $call:literal) => {
        call!($second, $call, r#""status":529,"error_type":"overloaded_error""#)
    };
}
macro_rules! limited {
    ($second:literal, $call:literal) => {
        call!($second, $call, r#""status":429,"error_type":"rate_limit_error","retry_after":2"#)
    };
}
macro_rules! unavailable {
    ($second:literal, $call:literal) => {
        call!($second, $call, r#""status":503,"error_type":"api_error""#)
    };
}
macro_rules! reset {
    ($second:literal, $call:literal) => {
        call!($second, $call, r#""kind":"connection_error""#)
    };
}

/// Catalogue entry of the rule.
// The calls of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL506",
    name: "fan-out-burst",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "Many calls were started at once, and a good part of them met a rate limit or an overload at once.",
    why: "A limit per minute may be enforced per second, and capacity for one second is all there is in that \
          second: calls that start together are refused together, and retry together.",
    fix: "Start the calls of a fan-out staggered, or through a queue of fixed width, so that about as many start \
          in a second as the scope lets through.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: 60 requests a minute may be enforced as 1 a second, and \
             sharp ramps meet acceleration limits; AWS Architecture Blog, Exponential Backoff And Jitter",
    needs: &[Field::Time, Field::CallIdentity],
    settings: &[STARTS, REFUSED_SHARE, OVER_BASELINE, DEVIATIONS, BASELINE, NEAR],
    exceptions: &[&[
        "A rate of starts that is usual before or after makes no burst.",
        "Spent money and usage windows do not count.",
        "An overload that lets nobody through, or that several runs meet together, is info.",
        "Failures as common before and after are an outage.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            ok!("00.00", "a"), ok!("00.01", "b"), ok!("00.02", "c"), ok!("00.03", "d"),
            overloaded!("00.04", "e"), overloaded!("00.05", "f"), overloaded!("00.06", "g"), overloaded!("00.07", "h"),
            overloaded!("00.08", "i"), overloaded!("00.09", "j"), overloaded!("00.10", "k"), overloaded!("00.11", "l"),
        ),
        // A call every two seconds, then twelve within one: the organisation's own limit refuses a third of them.
        concat!(
            ok!("00", "A"), ok!("02", "B"), ok!("04", "C"), ok!("06", "D"), ok!("08", "E"), ok!("10", "F"),
            ok!("12.0", "a"), ok!("12.1", "b"), ok!("12.2", "c"), ok!("12.3", "d"), ok!("12.4", "e"), ok!("12.5", "f"),
            ok!("12.6", "g"), ok!("12.65", "h"), limited!("12.7", "i"), limited!("12.75", "j"), limited!("12.8", "k"),
            limited!("12.9", "l"), ok!("20", "G"), ok!("22", "H"),
        ),
        // Of twelve, four meet a 503 of whatever type and four lose the connection: four succeed.
        concat!(
            ok!("00.00", "a"), ok!("00.01", "b"), ok!("00.02", "c"), ok!("00.03", "d"),
            unavailable!("00.04", "e"), unavailable!("00.05", "f"), unavailable!("00.06", "g"),
            unavailable!("00.07", "h"), reset!("00.08", "i"), reset!("00.09", "j"), reset!("00.10", "k"),
            reset!("00.11", "l"),
        ),
    ],
    near_misses: &[
        // Two of twelve: an occasional rate limit.
        concat!(
            ok!("00.00", "a"), ok!("00.01", "b"), ok!("00.02", "c"), ok!("00.03", "d"), ok!("00.04", "e"),
            ok!("00.05", "f"), ok!("00.06", "g"), ok!("00.07", "h"), ok!("00.08", "i"), ok!("00.09", "j"),
            limited!("00.10", "k"), limited!("00.11", "l"),
        ),
        // As many calls, spread over twelve seconds.
        concat!(
            ok!("00", "a"), ok!("01", "b"), ok!("02", "c"), ok!("03", "d"), overloaded!("04", "e"),
            overloaded!("05", "f"), overloaded!("06", "g"), overloaded!("07", "h"), ok!("08", "i"), ok!("09", "j"),
            ok!("10", "k"), ok!("11", "l"),
        ),
        // A busy scope with a constant six starts in half a second meets an overload: there was no burst.
        concat!(
            ok!("00.0", "a"), ok!("00.1", "b"), ok!("00.2", "c"), ok!("00.3", "d"), ok!("00.4", "e"), ok!("00.45", "f"),
            ok!("00.5", "g"), ok!("00.6", "h"), ok!("00.7", "i"), ok!("00.8", "j"), ok!("00.9", "k"), ok!("00.95", "l"),
            ok!("01.0", "m"), ok!("01.1", "n"), ok!("01.2", "o"), overloaded!("01.3", "p"), overloaded!("01.4", "q"),
            overloaded!("01.45", "r"), overloaded!("01.5", "s"), overloaded!("01.6", "t"), overloaded!("01.7", "u"),
            overloaded!("01.8", "v"), overloaded!("01.9", "w"), overloaded!("01.95", "x"), ok!("02.0", "y"),
            ok!("02.1", "z"), ok!("02.2", "A"), ok!("02.3", "B"), ok!("02.4", "C"), ok!("02.45", "D"), ok!("02.5", "E"),
            ok!("02.6", "F"), ok!("02.7", "G"), ok!("02.8", "H"), ok!("02.9", "I"), ok!("02.95", "J"),
        ),
        // Twelve at once during an outage that the calls before and after them met as well.
        concat!(
            overloaded!("04", "A"), overloaded!("06", "B"), overloaded!("08", "C"), overloaded!("10", "D"),
            ok!("12.0", "a"), ok!("12.1", "b"), ok!("12.2", "c"), overloaded!("12.3", "d"), overloaded!("12.4", "e"),
            overloaded!("12.5", "f"), overloaded!("12.6", "g"), overloaded!("12.65", "h"), overloaded!("12.7", "i"),
            overloaded!("12.75", "j"), overloaded!("12.8", "k"), overloaded!("12.9", "l"), overloaded!("15", "E"),
            overloaded!("17", "F"), ok!("19", "G"), ok!("21", "H"),
        ),
        // A spent cap refuses all calls at any rate.
        concat!(
            call!("00.00", "a", r#""status":429,"error_code":"enforced_spend_limit_reached""#),
            call!("00.01", "b", r#""status":429,"error_code":"enforced_spend_limit_reached""#),
            call!("00.02", "c", r#""status":429,"error_code":"enforced_spend_limit_reached""#),
            call!("00.03", "d", r#""status":429,"error_code":"enforced_spend_limit_reached""#),
            ok!("00.04", "e"), ok!("00.05", "f"), ok!("00.06", "g"), ok!("00.07", "h"), ok!("00.08", "i"),
            ok!("00.09", "j"), ok!("00.10", "k"), ok!("00.11", "l"),
        ),
    ],
};

/// Returns the thresholds for a burst.
pub(super) fn terms(settings: &Settings) -> FanoutTerms {
    FanoutTerms {
        starts: settings.get(RULE.code, &STARTS) as u64,
        refused_share: settings.get(RULE.code, &REFUSED_SHARE),
        over_baseline: settings.get(RULE.code, &OVER_BASELINE),
        deviations: settings.get(RULE.code, &DEVIATIONS),
        baseline_us: shared::period_us(settings.get(RULE.code, &BASELINE)),
        near_us: shared::period_us(settings.get(RULE.code, &NEAR)),
    }
}

fn check(fleet: &Fleet<'_>, _: &Settings) -> Vec<Hit> {
    let scopes = fleet.sorted_scopes().into_iter();
    scopes.filter_map(|(scope, tally)| Some(hit(fleet, scope, &tally.short_window.worst_fanout()?))).collect()
}

fn hit(fleet: &Fleet<'_>, scope: Limits, fanout: &Fanout) -> Hit {
    let passed = fanout.succeeded;
    let stagger_s = (passed > 0).then(|| (fanout.starts as f64 / passed as f64).ceil());
    let advice = match stagger_s {
        Some(s) => format!("{passed} succeeded at once, so starts spread over {s:.0} s would have fitted"),
        None => "none succeeded at once".to_owned(),
    };
    let otherwise = match fanout.starts - fanout.refused - passed {
        0 => String::new(),
        failed => format!(", and {failed} failed otherwise"),
    };
    let bursts_words =
        if fanout.bursts > 1 { format!(" (the worst of {} such bursts)", fanout.bursts) } else { String::new() };
    let mut hit = Hit::new(format!(
        "{} calls on {} started within a second{bursts_words}, and {} of them were refused at once, by a rate limit or for lack of \
         capacity{otherwise}; {advice}",
        fanout.starts,
        fleet.scope_label(&scope),
        fanout.refused,
    ))
    .count("starts", fanout.starts)
    .count("met", fanout.refused)
    .count("passed", passed)
    .count("bursts", fanout.bursts)
    .number("usual_starts_per_s", fanout.baseline_per_s)
    .figure("at", Evidence::At(fanout.at));
    if let Some(s) = stagger_s {
        hit = hit.number("stagger_s", s);
    }
    hit.severity = may_have_another_cause(fanout).then_some(Severity::Info);
    if hit.severity.is_some() {
        hit.confidence = Confidence::Low;
    }
    hit.rows.extend(fanout.examples.iter().copied());
    hit.scope = Some(scope);
    hit
}

/// Returns whether something else may have caused the failures: an overload under which no call succeeds, or that
/// affects many runs, needs no burst as its cause, unlike the caller's own rate limit.
fn may_have_another_cause(fanout: &Fanout) -> bool {
    !fanout.rate_limited && (fanout.succeeded == 0 || fanout.many_runs)
}
