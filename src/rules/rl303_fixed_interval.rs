//! The same wait before every retry, so no backoff.

use super::scripted::attempts;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, backoffs, shared};
use crate::measure::{Fleet, LoopKey, LoopTally, Shape};
use crate::model::{Confidence, Remedy, Severity};

const LONG: Setting = Setting {
    name: "long_s",
    default: 30.0,
    unit: "s",
    meaning: "waits as long as this need not grow: most caps of a backoff are no longer",
};
/// Steps whose waits must be equal.
const STEPS: [u8; 3] = [1, 2, 3];

/// A call that is sent four times, at these seconds of the minute.
macro_rules! call {
    ($call:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        attempts!($call: 1 overloaded $a, 2 overloaded $b, 3 overloaded $c, 4 ok $d)
    };
}
/// A call that is sent four times, with hints from the server.
macro_rules! hinted {
    ($call:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        attempts!($call: 1 limited $a, 2 limited $b, 3 limited $c, 4 ok $d)
    };
}

/// Catalogue entry of the rule.
// The calls of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL303",
    name: "fixed-interval",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "A retry loop waits as long before the third retry as before the first: it does not back off.",
    why: "A short wait that never grows keeps the load on an overloaded server as high as it was, and spends all \
          attempts within seconds, though overloads last longer than that. One call shows it whose own waits, from \
          its first retry on, differ by no more than 5%; where jitter may have made three of them alike, it is said \
          for information. A request that was changed after a refusal is no retry, and the time before it no backoff.",
    fix: "Double the nominal wait from retry to retry up to a cap, for instance 1, 2, 4, 8 s with a cap of 30 s.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter; official SDKs, _constants.py: 0.5 s doubling to 8 s",
    needs: &[Field::CallIdentity, Field::Duration],
    settings: &[LONG],
    exceptions: &[&[
        "Waits that the server asked for, and the time before a changed request, do not count.",
        "Waits that are none are RL304.",
        "A call whose first retries are not in the log may be at its cap.",
        "One call shows it by three or more waits within 5% of one another; where jitter explains that, it is info.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            call!("a", "00.0", "02.1", "04.2", "06.3"), call!("b", "10.0", "12.1", "14.2", "16.3"),
            call!("c", "20.0", "22.1", "24.2", "26.3"),
        ),
        // Some jitter around a constant wait is no backoff either.
        concat!(
            call!("a", "00.0", "02.02", "04.17", "06.28"), call!("b", "10.0", "12.15", "14.22", "16.31"),
            call!("c", "20.0", "22.07", "24.15", "26.19"), call!("d", "30.0", "32.12", "34.19", "36.35"),
        ),
        // One call is enough if its waits cannot be explained by chance.
        concat!(call!("a", "00.0", "02.1", "04.2", "06.3")),
        // Three waits within 5%, in one call: jitter may have caused that, so this is an info.
        concat!(call!("a", "00.0", "02.1", "04.25", "06.43")),
    ],
    near_misses: &[
        // Waits of 1, 2 and 4 s.
        concat!(
            call!("a", "00.0", "01.1", "03.2", "07.3"), call!("b", "10.0", "11.1", "13.2", "17.3"),
            call!("c", "20.0", "21.1", "23.2", "27.3"),
        ),
        // The server requested the waits.
        concat!(
            hinted!("a", "00.0", "02.1", "04.2", "06.3"), hinted!("b", "10.0", "12.1", "14.2", "16.3"),
            hinted!("c", "20.0", "22.1", "24.2", "26.3"),
        ),
        // The waits of one call grow up to a cap.
        concat!(attempts!("a": 1 overloaded "00.0", 2 overloaded "01.1", 3 overloaded "03.2", 4 overloaded "07.3",
            5 overloaded "11.4", 6 overloaded "15.5", 7 ok "19.6")),
        // The log begins in the middle of the call, whose waits may be at their cap.
        concat!(attempts!("a": 5 overloaded "00.0", 6 overloaded "08.1", 7 overloaded "16.2", 8 ok "24.3")),
        // Two waits are too few.
        concat!(attempts!("a": 1 overloaded "00.0", 2 overloaded "02.1", 3 ok "04.2")),
        // Full jitter, where three waits of a step are alike by chance.
        concat!(
            call!("a", "00.0", "00.9", "02.6", "04.2"), call!("b", "10.0", "11.0", "11.3", "14.8"),
            call!("c", "20.0", "20.3", "22.1", "22.9"),
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    backoffs::each(fleet, |key, tally| fixed(fleet, key, tally, settings))
}

/// Returns the finding that the loop does not back off, if it does not.
pub(super) fn fixed(fleet: &Fleet<'_>, key: LoopKey, tally: &LoopTally, settings: &Settings) -> Option<Hit> {
    let long_s = settings.get(RULE.code, &LONG);
    by_steps(fleet, key, tally, long_s).or_else(|| by_call(fleet, key, tally, long_s))
}

/// Checks whether the loop waits as long at every step, over all its calls.
fn by_steps(fleet: &Fleet<'_>, key: LoopKey, tally: &LoopTally, long_s: f64) -> Option<Hit> {
    // Three waits of each step, the fewest for a meaningful median.
    let has_enough = STEPS.iter().all(|step| tally.steps.get(step).is_some_and(|step| step.waits.count() >= 3));
    if !has_enough || tally.schedule().shape != Shape::Fixed {
        return None;
    }
    let median = |step: u8| tally.steps.get(&step).map(|step| step.waits.quantile_s(0.5));
    let first = median(1).filter(|s| *s < long_s)?;
    let last = tally.steps.keys().next_back().copied().unwrap_or(0);
    let message = format!(
        "{} wait {} before the first retry, {} before the second and {} before the third ({} waits of its own): no backoff{}",
        backoffs::label(fleet, key),
        shared::seconds(first),
        shared::seconds(median(2)?),
        shared::seconds(median(3)?),
        tally.chosen(),
        other_waits(tally),
    );
    let steps = STEPS.iter().filter_map(|step| tally.steps.get(step));
    let hit = backoffs::hit(key, message, steps);
    Some(hit.count("waits", tally.chosen()).number("median_s", first).count("retries", last.into()))
}

/// Describes the other waits of the loop, which the finding is not about.
fn other_waits(tally: &LoopTally) -> String {
    let parts =
        [(tally.server_requested, "as the server asked"), (tally.unmeasured, "of a length that the log does not show")];
    let told = parts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, what)| format!("{count} more {what}")).collect();
    if told.is_empty() { String::new() } else { format!(" (beside {})", told.join(" and ")) }
}

/// Checks whether single calls show it: their waits are equal from the first retry on, so they did not grow up to a
/// cap.
fn by_call(fleet: &Fleet<'_>, key: LoopKey, tally: &LoopTally, long_s: f64) -> Option<Hit> {
    let (equal_waits, is_certain) = (&tally.equal_waits, tally.equal_waits.excludes_jitter());
    let call = equal_waits.best().filter(|_| is_certain || equal_waits.are_most())?;
    let (shortest, longest) = call.us;
    if shortest < tally.no_wait_us() || longest >= shared::micros(long_s) {
        return None;
    }
    let calls = match (equal_waits.equal(), equal_waits.calls()) {
        (1, 1) => "the one call with three waits or more".to_owned(),
        (n, all) if n == all => format!("all {n} calls with three waits or more"),
        (n, all) => format!("{n} of {all} calls with three waits or more"),
    };
    let doubt = match (is_certain, equal_waits.equal() == equal_waits.calls()) {
        (false, _) => "no backoff, unless jitter made them alike",
        (true, true) => "no backoff",
        (true, false) => "no backoff in those; the waits of the others differ",
    };
    let message = format!(
        "{}: {calls} waited as long before each retry, {} over {} waits{}: {doubt}{}",
        backoffs::label(fleet, key),
        shared::seconds_range(shortest as f64 / 1e6, longest as f64 / 1e6),
        call.waits,
        if equal_waits.equal() == 1 { "" } else { " of one of them" },
        other_waits(tally),
    );
    let mut hit = backoffs::hit(key, message, std::iter::empty());
    hit.rows.push(call.row());
    if !is_certain {
        hit.severity = Some(Severity::Info);
        hit.confidence = Confidence::Low;
    }
    let hit = hit.count("calls", equal_waits.equal()).count("waits", call.waits.into());
    Some(hit.number("shortest_s", shortest as f64 / 1e6).number("longest_s", longest as f64 / 1e6))
}
