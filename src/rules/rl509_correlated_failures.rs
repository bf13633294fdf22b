//! Retries fail far more often than first attempts, so they are not independent of the failure before them.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::classify::{Bucket, Class};
use crate::measure::{Fleet, NextSends, Service};
use crate::model::{Confidence, Remedy, Severity, units};

const GUESSED: Setting = Setting {
    name: "max_guessed_share",
    default: 0.1,
    unit: "",
    meaning: "share of retries in calls brought together by likeness beyond which nothing is said",
};

const TIMES: Setting = Setting {
    name: "times",
    default: 3.0,
    unit: "",
    meaning: "how many times the failure rate of first attempts that of retries must be",
};
const CALLS: Setting =
    Setting { name: "min_calls", default: 100.0, unit: "", meaning: "first attempts at the service" };
const ERRORS: Setting = Setting {
    name: "errors",
    default: 3.0,
    unit: "",
    meaning: "standard errors that are taken off the share of failed retries: what chance may explain",
};
const RETRIES: Setting =
    Setting { name: "min_retries", default: 20.0, unit: "", meaning: "retries right after a failure of the class" };

macro_rules! sent {
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
/// Ten calls that succeed at once.
macro_rules! ten {
    ($minute:literal) => {
        concat!(
            sent!($minute, "30", "0", r#""status":200"#),
            sent!($minute, "31", "1", r#""status":200"#),
            sent!($minute, "32", "2", r#""status":200"#),
            sent!($minute, "33", "3", r#""status":200"#),
            sent!($minute, "34", "4", r#""status":200"#),
            sent!($minute, "35", "5", r#""status":200"#),
            sent!($minute, "36", "6", r#""status":200"#),
            sent!($minute, "37", "7", r#""status":200"#),
            sent!($minute, "38", "8", r#""status":200"#),
            sent!($minute, "39", "9", r#""status":200"#),
        )
    };
}
macro_rules! tens {
    ($($minute:literal),*) => { concat!($(ten!($minute)),*) };
}
/// Calls whose first four attempts fail.
macro_rules! stubborn {
    ($failure:literal: $($call:literal),*) => {
        concat!($(
            sent!("59", "00.0", $call, $failure), sent!("59", "01.1", $call, $failure),
            sent!("59", "03.2", $call, $failure), sent!("59", "07.3", $call, $failure),
            sent!("59", "15.4", $call, r#""status":200"#)
        ),*)
    };
}
/// Calls whose first attempt fails with an overload, and the next three in another way.
macro_rules! turned {
    ($failure:literal: $($call:literal),*) => {
        concat!($(
            sent!("59", "00.0", $call, r#""status":529"#), sent!("59", "01.1", $call, $failure),
            sent!("59", "03.2", $call, $failure), sent!("59", "07.3", $call, $failure),
            sent!("59", "15.4", $call, $failure)
        ),*)
    };
}
/// Calls whose first attempt fails, and whose second succeeds.
macro_rules! healed {
    ($($call:literal),*) => {
        concat!($(sent!("58", "00.0", $call, r#""status":529"#), sent!("58", "01.1", $call, r#""status":200"#)),*)
    };
}

/// Catalogue entry of the rule.
///
/// In an outage, the failures of any healthy client are correlated, so a finding is never more than an info.
// The examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL509",
    name: "correlated-failures",
    severity: Severity::Info,
    scope: Scope::Fleet,
    summary: "After a failure the next attempt failed far more often than a first attempt does: failures come together.",
    why: "How many retries are worth it is often worked out as if each were an independent trial, 1-(1-p)^k. In an outage it \
          is not: the first retries fail with the attempt before them, and only time helps.",
    fix: "Spread the same number of attempts over a longer time, and put a circuit breaker beside the retries: after \
          several failures of a service it lets one probe through instead of everyone's retries.",
    remedy: Remedy::Fix,
    source: "P(success within k retries) = 1-(1-p)^k holds for independent attempts only; Microsoft Azure \
             Architecture Center, Circuit Breaker pattern",
    needs: &[Field::Time, Field::CallIdentity],
    settings: &[TIMES, CALLS, RETRIES, ERRORS, GUESSED],
    exceptions: &[&[
        "Rate limits do not count: they hold until they are refilled.",
        "The share of failed retries counts less what chance may explain.",
        "Where too many calls were brought together by likeness, nothing is said.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            tens!("00", "01", "02", "03", "04", "05", "06", "07", "08", "09"),
            stubborn!(r#""status":529"#: "a", "b", "c", "d", "e", "f", "g", "h"),
        ),
        concat!(
            tens!("10", "11", "12", "13", "14", "15", "16", "17", "18", "19"),
            stubborn!(r#""status":500,"error_type":"api_error""#: "a", "b", "c", "d", "e", "f", "g"),
        ),
        // What follows a 500 counts, though no call began with one.
        concat!(
            tens!("20", "21", "22", "23", "24", "25", "26", "27", "28", "29"),
            turned!(r#""status":500,"error_type":"api_error""#: "a", "b", "c", "d", "e", "f", "g"),
        ),
    ],
    near_misses: &[
        // Every retry succeeds.
        concat!(
            tens!("00", "01", "02", "03", "04", "05", "06", "07", "08", "09"),
            healed!("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"),
        ),
        // Too few retries to tell.
        concat!(tens!("00", "01", "02", "03", "04", "05", "06", "07", "08", "09"), stubborn!(r#""status":529"#: "a", "b")),
        // After the overload with which each call began came one retry; the others followed rate limits.
        concat!(
            tens!("00", "01", "02", "03", "04", "05", "06", "07", "08", "09"),
            turned!(r#""status":429,"error_type":"rate_limit_error""#: "a", "b", "c", "d", "e", "f", "g", "h"),
        ),
        // A rate limit lasts until it is refilled, so its failures are correlated by nature.
        concat!(
            tens!("00", "01", "02", "03", "04", "05", "06", "07", "08", "09"),
            stubborn!(r#""status":429,"error_type":"rate_limit_error""#: "a", "b", "c", "d", "e", "f", "g", "h"),
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let get = |setting| settings.get(RULE.code, setting);
    let (times, least_calls, least_retries) = (get(&TIMES), get(&CALLS), get(&RETRIES));
    let services = fleet.sorted_recoveries().into_iter();
    services
        .filter_map(|(service, class, recovery)| {
            let is_transient = matches!(class.default_bucket(), Bucket::Capacity | Bucket::Transient);
            let calls = fleet.calls_of(service);
            let next = &recovery.next;
            let guessed = next.inferred as f64 > get(&GUESSED) * next.sent as f64;
            if !is_transient || guessed || (calls as f64) < least_calls || (next.sent as f64) < least_retries {
                return None;
            }
            let first = Rate { failed: fleet.failed_first(service), total: calls };
            let after_failure = Rate { failed: next.failed, total: next.sent };
            (after_failure.lower_bound(get(&ERRORS)) >= times * first.share())
                .then(|| hit(fleet, service, class, next, first, after_failure))
        })
        .collect()
}

/// Number of failures among some attempts.
#[derive(Clone, Copy)]
struct Rate {
    failed: u64,
    total: u64,
}

impl Rate {
    fn share(self) -> f64 {
        self.failed as f64 / self.total as f64
    }

    /// Returns the share less `errors` standard errors: a lower bound, above which chance explains no more.
    fn lower_bound(self, errors: f64) -> f64 {
        let share = self.share();
        share - errors * (share * (1.0 - share) / self.total as f64).sqrt()
    }
}

fn hit(fleet: &Fleet<'_>, service: Service, class: Class, next: &NextSends, first: Rate, after_failure: Rate) -> Hit {
    let mut hit = Hit::new(format!(
        "after {} on {}, {} of the retries failed ({} of {}), and {} of all first attempts ({} of {})",
        shared::class_words(Some(class)),
        service.label(fleet.table),
        units::percent(after_failure.share()),
        after_failure.failed,
        after_failure.total,
        units::percent(first.share()),
        first.failed,
        first.total,
    ))
    .about(Some(class))
    .number("retry_failure_share", after_failure.share())
    .count("retries", after_failure.total)
    .number("first_attempt_failure_share", first.share())
    .count("first_attempts", first.total);
    hit.rows.extend(next.first.map(|row_ref| row_ref.row));
    hit.scope = Some(service.scope());
    hit.confidence = Confidence::Medium;
    hit
}
