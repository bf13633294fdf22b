//! The same wait before every retry: no backoff.

use super::scripted::attempts;
use super::{Check, Field, Hit, Remedy, Rule, Scope, Setting, Settings, Severity, backoffs, shared};
use crate::measure::{Fleet, LoopKey, LoopTally, Shape};

const LONG: Setting = Setting {
    name: "long_s",
    default: 30.0,
    unit: "s",
    meaning: "waits as long as this need not grow: most caps of a backoff are no longer",
};
/// The steps that must be alike.
const STEPS: [u8; 3] = [1, 2, 3];

/// A call of the examples that is sent four times, at these seconds of the minute.
macro_rules! call {
    ($call:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        attempts!($call: 1 overloaded $a, 2 overloaded $b, 3 overloaded $c, 4 ok $d)
    };
}
/// The same, with hints of the server.
macro_rules! hinted {
    ($call:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        attempts!($call: 1 limited $a, 2 limited $b, 3 limited $c, 4 ok $d)
    };
}

/// See the catalogue.
// The calls of the examples read better in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL303",
    name: "fixed-interval",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "A retry loop waits as long before the third retry as before the first: it does not back off.",
    why: "A short wait that never grows keeps the load on an overloaded server as high as it was, and spends all \
          attempts within seconds, though overloads last longer than that.",
    fix: "Double the nominal wait from retry to retry up to a cap, for instance 1, 2, 4, 8 s with a cap of 30 s, and \
          draw the wait at random below it.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter; official SDKs, _constants.py: 0.5 s doubling to 8 s",
    needs: &[Field::CallIdentity, Field::Duration],
    settings: &[LONG],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            call!("a", "00.0", "02.1", "04.2", "06.3"), call!("b", "10.0", "12.1", "14.2", "16.3"),
            call!("c", "20.0", "22.1", "24.2", "26.3"),
        ),
        // Some jitter around one length is no backoff either.
        concat!(
            call!("a", "00.0", "02.02", "04.17", "06.28"), call!("b", "10.0", "12.15", "14.22", "16.31"),
            call!("c", "20.0", "22.07", "24.15", "26.19"), call!("d", "30.0", "32.12", "34.19", "36.35"),
        ),
    ],
    near_misses: &[
        // 1, 2, 4 s.
        concat!(
            call!("a", "00.0", "01.1", "03.2", "07.3"), call!("b", "10.0", "11.1", "13.2", "17.3"),
            call!("c", "20.0", "21.1", "23.2", "27.3"),
        ),
        // The server asked for it.
        concat!(
            hinted!("a", "00.0", "02.1", "04.2", "06.3"), hinted!("b", "10.0", "12.1", "14.2", "16.3"),
            hinted!("c", "20.0", "22.1", "24.2", "26.3"),
        ),
        // One call shows no schedule.
        concat!(call!("a", "00.0", "02.1", "04.2", "06.3")),
        // Full jitter, where three waits of a step happen to lie alike.
        concat!(
            call!("a", "00.0", "00.9", "02.6", "04.2"), call!("b", "10.0", "11.0", "11.3", "14.8"),
            call!("c", "20.0", "20.3", "22.1", "22.9"),
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let long_s = settings.get(RULE.code, &LONG);
    backoffs::each(fleet, |key, tally| judge(fleet, key, tally, long_s))
}

fn judge(fleet: &Fleet<'_>, key: LoopKey, tally: &LoopTally, long_s: f64) -> Option<Hit> {
    let schedule = tally.schedule();
    // Three waits of each step: the least a middle is known from.
    let known = STEPS.iter().all(|step| tally.steps.get(step).is_some_and(|step| step.waits.count() >= 3));
    if schedule.shape != Shape::Fixed || !known {
        return None;
    }
    let median = |step: u8| tally.steps.get(&step).map(|step| step.waits.quantile_s(0.5));
    let first = median(1).filter(|s| *s < long_s)?;
    let last = tally.steps.keys().next_back().copied().unwrap_or(0);
    let message = format!(
        "{} wait {} before the first retry, {} before the second and {} before the third ({} waits): no backoff",
        backoffs::label(fleet, key),
        shared::seconds(first),
        shared::seconds(median(2)?),
        shared::seconds(median(3)?),
        tally.own(),
    );
    let steps = STEPS.iter().filter_map(|step| tally.steps.get(step));
    let hit = backoffs::hit(key, message, steps);
    Some(hit.count("waits", tally.own()).number("median_s", first).count("retries", last.into()))
}
