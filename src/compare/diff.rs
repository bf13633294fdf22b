//! Two reports side by side: what is new, worse, better or fixed, by rates and beyond chance.

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

/// Version of the JSON form of a [`Diff`].
const DIFF_VERSION: u32 = 1;
/// A change of a rate counts when chance makes one as large less often than this. One in a thousand, since a report
/// has some dozens of rates, and findings come in bursts rather than one by one.
const P_VALUE: f64 = 0.001;
/// And when the rate is this many times the other: with much traffic, trifles are beyond chance too.
const RATIO: f64 = 1.5;

/// What became of a problem or a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Found in the new report only.
    New,
    /// In both, and more often or more severe in the new one.
    Worse,
    /// Found in the old report only.
    Fixed,
    /// In both, and less often or milder in the new one.
    Better,
    /// Found in one report only, and the log of the other lacks the field that would show it, or the new one the calls:
    /// they failed.
    #[serde(rename = "untold")]
    Inconclusive,
    /// In both, at rates that chance explains.
    Same,
}

impl Change {
    /// All of them, in the order they are shown.
    pub const ALL: [Change; 6] =
        [Change::New, Change::Worse, Change::Fixed, Change::Better, Change::Inconclusive, Change::Same];

    /// As written in reports.
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

/// Two reports, compared.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// What every comparison begins with.
    #[serde(flatten)]
    pub head: Head,
    /// The report compared with.
    pub old: Side,
    /// The report compared.
    pub new: Side,
    /// When a rate counts as changed.
    pub basis: Basis,
    /// What is to be known about the comparison itself.
    pub notices: Vec<String>,
    /// Measures of the whole, side by side.
    pub measures: Vec<Shift>,
    /// Problems: by change, new ones first and the worst of each first; infos behind the others, unchanged ones last.
    pub problems: Vec<Changed>,
    /// Problems left out, for their severity.
    pub problems_hidden: u64,
}

/// One of the two reports.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The file or folder, as it was named.
    pub name: String,
    /// First attempt to last answer.
    pub window: Option<Window>,
    /// Calls.
    pub calls: u64,
    /// Attempts.
    pub sends: u64,
    /// Runs.
    pub runs: u64,
}

/// When a rate counts as changed: both must hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Basis {
    /// Chance makes a difference as large less often than this.
    pub p_below: f64,
    /// The larger rate is at least so many times the smaller.
    pub ratio_from: f64,
}

/// One measure on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// Which.
    pub measure: Measure,
    /// Worse, better or unchanged.
    pub change: Change,
    /// Then.
    pub old: Rate,
    /// Now.
    pub new: Rate,
    /// How probable a difference as large is by chance alone; `None` of what is no count.
    pub p_value: Option<f64>,
}

/// One problem on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// What became of it.
    pub change: Change,
    /// What it is known by.
    #[serde(flatten)]
    pub key: ProblemKey,
    /// Rule name.
    pub name: String,
    /// The worst of its findings: in the new report where it is in both.
    pub severity: Severity,
    /// The worst of its findings in the old report.
    pub old_severity: Option<Severity>,
    /// Findings by call, then.
    pub old: Rate,
    /// Findings by call, now.
    pub new: Rate,
    /// How probable a difference as large is by chance alone.
    pub p_value: f64,
    /// The old log lacks the field that would have shown it.
    #[serde(rename = "old_untold")]
    pub old_inconclusive: bool,
    /// It speaks of calls that succeed, and more of those failed in the new log.
    pub failed_instead: bool,
    /// One finding's message.
    pub example: String,
    /// What to change.
    pub fix: String,
}

impl Changed {
    /// Whether chance alone may have put the problem on one side only.
    #[must_use]
    pub fn may_be_chance(&self, basis: &Basis) -> bool {
        matches!(self.change, Change::New | Change::Fixed) && self.p_value >= basis.p_below
    }
}

impl Diff {
    /// Problems of which this became.
    pub fn changed(&self, change: Change) -> impl Iterator<Item = &Changed> {
        self.problems.iter().filter(move |problem| problem.change == change)
    }

    /// The severity of the worst problem that is new or worse.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.changed(Change::New).chain(self.changed(Change::Worse)).map(|problem| problem.severity).max()
    }

    /// Leaves out the problems below `least`; the verdict stays.
    pub fn show_from(&mut self, least: Severity) {
        self.problems_hidden += remove_below(&mut self.problems, least, |problem| problem.severity);
    }

    /// From the first attempt of either side to the last answer of either.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let windows = || [self.old.window, self.new.window].into_iter().flatten();
        let first = windows().map(|window| window.first).min()?;
        Some(Window { first, last: windows().map(|window| window.last).max()? })
    }
}

/// Compares two reports, each with the name it goes by.
#[must_use]
pub fn diff(old: (&str, &PastReport), new: (&str, &PastReport)) -> Diff {
    let measures: Vec<Shift> =
        Measure::ALL.iter().map(|of| shift(*of, of.of(&old.1.totals), of.of(&new.1.totals))).collect();
    let problems = problems(old.1, new.1);
    Diff {
        head: Head::new("diff", DIFF_VERSION, verdict::sentences(&problems, &measures)),
        old: side(old),
        new: side(new),
        basis: Basis { p_below: P_VALUE, ratio_from: RATIO },
        notices: notices(old, new),
        measures,
        problems,
        problems_hidden: 0,
    }
}

fn side((name, past): (&str, &PastReport)) -> Side {
    let totals = &past.totals;
    Side { name: name.to_owned(), window: past.window, calls: totals.calls, sends: totals.sends, runs: totals.runs }
}

/// Whether a rate changed, and how probable that is by chance.
fn judge(old: Rate, new: Rate) -> (Change, f64) {
    let p = p_value(old, new);
    let change = match () {
        () if p >= P_VALUE => Change::Same,
        () if new.rate >= old.rate * RATIO => Change::Worse,
        () if old.rate >= new.rate * RATIO => Change::Better,
        () => Change::Same,
    };
    (change, p)
}

/// Whether a problem on both sides got worse, given the rate and severity of each.
pub(super) fn grew((old, was): (Rate, Severity), (new, is): (Rate, Severity)) -> bool {
    on_both_sides(was, is, judge(old, new).0) == Change::Worse
}

/// What became of a problem on both sides, by its severities and by its rates.
fn on_both_sides(was: Severity, is: Severity, by_rate: Change) -> Change {
    match by_rate {
        Change::Same | Change::Better if is > was => Change::Worse,
        Change::Same if is < was => Change::Better,
        by_rate => by_rate,
    }
}

fn shift(measure: Measure, old: Rate, new: Rate) -> Shift {
    if !measure.counts() {
        return Shift { measure, change: Change::Same, old, new, p_value: None };
    }
    let (change, p) = judge(old, new);
    Shift { measure, change, old, new, p_value: Some(p) }
}

/// That calls fail more or less often than before, beyond what chance explains well; `None` where they do not.
pub(super) fn failed_calls(old: Rate, new: Rate) -> Option<String> {
    verdict::of_failed_calls(&shift(Measure::FailedCalls, old, new))
}

/// Problems by what they are known by. A report names each once; should one come twice, its counts add up.
pub(super) fn by_key(past: &PastReport) -> BTreeMap<&ProblemKey, PastProblem> {
    let mut problems: BTreeMap<&ProblemKey, PastProblem> = BTreeMap::new();
    for problem in &past.problems {
        let sum = problems.entry(&problem.key).or_insert_with(|| PastProblem { count: 0, ..problem.clone() });
        sum.count = sum.count.saturating_add(problem.count);
        sum.severity = sum.severity.max(problem.severity);
    }
    problems
}

fn problems(old: &PastReport, new: &PastReport) -> Vec<Changed> {
    let (before, now) = (by_key(old), by_key(new));
    let mut keys: Vec<&ProblemKey> = before.keys().chain(now.keys()).copied().collect();
    keys.sort();
    keys.dedup();
    let mut problems: Vec<Changed> =
        keys.into_iter().filter_map(|key| changed((old, before.get(key)), (new, now.get(key)))).collect();
    // Infos never come before what is graver and changed too; within a severity, what chance explains comes last.
    problems.sort_by_key(|problem| {
        let (is_same, is_info) = (problem.change == Change::Same, problem.severity == Severity::Info);
        let is_chance = problem.p_value >= P_VALUE;
        let findings = problem.new.part.max(problem.old.part);
        (is_same, is_info, problem.change, Reverse(problem.severity), is_chance, Reverse(findings))
    });
    problems
}

/// What became of one problem; `None` where it is on neither side.
fn changed(old: (&PastReport, Option<&PastProblem>), new: (&PastReport, Option<&PastProblem>)) -> Option<Changed> {
    let shown = new.1.or(old.1)?;
    let rate = |(past, problem): (&PastReport, Option<&PastProblem>)| {
        Rate::new(problem.map_or(0, |problem| problem.count), past.totals.calls)
    };
    let (before, now) = (rate(old), rate(new));
    let (by_rate, p_value) = judge(before, now);
    let failed_instead = new.0.failed_instead(&shown.key.rule, old.0);
    let change = match (old.1, new.1) {
        (None, _) if old.0.cannot_judge(&shown.key.rule) => Change::Inconclusive,
        (None, _) => Change::New,
        (_, None) if new.0.cannot_judge(&shown.key.rule) => Change::Inconclusive,
        (_, None) if failed_instead => Change::Inconclusive,
        (_, None) => Change::Fixed,
        (Some(was), Some(is)) => match on_both_sides(was.severity, is.severity, by_rate) {
            Change::Better if failed_instead => Change::Same,
            change => change,
        },
    };
    Some(Changed {
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

/// That a report does not hold all that was found.
pub(super) fn hidden(name: &str, past: &PastReport) -> Option<String> {
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
        notices.extend(hidden(name, past));
    }
    if let (Some(before), Some(after)) = (old.1.window, new.1.window) {
        if before.first > after.first {
            notices.push(format!("{} is later than {}: are the two sides swapped?", old.0, new.0));
        } else if before != after && after.first < before.last {
            notices.push("the two sides overlap in time: some calls may count on both".to_owned());
        }
    }
    notices
}

#[cfg(test)]
mod tests;
mod verdict;
