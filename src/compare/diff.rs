//! Comparison of two reports: new, worse, better and fixed problems, by rates and beyond chance.

use super::chance::p_value;
use super::head::{Head, remove_below};
use super::past_report::{PastProblem, PastReport, ProblemKey};
use super::{Measure, Rate};
use crate::model::{
    Severity,
    units::{plural, thousands},
};
use crate::report::Window;
use crate::untrusted::masked;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Version of the JSON format of a [`Diff`].
const DIFF_VERSION: u32 = 1;
/// Significance level: a change counts if its probability by chance is below this. One in a thousand, since a report has dozens of
/// rates, and findings occur in bursts.
const SIGNIFICANCE: f64 = 0.001;
/// Minimum factor between two rates for a change to count: with much traffic, small differences are significant
/// too.
const MIN_RATIO: f64 = 1.5;

/// How a problem or a measure changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Found in the new report only.
    New,
    /// Found in both, more often or with a higher severity in the new one.
    Worse,
    /// Found in the old report only.
    Fixed,
    /// Found in both, less often or with a lower severity in the new one.
    Better,
    /// Found in one report only, and the other could not have shown it: its log lacks the field, or, of the new one,
    /// the calls failed.
    #[serde(rename = "untold")]
    Inconclusive,
    /// Found in both, at rates whose difference may be chance.
    Same,
}

impl Change {
    /// All changes, in the order in which they are shown.
    pub const ALL: [Change; 6] =
        [Change::New, Change::Worse, Change::Fixed, Change::Better, Change::Inconclusive, Change::Same];

    /// Name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Change::New => "new",
            Change::Worse => "worse",
            Change::Fixed => "fixed",
            Change::Better => "better",
            Change::Inconclusive => "inconclusive",
            Change::Same => "unchanged",
        }
    }
}

/// A comparison of two reports.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// Fields that every comparison begins with.
    #[serde(flatten)]
    pub head: Head,
    /// The report compared with.
    pub old: Side,
    /// The report compared.
    pub new: Side,
    /// When a rate counts as changed.
    pub basis: Basis,
    /// Remarks on the reliability of the comparison.
    pub notices: Vec<String>,
    /// Measures of both reports.
    pub measures: Vec<MeasureChange>,
    /// Problems by change, new ones first, and within a change by severity; infos after all others, unchanged problems
    /// last.
    pub problems: Vec<ProblemChange>,
    /// Number of problems left out because of their severity.
    pub problems_hidden: u64,
}

/// One of the two reports.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Path of the report or folder, as given.
    pub name: String,
    /// From the first attempt to the last answer.
    pub window: Option<Window>,
    /// Number of calls.
    pub calls: u64,
    /// Number of attempts.
    pub sends: u64,
    /// Number of runs.
    pub runs: u64,
}

/// When a rate counts as changed; both conditions must hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Basis {
    /// The probability of such a difference by chance is below this.
    pub p_below: f64,
    /// The larger rate is at least this many times the smaller.
    pub ratio_from: f64,
}

/// A measure in both reports.
#[derive(Clone, Debug, Serialize)]
pub struct MeasureChange {
    /// The measure.
    pub measure: Measure,
    /// Worse, better or unchanged.
    pub change: Change,
    /// Rate in the old report.
    pub old: Rate,
    /// Rate in the new report.
    pub new: Rate,
    /// Probability of such a difference by chance; `None` if the measure is not a count.
    pub p_value: Option<f64>,
}

/// A problem in both reports.
#[derive(Clone, Debug, Serialize)]
pub struct ProblemChange {
    /// How it changed.
    pub change: Change,
    /// Identity of the problem.
    #[serde(flatten)]
    pub key: ProblemKey,
    /// Name of the rule.
    pub name: String,
    /// Highest severity of its findings; that of the new report if it is in both.
    pub severity: Severity,
    /// Highest severity of its findings in the old report.
    pub old_severity: Option<Severity>,
    /// Findings per call in the old report.
    pub old: Rate,
    /// Findings per call in the new report.
    pub new: Rate,
    /// Probability of such a difference by chance.
    pub p_value: f64,
    /// Whether the old log lacks the field that would have shown it.
    #[serde(rename = "old_untold")]
    pub old_inconclusive: bool,
    /// Whether it is about calls that succeed, of which more failed in the new log.
    pub failed_instead: bool,
    /// Message of one finding.
    pub example: String,
    /// What to change.
    pub fix: String,
}

impl ProblemChange {
    /// Returns whether the problem may be in only one of the reports by chance.
    #[must_use]
    pub fn may_be_chance(&self, basis: &Basis) -> bool {
        matches!(self.change, Change::New | Change::Fixed) && self.p_value >= basis.p_below
    }
}

impl Diff {
    /// Returns the problems with the given change.
    pub fn changed(&self, change: Change) -> impl Iterator<Item = &ProblemChange> {
        self.problems.iter().filter(move |problem| problem.change == change)
    }

    /// Returns the highest severity of the problems that are new or worse.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.changed(Change::New).chain(self.changed(Change::Worse)).map(|problem| problem.severity).max()
    }

    /// Leaves out the problems below `min`; the verdict is unchanged.
    pub fn hide_below(&mut self, min: Severity) {
        self.problems_hidden += remove_below(&mut self.problems, min, |problem| problem.severity);
    }

    /// Returns the time from the first attempt in either report to the last answer in either.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let windows = || [self.old.window, self.new.window].into_iter().flatten();
        let first = windows().map(|window| window.first).min()?;
        Some(Window { first, last: windows().map(|window| window.last).max()? })
    }
}

/// Compares two reports, each given with its name.
#[must_use]
pub fn diff(old: (&str, &PastReport), new: (&str, &PastReport)) -> Diff {
    let measures: Vec<MeasureChange> = Measure::ALL
        .into_iter()
        .map(|measure| measure_change(measure, measure.of(&old.1.totals), measure.of(&new.1.totals)))
        .collect();
    let problems = problems(old.1, new.1);
    Diff {
        head: Head::new("diff", DIFF_VERSION, verdict::sentences(&problems, &measures)),
        old: side_of(old),
        new: side_of(new),
        basis: Basis { p_below: SIGNIFICANCE, ratio_from: MIN_RATIO },
        notices: notices(old, new),
        measures,
        problems,
        problems_hidden: 0,
    }
}

fn side_of((name, past): (&str, &PastReport)) -> Side {
    let totals = &past.totals;
    Side { name: name.to_owned(), window: past.window, calls: totals.calls, sends: totals.sends, runs: totals.runs }
}

/// Returns how a rate changed, and the probability of such a difference by chance.
fn compare_rates(old: Rate, new: Rate) -> (Change, f64) {
    let p = p_value(old, new);
    let change = if p >= SIGNIFICANCE {
        Change::Same
    } else if new.rate >= old.rate * MIN_RATIO {
        Change::Worse
    } else if old.rate >= new.rate * MIN_RATIO {
        Change::Better
    } else {
        Change::Same
    };
    (change, p)
}

/// Returns whether a problem found in both reports got worse, given its rate and severity in each.
pub(super) fn got_worse(old: (Rate, Severity), new: (Rate, Severity)) -> bool {
    change_in_both(old.1, new.1, compare_rates(old.0, new.0).0) == Change::Worse
}

/// Returns how a problem found in both reports changed, given its severities and the change of its rate.
fn change_in_both(old: Severity, new: Severity, by_rate: Change) -> Change {
    match by_rate {
        Change::Same | Change::Better if new > old => Change::Worse,
        Change::Same if new < old => Change::Better,
        by_rate => by_rate,
    }
}

fn measure_change(measure: Measure, old: Rate, new: Rate) -> MeasureChange {
    if !measure.is_count() {
        return MeasureChange { measure, change: Change::Same, old, new, p_value: None };
    }
    let (change, p) = compare_rates(old, new);
    MeasureChange { measure, change, old, new, p_value: Some(p) }
}

/// Describes a change in the rate of failed calls; `None` if it is well explained by chance.
pub(super) fn failed_calls(old: Rate, new: Rate) -> Option<String> {
    verdict::failed_calls_sentence(&measure_change(Measure::FailedCalls, old, new))
}

/// Returns the problems by their identity. A report contains each once; the counts of duplicates are added.
pub(super) fn by_key(past: &PastReport) -> BTreeMap<&ProblemKey, PastProblem> {
    let mut problems: BTreeMap<&ProblemKey, PastProblem> = BTreeMap::new();
    for problem in &past.problems {
        let sum = problems.entry(&problem.key).or_insert_with(|| PastProblem { count: 0, ..problem.clone() });
        sum.count = sum.count.saturating_add(problem.count);
        sum.severity = sum.severity.max(problem.severity);
    }
    problems
}

fn problems(old: &PastReport, new: &PastReport) -> Vec<ProblemChange> {
    let (before, now) = (by_key(old), by_key(new));
    let mut keys: Vec<&ProblemKey> = before.keys().chain(now.keys()).copied().collect();
    keys.sort();
    keys.dedup();
    let mut problems: Vec<ProblemChange> =
        keys.into_iter().filter_map(|key| changed((old, before.get(key)), (new, now.get(key)))).collect();
    // Infos come after changed problems of a higher severity; within a severity, changes that may be chance come last.
    problems.sort_by_key(|problem| {
        let (is_same, is_info) = (problem.change == Change::Same, problem.severity == Severity::Info);
        let is_chance = problem.p_value >= SIGNIFICANCE;
        let findings = problem.new.part.max(problem.old.part);
        (is_same, is_info, problem.change, Reverse(problem.severity), is_chance, Reverse(findings))
    });
    problems
}

/// Compares one problem; `None` if it is in neither report.
fn changed(
    old: (&PastReport, Option<&PastProblem>),
    new: (&PastReport, Option<&PastProblem>),
) -> Option<ProblemChange> {
    let shown = new.1.or(old.1)?;
    let rate = |(past, problem): (&PastReport, Option<&PastProblem>)| {
        Rate::new(problem.map_or(0, |problem| problem.count), past.totals.calls)
    };
    let (before, now) = (rate(old), rate(new));
    let (by_rate, p_value) = compare_rates(before, now);
    let failed_instead = new.0.failed_instead(&shown.key.rule, old.0);
    let change = match (old.1, new.1) {
        (None, _) if old.0.cannot_judge(&shown.key.rule) => Change::Inconclusive,
        (None, _) => Change::New,
        (_, None) if new.0.cannot_judge(&shown.key.rule) => Change::Inconclusive,
        (_, None) if failed_instead => Change::Inconclusive,
        (_, None) => Change::Fixed,
        (Some(before), Some(now)) => match change_in_both(before.severity, now.severity, by_rate) {
            Change::Better if failed_instead => Change::Same,
            change => change,
        },
    };
    Some(ProblemChange {
        change,
        key: shown.key.clone(),
        name: shown.name.clone(),
        severity: shown.severity,
        old_severity: old.1.map(|problem| problem.severity),
        old: before,
        new: now,
        p_value,
        failed_instead: change == Change::Inconclusive && new.1.is_none() && failed_instead,
        old_inconclusive: change == Change::Inconclusive && old.1.is_none(),
        example: shown.example.clone(),
        fix: shown.fix.clone(),
    })
}

/// Returns a notice if a report leaves out problems.
pub(super) fn hidden_notice(name: &str, past: &PastReport) -> Option<String> {
    (past.problems_hidden > 0).then(|| {
        let (count, noun) = (past.problems_hidden, plural(past.problems_hidden, "problem"));
        format!(
            "{name} leaves out {} {noun} (--min-severity): they look new or fixed beside a report that has them",
            thousands(count)
        )
    })
}

fn notices(old: (&str, &PastReport), new: (&str, &PastReport)) -> Vec<String> {
    let mut notices = Vec::new();
    if old.1.generator != new.1.generator {
        notices.push(format!(
            "the reports were made by {} and {}: a problem of a rule that one of them lacks looks new or fixed",
            masked(&old.1.generator),
            masked(&new.1.generator)
        ));
    }
    for (name, past) in [old, new] {
        notices.extend(hidden_notice(name, past));
    }
    if let (Some(before), Some(after)) = (old.1.window, new.1.window) {
        if before != after && after.first < before.last && before.first < after.last {
            notices.push("the two sides overlap in time: some calls may count on both".to_owned());
        } else if before.first > after.first {
            notices.push(format!("{} is later than {}: are the two sides swapped?", old.0, new.0));
        }
    }
    notices
}

#[cfg(test)]
mod tests;
mod verdict;
