//! What to do: the few steps that would settle most of what was found.

use super::{Advice, Cost, Problem, Remedy};
use crate::attempt::Time;
use crate::judge::Judgement;
use crate::rules::{Severity, find};
use std::collections::BTreeMap;

/// Steps given at most.
const MOST: usize = 5;

/// The steps that cost most when left undone, one a rule.
pub(super) fn most_costly(judgement: &Judgement<'_>, problems: &[Problem]) -> Vec<Advice> {
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
        let cost = (step.cost.sends, (step.cost.wait_s * 1000.0) as u64, step.findings);
        (std::cmp::Reverse((*severity, cost)), step.rule)
    });
    list.into_iter().take(MOST).map(|(step, _)| step).collect()
}

fn step(judgement: &Judgement<'_>, problem: &Problem) -> Advice {
    let remedy = find(problem.rule).map_or(Remedy::Fix, |rule| rule.remedy);
    let hits = || {
        let folds = judgement.folds.values().filter(|fold| fold.rule.code == problem.rule);
        folds.flat_map(|fold| fold.kept.values()).map(|kept| &kept.hit)
    };
    let until: Option<Time> = hits().filter_map(|hit| hit.until).max();
    // Nothing to wait for, as far as the log says: then stopping is what is left.
    let remedy = hits().find_map(|hit| hit.remedy).unwrap_or(remedy);
    let remedy = if remedy == Remedy::Wait && until.is_none() { Remedy::Stop } else { remedy };
    Advice { rule: problem.rule, remedy, until, text: problem.fix.clone(), cost: Cost::default(), findings: 0 }
}
