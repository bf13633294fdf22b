//! The headers showed how little was left, and traffic did not slow down.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::measure::{ExhaustionTerms, Fleet, HeadroomExhaustion, exhaustions};
use crate::model::{
    Evidence, LimitKind, LimitReadings, ReadingSummary, Remedy, Scope as Limits, Severity, Time, units,
};
use std::collections::HashMap;

const UNDER: Setting =
    Setting { name: "under_share", default: 0.1, unit: "", meaning: "share of a limit under which it is running out" };
const RATE_KEPT: Setting = Setting {
    name: "rate_kept",
    default: 0.5,
    unit: "",
    meaning: "traffic goes on when its rate afterwards is at least this share of the rate before",
};
const FOLLOW: Setting = Setting {
    name: "follow_s",
    default: 60.0,
    unit: "s",
    meaning: "how long after a limit was used up a 429 is still due to it",
};
const SENDS: Setting = Setting {
    name: "min_sends",
    default: 10.0,
    unit: "",
    meaning: "attempts on the scope, from which on it is judged",
};
const READINGS: Setting = Setting {
    name: "min_readings",
    default: 5.0,
    unit: "",
    meaning: "readings that must show the limit running out where the log begins that way",
};
const STALE: Setting = Setting {
    name: "stale_s",
    default: 15.0,
    unit: "s",
    meaning: "how long after a low reading an older one may still come in: answers of some length take that long",
};
const LOOK: Setting = Setting {
    name: "look_s",
    default: 60.0,
    unit: "s",
    meaning: "how long after a limit ran low the rate is looked at",
};

/// A successful call: second, name, and how many of 50 requests are left.
macro_rules! ok {
    ($second:literal, $call:literal, $left:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","model":"m","status":200,"call_id":""#,
            $call,
            r#"","x-ratelimit-limit-requests":"50","x-ratelimit-remaining-requests":""#,
            $left,
            "\"}\n"
        )
    };
}
/// Like `ok`, for 80,000 input tokens, with requests to spare.
macro_rules! tokens {
    ($second:literal, $call:literal, $left:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","model":"m","status":200,"call_id":""#,
            $call,
            r#"","headers":{"anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"40","#,
            r#""anthropic-ratelimit-input-tokens-limit":"80000","anthropic-ratelimit-input-tokens-remaining":""#,
            $left,
            "\"}}\n"
        )
    };
}
/// A call that is refused with 429.
macro_rules! refused {
    ($second:literal, $call:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","model":"m","status":429,"call_id":""#,
            $call,
            r#"","retry_after":20,"error_type":"rate_limit_error","#,
            r#""x-ratelimit-limit-requests":"50","x-ratelimit-remaining-requests":"0"}"#,
            "\n"
        )
    };
}

/// Catalogue entry of the rule.
// The calls of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL503",
    name: "headroom-drained",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "A rate limit was nearly used up, as the headers said, while traffic stayed at the same rate.",
    why: "Every response tells what is left of each limit. Between the last tenth and the first 429 there is \
          time to slow down; without it the limit is hit at full speed, and everyone on it waits.",
    fix: "Read the remaining-capacity headers, and slow new requests down as a limit falls under a tenth: a queue at \
          the limit's rate, or a pause until its reset, for the limit that binds first.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: the anthropic-ratelimit headers give limit, remaining and \
             reset of each limit with every response",
    needs: &[Field::Time, Field::Headroom],
    settings: &[UNDER, RATE_KEPT, FOLLOW, SENDS, READINGS, STALE, LOOK],
    exceptions: &[&[
        "One attempt after the first low reading was on its way.",
        "A 429 that was under way at that moment left no time to slow down.",
        "A full reading soon after a low one, with low ones behind it, is no recovery.",
        "A log that begins low is judged from some low readings on.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            ok!("00", "a", "40"), ok!("01", "b", "32"), ok!("02", "c", "24"), ok!("03", "d", "18"),
            ok!("04", "e", "12"), ok!("05", "f", "8"), ok!("06", "g", "4"), ok!("07", "h", "2"),
            ok!("08", "i", "0"), refused!("09", "j"), refused!("10", "k"),
        ),
        // Tokens are the scarce limit, not requests; without a 429 so far, it is a warning.
        concat!(
            tokens!("00", "a", "52000"), tokens!("01", "b", "46000"), tokens!("02", "c", "38000"),
            tokens!("03", "d", "30000"), tokens!("04", "e", "22000"), tokens!("05", "f", "14000"),
            tokens!("06", "g", "7000"), tokens!("07", "h", "5000"), tokens!("08", "i", "3000"),
            tokens!("09", "j", "2000"), tokens!("10", "k", "1000"),
        ),
        // Low from the first reading on, and no slower in the second half than in the first.
        concat!(
            ok!("00", "a", "4"), ok!("01", "b", "4"), ok!("02", "c", "3"), ok!("03", "d", "3"),
            ok!("04", "e", "3"), ok!("05", "f", "2"), ok!("06", "g", "2"), ok!("07", "h", "2"),
            ok!("08", "i", "1"), ok!("09", "j", "1"), ok!("10", "k", "1"), ok!("11", "l", "1"),
        ),
        // An answer that took long reports an earlier state, which is no recovery.
        concat!(
            ok!("00", "a", "40"), ok!("01", "b", "32"), ok!("02", "c", "24"), ok!("03", "d", "18"),
            ok!("04", "e", "12"), ok!("05", "f", "4"), ok!("06", "g", "4"), ok!("07", "h", "30"),
            ok!("08", "i", "3"), ok!("09", "j", "2"), ok!("10", "k", "2"), ok!("11", "l", "1"),
        ),
    ],
    near_misses: &[
        // Attempts slow down to a third of their rate when little is left.
        concat!(
            ok!("00", "a", "40"), ok!("01", "b", "32"), ok!("02", "c", "24"), ok!("03", "d", "18"),
            ok!("04", "e", "12"), ok!("05", "f", "8"), ok!("06", "g", "4"), ok!("10", "h", "4"),
            ok!("14", "i", "4"), ok!("18", "j", "4"), ok!("22", "k", "4"), ok!("26", "l", "4"),
        ),
        // The one attempt after the first low reading had already been sent.
        concat!(
            ok!("00", "a", "46"), ok!("01", "b", "44"), ok!("02", "c", "40"), ok!("03", "d", "32"),
            ok!("04", "e", "24"), ok!("05", "f", "18"), ok!("06", "g", "12"), ok!("07", "h", "4"),
            ok!("08", "i", "3"), ok!("30", "j", "20"), ok!("31", "k", "20"),
        ),
        // Plenty is left at all times.
        concat!(
            ok!("00", "a", "49"), ok!("01", "b", "48"), ok!("02", "c", "49"), ok!("03", "d", "48"),
            ok!("04", "e", "49"), ok!("05", "f", "49"), ok!("06", "g", "49"), ok!("07", "h", "48"),
            ok!("08", "i", "49"), ok!("09", "j", "49"), ok!("10", "k", "49"), ok!("11", "l", "49"),
        ),
        // Nothing is left, but the log is too short to show how that came about.
        concat!(refused!("00", "a"), ok!("21", "a", "48"), ok!("22", "b", "47")),
        // The first reading below a tenth is that of the 429 itself: there was no time to slow down.
        concat!(
            ok!("00", "a", "40"), ok!("01", "b", "38"), ok!("02", "c", "36"), ok!("03", "d", "34"),
            ok!("04", "e", "32"), ok!("05", "f", "30"), ok!("06", "g", "28"), ok!("07", "h", "26"),
            ok!("08", "i", "24"), refused!("09", "j"), ok!("30", "k", "40"), ok!("31", "l", "39"),
        ),
    ],
};

type ReadingsByLimit<'a> = HashMap<(Limits, LimitKind), &'a LimitReadings>;

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let terms = ExhaustionTerms {
        under: settings.get(RULE.code, &UNDER),
        rate_kept: settings.get(RULE.code, &RATE_KEPT),
        follow_us: (settings.get(RULE.code, &FOLLOW) * 1e6) as i64,
        readings: settings.get(RULE.code, &READINGS) as usize,
        stale_us: (settings.get(RULE.code, &STALE) * 1e6) as i64,
        look_us: (settings.get(RULE.code, &LOOK) * 1e6) as i64,
    };
    let least_sends = settings.get(RULE.code, &SENDS) as u64;
    let by_limit: ReadingsByLimit<'_> =
        fleet.table.headroom.iter().map(|(scope, kind, readings)| ((scope, kind), readings)).collect();
    let scopes = fleet.sorted_scopes().into_iter();
    scopes
        .filter_map(|(scope, tally)| {
            let readings = readings_of(&by_limit, scope);
            let low = |(_, (_, list)): &(LimitKind, Readings)| {
                list.iter().any(|(_, summary)| summary.min_ratio() < terms.under)
            };
            if !readings.iter().any(low) {
                return None;
            }
            let traffic = tally.traffic();
            if traffic.sends() < least_sends {
                return None;
            }
            let found = readings.iter().flat_map(|(kind, list)| exhaustions(*kind, list, &traffic, &terms));
            hit(fleet, scope, &found.collect::<Vec<HeadroomExhaustion>>(), &readings, &terms)
        })
        .collect()
}

/// Width of a time bucket in µs, and the readings per bucket.
type Readings = (i64, Vec<(Time, ReadingSummary)>);

fn readings_of(by_limit: &ReadingsByLimit<'_>, scope: Limits) -> Vec<(LimitKind, Readings)> {
    let kinds = LimitKind::ALL.into_iter();
    kinds.filter_map(|kind| Some((kind, by_limit.get(&(scope, kind))?.series.sorted()))).collect()
}

/// Returns one finding per scope: about the limit that ran out, else about the one that was low first.
fn hit(
    fleet: &Fleet<'_>,
    scope: Limits,
    found: &[HeadroomExhaustion],
    readings: &[(LimitKind, Readings)],
    terms: &ExhaustionTerms,
) -> Option<Hit> {
    let share = |exhaustion: &HeadroomExhaustion| exhaustion.least as f64 / exhaustion.limit as f64;
    let worst = found.iter().min_by(|a, b| {
        let rank = |exhaustion: &HeadroomExhaustion| (!exhaustion.hit, exhaustion.crossed);
        rank(a).cmp(&rank(b)).then(share(a).total_cmp(&share(b)))
    })?;
    let mut hit = Hit::new(words(fleet, scope, worst, terms))
        .word("limit_kind", worst.kind.label())
        .count("limit", worst.limit.unsigned_abs())
        .count("least_remaining", worst.least.unsigned_abs())
        .figure("under_since", Evidence::At(worst.crossed))
        .number("sends_per_s_before", worst.rates.0)
        .number("sends_per_s_after", worst.rates.1)
        .count("refusals_429", worst.refusals)
        .count("times", found.iter().filter(|exhaustion| exhaustion.kind == worst.kind).count() as u64);
    if let Some((at, _)) = worst.refused {
        hit = hit.number("lead_s", at.s_since(worst.crossed));
    }
    let other_limits = other_limits(worst, readings);
    if !other_limits.is_empty() {
        hit = hit.text("other_limits", other_limits);
    }
    hit.severity = worst.hit.then_some(Severity::Error);
    hit.rows.extend(worst.row);
    hit.rows.extend(worst.refused.map(|(_, row)| row));
    hit.scope = Some(scope);
    Some(hit)
}

fn words(fleet: &Fleet<'_>, scope: Limits, exhaustion: &HeadroomExhaustion, terms: &ExhaustionTerms) -> String {
    let lead = |at: Time| super::shared::seconds(at.s_since(exhaustion.crossed).max(0.0));
    let end = match (exhaustion.used_up, exhaustion.refused) {
        (Some(_), Some((at, _))) if exhaustion.refusals == 1 => {
            format!("the limit ran out and a 429 followed after {}", lead(at))
        }
        (Some(_), Some((at, _))) => {
            format!("the limit ran out and {} 429s followed, the first after {}", exhaustion.refusals, lead(at))
        }
        (Some(at), None) => format!("the limit ran out after {}", lead(at)),
        (None, Some((at, _))) => {
            format!("at least {} were left, and a 429 followed after {}", exhaustion.least, lead(at))
        }
        (None, None) => format!("at least {} were left", exhaustion.least),
    };
    format!(
        "{} remaining on {} fell below {} of {} while traffic stayed at {} ({} before); {end}",
        exhaustion.kind.label(),
        fleet.scope_label(&scope),
        units::percent(terms.under),
        exhaustion.limit,
        rate(exhaustion.rates.1),
        rate(exhaustion.rates.0),
    )
}

fn rate(per_s: f64) -> String {
    if per_s >= 1.0 { format!("{per_s:.1}/s") } else { format!("{:.1}/min", per_s * 60.0) }
}

/// Describes the lowest remaining shares of the other limits in the same period.
fn other_limits(worst: &HeadroomExhaustion, readings: &[(LimitKind, Readings)]) -> String {
    let other_limits = readings.iter().filter(|(kind, _)| *kind != worst.kind);
    let words = other_limits.filter_map(|(kind, (_, list))| {
        let in_period =
            list.iter().filter(|(_, summary)| summary.last.0 >= worst.crossed && summary.first.0 <= worst.until);
        let least = in_period.map(|(_, summary)| summary.min_ratio()).min_by(f64::total_cmp)?;
        Some(format!("{} {}", kind.label(), units::percent(least)))
    });
    words.collect::<Vec<String>>().join(", ")
}
