//! Jitter over a quarter of the wait in a fleet: enough for one worker, not for many.

use super::rl303_fixed_interval as rl303;
use super::scripted::retried;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, backoffs};
use crate::measure::{Fleet, Jitter, LoopKey, LoopTally, Shape};
use crate::model::{Remedy, Severity};

const WORKERS: Setting = Setting {
    name: "workers",
    default: 10.0,
    unit: "",
    meaning: "calls that waited for a retry at the same time, at the most",
};

/// Catalogue entry of the rule.
// The calls of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL305",
    name: "narrow-jitter",
    severity: Severity::Info,
    scope: Scope::Fleet,
    summary: "A fleet waits with jitter over the upper quarter of each wait only, as the official SDKs do.",
    why: "Between 75% and 100% of half a second there is an eighth of a second: ten workers that fail together are \
          sent again within it. The band suits one worker; a fleet needs the whole wait. Where the waits do not grow either, RL303 \
          speaks alone.",
    fix: "In a fleet, set the client's own retries to 0 and let one layer wait, with full jitter: at random between 0 \
          and the nominal wait.",
    remedy: Remedy::Fix,
    source: "official SDKs, _base_client.py: the wait times 1 - 0.25 x random; AWS Architecture Blog, Exponential \
             Backoff And Jitter",
    needs: &[Field::CallIdentity, Field::Duration],
    settings: &[WORKERS],
    exceptions: &[&[
        "Waits of fewer calls than the threshold at the same time are one worker's.",
        "Where the waits do not grow either, RL303 speaks alone.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            retried!("a", "00.000", "00.581"), retried!("b", "00.010", "00.508"), retried!("c", "00.020", "00.542"),
            retried!("d", "00.030", "00.624"), retried!("e", "00.040", "00.517"), retried!("f", "00.050", "00.610"),
            retried!("g", "00.060", "00.570"), retried!("h", "00.070", "00.609"), retried!("i", "00.080", "00.650"),
            retried!("j", "00.090", "00.575"),
        ),
        // Another backoff with waits twice as long.
        concat!(
            retried!("a", "00.000", "01.071"), retried!("b", "00.010", "00.878"), retried!("c", "00.020", "01.045"),
            retried!("d", "00.030", "01.124"), retried!("e", "00.040", "00.957"), retried!("f", "00.050", "01.010"),
            retried!("g", "00.060", "01.120"), retried!("h", "00.070", "00.939"), retried!("i", "00.080", "01.090"),
            retried!("j", "00.090", "00.988"), retried!("k", "00.095", "01.051"),
        ),
    ],
    near_misses: &[
        // One call after the other: a single worker.
        concat!(
            retried!("a", "00.000", "00.581"), retried!("b", "02.010", "02.508"), retried!("c", "04.020", "04.542"),
            retried!("d", "06.030", "06.624"), retried!("e", "08.040", "08.517"), retried!("f", "10.050", "10.610"),
            retried!("g", "12.060", "12.570"), retried!("h", "14.070", "14.609"), retried!("i", "16.080", "16.650"),
            retried!("j", "18.090", "18.575"),
        ),
        // Ten concurrent calls with full jitter.
        concat!(
            retried!("a", "00.000", "00.181"), retried!("b", "00.010", "00.598"), retried!("c", "00.020", "00.242"),
            retried!("d", "00.030", "00.424"), retried!("e", "00.040", "00.617"), retried!("f", "00.050", "00.210"),
            retried!("g", "00.060", "00.570"), retried!("h", "00.070", "00.309"), retried!("i", "00.080", "00.650"),
            retried!("j", "00.090", "00.475"),
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let least = settings.get(RULE.code, &WORKERS) as u64;
    backoffs::each(fleet, |key, tally| {
        let hit = judge(fleet, key, tally, least)?;
        // Waits that do not grow are the worse problem, and the fix for it includes jitter.
        rl303::fixed(fleet, key, tally, settings).is_none().then_some(hit)
    })
}

fn judge(fleet: &Fleet<'_>, key: LoopKey, tally: &LoopTally, least: u64) -> Option<Hit> {
    let schedule = tally.schedule();
    if schedule.jitter != Some(Jitter::Narrow) {
        return None;
    }
    let waiting = fleet.backoffs.peak_concurrent_waits(&key);
    if waiting < least.max(2) {
        return None;
    }
    let which = if schedule.shape == Shape::SdkLadder { " (the official SDKs' ladder)" } else { "" };
    let message = format!(
        "{} wait 75 to 100% of the nominal wait{which}, and up to {waiting} of its calls waited at the same time",
        backoffs::label(fleet, key),
    );
    let hit = backoffs::hit(key, message, tally.steps.values().take(2));
    Some(hit.count("waits", tally.chosen()).count("waiting", waiting))
}
