//! Recommendations: the few steps that would settle most of the findings.

use super::{Advice, Problem};
use crate::judge::Judgement;
use crate::model::{Cost, Remedy, Severity, Time};
use crate::rules::find;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of steps.
const MAX_STEPS: usize = 5;

/// Returns the steps whose problems cost most, one per rule, and the number of rules left out.
pub(super) fn most_costly(judgement: &Judgement<'_>, problems: &[Problem]) -> (Vec<Advice>, u64) {
    let mut steps: BTreeMap<&'static str, (Advice, Severity)> = BTreeMap::new();
    for problem in problems.iter().filter(|problem| problem.severity > Severity::Info) {
        let (step, severity) =
            steps.entry(problem.rule).or_insert_with(|| (step(judgement, problem), problem.severity));
        *severity = (*severity).max(problem.severity);
        step.findings += problem.count;
        step.cost.add(&problem.cost);
    }
    let mut list: Vec<(Advice, Severity)> = steps.into_values().collect();
    list.sort_by_key(|(step, severity)| {
        let attempts = step.cost.sends + step.cost.excess;
        let cost = (attempts, (step.cost.wait_s * 1000.0) as u64, step.findings);
        (Reverse((*severity, cost)), step.rule)
    });
    let mut advice: Vec<Advice> = list.into_iter().flat_map(|(step, _)| split_wait(step)).collect();
    advice.truncate(MAX_STEPS);
    let omitted = omitted(&advice, problems);
    (advice, omitted)
}

/// Returns the number of rules that have problems above info and no step.
pub(super) fn omitted(advice: &[Advice], problems: &[Problem]) -> u64 {
    let above_info = problems.iter().filter(|problem| problem.severity > Severity::Info).map(|problem| problem.rule);
    let is_covered = |rule: &&str| advice.iter().any(|step| step.rule == *rule);
    above_info.filter(|rule| !is_covered(rule)).collect::<BTreeSet<_>>().len() as u64
}

fn step(judgement: &Judgement<'_>, problem: &Problem) -> Advice {
    let remedy = find(problem.rule).map_or(Remedy::Fix, |rule| rule.remedy);
    let hits = || {
        let stats = judgement.problems.values().filter(|stats| stats.rule.code == problem.rule);
        stats.flat_map(|stats| stats.kept.values()).map(|kept| &kept.hit)
    };
    // Waiting is pointless if the log already ends after that time. Without dates, that is unknown.
    let end = judgement.fleet.covered().map(|covered| covered.last);
    let due: Option<Time> = hits().filter_map(|hit| hit.until).max();
    let until = due.filter(|due| end.is_some_and(|end| *due > end));
    let ended = due.filter(|_| until.is_none());
    // If there is no known time to wait for, stopping is what remains.
    let remedy = hits().find_map(|hit| hit.remedy).unwrap_or(remedy);
    let remedy = if remedy == Remedy::Wait && until.is_none() { Remedy::Stop } else { remedy };
    Advice { rule: problem.rule, remedy, until, ended, text: problem.fix.clone(), cost: Cost::default(), findings: 0 }
}

/// Splits a step that waits: waiting is for those who operate the jobs, the fix for those who write the client.
fn split_wait(step: Advice) -> Vec<Advice> {
    if step.until.is_none() {
        return vec![step];
    }
    let text = "When the log ends, requests on this limit can only fail: pause the jobs that send them, or have the limit \
                raised.";
    let wait = Advice { remedy: Remedy::Wait, text: text.to_owned(), cost: Cost::default(), ..step.clone() };
    vec![wait, Advice { remedy: Remedy::Fix, until: None, ..step }]
}
