//! Refusals although little of the limits was used, directly after the rate of starts had risen.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::measure::{Fleet, Ramp, RampTerms};
use crate::model::{Confidence, Evidence, LimitKind, Remedy, Scope as Limits, Severity, Time};

const NEAR: Setting = Setting {
    name: "near_s",
    default: 60.0,
    unit: "s",
    meaning: "how far from the first 429 headers may lie that show what was left",
};

const RISE: Setting =
    Setting { name: "rise", default: 5.0, unit: "", meaning: "times the rate of starts in the minute before" };
const BEFORE: Setting = Setting {
    name: "min_starts_before",
    default: 5.0,
    unit: "",
    meaning: "starts in the minute before: from nothing, any rate is a rise",
};
const DEVIATIONS: Setting = Setting {
    name: "deviations",
    default: 8.0,
    unit: "",
    meaning: "standard deviations by which the rate must have risen: no chance puts it there",
};
const STARTS: Setting =
    Setting { name: "min_starts", default: 20.0, unit: "", meaning: "starts in the ten seconds before the first 429" };
const REFUSALS: Setting =
    Setting { name: "min_429s", default: 3.0, unit: "", meaning: "429s within a minute from the first on" };
const RISE_PERIOD: Setting = Setting {
    name: "risen_s",
    default: 10.0,
    unit: "s",
    meaning: "the rise is looked for in this time before the first 429",
};
const BASELINE: Setting = Setting {
    name: "before_s",
    default: 60.0,
    unit: "s",
    meaning: "the time before that whose rate is the usual one, and after the first 429 in which further ones count",
};
const MIN_BASELINE: Setting =
    Setting { name: "least_before_s", default: 30.0, unit: "s", meaning: "how much of that time the log must hold" };
const HEADROOM: Setting = Setting {
    name: "headroom_share",
    default: 0.2,
    unit: "",
    meaning: "share of every known limit that must have been left",
};

/// A call: time within the hour, name, and further fields of its record.
macro_rules! call {
    ($minute:literal, $second:literal, $call:literal, $rest:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            ":",
            $second,
            r#"Z","model":"m","duration_ms":40,"call_id":""#,
            $minute,
            $call,
            "\",",
            $rest,
            "}\n"
        )
    };
}
/// Six calls in the minute before.
macro_rules! slow {
    ($rest:literal) => {
        concat!(
            call!("00", "00", "A", $rest),
            call!("00", "10", "B", $rest),
            call!("00", "20", "C", $rest),
            call!("00", "30", "D", $rest),
            call!("00", "40", "E", $rest),
            call!("00", "50", "F", $rest),
        )
    };
}
/// 24 calls within five seconds.
macro_rules! fast {
    ($rest:literal: $($second:literal $call:literal),*) => { concat!($(call!("01", $second, $call, $rest)),*) };
}
macro_rules! ramp {
    ($ok:literal, $refused:literal) => {
        concat!(
            slow!($ok),
            fast!($ok: "02.0" "a", "02.2" "b", "02.4" "c", "02.6" "d", "02.8" "e", "03.0" "f", "03.2" "g", "03.4" "h",
                "03.6" "i", "03.8" "j", "04.0" "k", "04.2" "l", "04.4" "m", "04.6" "n", "04.8" "o", "05.0" "p",
                "05.2" "q", "05.4" "r", "05.6" "s", "05.8" "t", "06.0" "u"),
            fast!($refused: "06.2" "v", "06.4" "w", "06.6" "x", "06.8" "y"),
        )
    };
}

/// Catalogue entry of the rule.
// The examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL502",
    name: "acceleration-limit",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "429s came with plenty of every known limit left, right after the rate of new calls had jumped.",
    why: "Some providers limit how fast a rate may grow, besides the rate itself: a sharp ramp is refused although \
          the quota would have carried it. Retries then add to the ramp.",
    fix: "Ramp up gradually: double the number of workers every minute or so instead of starting all of them, and \
          warm up before a batch.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: a sharp increase in usage may meet acceleration limits; ramp \
             up traffic gradually",
    needs: &[Field::Time, Field::Headroom],
    settings: &[RISE, STARTS, REFUSALS, HEADROOM, NEAR, BEFORE, DEVIATIONS, RISE_PERIOD, BASELINE, MIN_BASELINE],
    exceptions: &[&[
        "Without headers that show what is left, nothing is said.",
        "Only headers near the first 429 are looked at.",
        "Overloads do not count.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        ramp!(r#""status":200,"x-ratelimit-limit-requests":4000,"x-ratelimit-remaining-requests":3900"#,
              r#""status":429,"error_type":"rate_limit_error","x-ratelimit-limit-requests":4000,"x-ratelimit-remaining-requests":3880"#),
        ramp!(r#""status":200,"headers":{"anthropic-ratelimit-input-tokens-limit":"800000","anthropic-ratelimit-input-tokens-remaining":"700000"}"#,
              r#""status":429,"error_type":"rate_limit_error","retry_after":3"#),
    ],
    near_misses: &[
        // The requests were used up: that is the limit itself.
        ramp!(r#""status":200,"x-ratelimit-limit-requests":30,"x-ratelimit-remaining-requests":12"#,
              r#""status":429,"error_type":"rate_limit_error","x-ratelimit-limit-requests":30,"x-ratelimit-remaining-requests":0"#),
        // No header shows what was left.
        ramp!(r#""status":200"#, r#""status":429,"error_type":"rate_limit_error","retry_after":3"#),
        // Refused for lack of capacity, not by a limit.
        ramp!(r#""status":200,"x-ratelimit-limit-requests":4000,"x-ratelimit-remaining-requests":3900"#,
              r#""status":529,"error_type":"overloaded_error""#),
    ],
};

/// Returns the thresholds for a ramp.
pub(super) fn terms(settings: &Settings) -> RampTerms {
    RampTerms {
        rise: settings.get(RULE.code, &RISE),
        starts: settings.get(RULE.code, &STARTS) as u64,
        refusals: settings.get(RULE.code, &REFUSALS) as u64,
        before: settings.get(RULE.code, &BEFORE) as u64,
        deviations: settings.get(RULE.code, &DEVIATIONS),
        rise_us: shared::period_us(settings.get(RULE.code, &RISE_PERIOD).max(1.0)),
        baseline_us: shared::period_us(settings.get(RULE.code, &BASELINE)),
        min_baseline_us: shared::period_us(settings.get(RULE.code, &MIN_BASELINE)),
    }
}

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let share = settings.get(RULE.code, &HEADROOM);
    let scopes = fleet.sorted_scopes().into_iter();
    scopes
        .filter_map(|(scope, tally)| {
            let near_us = shared::micros(settings.get(RULE.code, &NEAR));
            let ramps = tally.short_window.ramps().iter().copied();
            let with_headroom = ramps.filter_map(|ramp| {
                let least = lowest_headroom(fleet, scope, ramp.at, near_us).filter(|(left, _)| *left > share)?;
                Some((ramp, least))
            });
            let found: Vec<(Ramp, (f64, LimitKind))> = with_headroom.collect();
            let worst = *found.iter().max_by_key(|(ramp, _)| (ramp.refusals, std::cmp::Reverse(ramp.at)))?;
            Some(hit(fleet, scope, worst, found.len()))
        })
        .collect()
}

/// Returns the lowest remaining share of any known limit near `at`, and that limit.
fn lowest_headroom(fleet: &Fleet<'_>, scope: Limits, at: Time, near_us: i64) -> Option<(f64, LimitKind)> {
    let limits = LimitKind::ALL.into_iter().filter_map(|kind| Some((kind, fleet.table.headroom.get(scope, kind)?)));
    let near = limits.flat_map(|(kind, readings)| {
        let readings = readings.series.sorted().1.into_iter();
        let near = readings.filter(move |(_, summary)| {
            summary.last.0 >= at.plus_us(-near_us) && summary.first.0 <= at.plus_us(near_us)
        });
        near.map(move |(_, summary)| (summary.min_ratio(), kind))
    });
    near.min_by(|a, b| a.0.total_cmp(&b.0).then((a.1 as u8).cmp(&(b.1 as u8))))
}

fn hit(fleet: &Fleet<'_>, scope: Limits, (ramp, (left, kind)): (Ramp, (f64, LimitKind)), times: usize) -> Hit {
    let (before, after) = ramp.rates;
    let mut hit = Hit::new(format!(
        "new calls on {} rose from {before:.1} to {after:.1} a second within a minute, and {} were refused with 429 \
         while {:.0}% or more of every known limit was left",
        fleet.scope_label(&scope),
        ramp.refusals,
        (left * 100.0).floor(),
    ))
    .number("starts_per_s_before", before)
    .number("starts_per_s_after", after)
    .count("refusals_429", ramp.refusals)
    .number("least_headroom_share", left)
    .word("of_limit", kind.label())
    .count("times", times as u64)
    .figure("at", Evidence::At(ramp.at));
    hit.rows.push(ramp.row);
    hit.class = fleet.table.rows[ramp.row as usize].class;
    hit.scope = Some(scope);
    // A limit without headers would look the same in the log.
    hit.confidence = Confidence::Medium;
    hit
}
