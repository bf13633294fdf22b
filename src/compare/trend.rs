//! Comparison of many reports in order of time: the measures over time, jumps from earlier reports, and problems
//! that appear and disappear.

use super::chance::median_and_deviation;
use super::diff::{by_key, hidden_notice};
use super::head::{Head, remove_below};
use super::past_report::{PastReport, ProblemKey};
use super::{Measure, Rate};
use crate::model::{
    Severity,
    units::{capitalized, plural, thousands},
};
use crate::report::Window;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON format of a [`Trend`].
const TREND_VERSION: u32 = 2;
/// Minimum number of earlier reports for a jump: with fewer, their scatter is unknown.
const MIN_BEFORE: usize = 5;
/// Minimum distance from the median, in standard deviations estimated from the median absolute deviation. Above the
/// usual 3.5 of Iglewicz and Hoaglin (1993), since a report has eight measures and few earlier reports give a poor
/// estimate of the scatter.
const MIN_DEVIATIONS: f64 = 5.0;
/// Minimum factor between a rate and the median: a jump at least doubles or halves it.
const MIN_RATIO: f64 = 2.0;
/// Minimum scatter of waiting, in milliseconds per call: waits below five times this are negligible.
const MIN_WAIT_MS: f64 = 20.0;

/// A comparison of reports in order of time.
#[derive(Clone, Debug, Serialize)]
pub struct Trend {
    /// Fields that every comparison begins with.
    #[serde(flatten)]
    pub head: Head,
    /// What counts as a jump.
    pub basis: TrendBasis,
    /// Remarks on the reliability of the comparison.
    pub notices: Vec<String>,
    /// The reports, oldest first.
    pub reports: Vec<TrendReport>,
    /// Problems, those of the last report first.
    pub problems: Vec<ProblemTrend>,
    /// Number of problems left out because of their severity.
    pub problems_hidden: u64,
}

/// What counts as a jump; all conditions must hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrendBasis {
    /// Minimum number of earlier reports.
    pub reports_from: usize,
    /// Minimum distance from their median, in standard deviations. These are estimated from the median absolute
    /// deviation, and are at least the scatter expected from counting.
    pub deviations_from: f64,
    /// The larger of rate and median is at least this many times the smaller.
    pub ratio_from: f64,
}

/// A report with the file it was read from.
#[derive(Clone, Debug)]
pub struct NamedReport {
    /// Path of the file as given.
    pub file: String,
    /// The report.
    pub past: PastReport,
}

/// A report of a trend.
#[derive(Clone, Debug, Serialize)]
pub struct TrendReport {
    /// Path of its file.
    pub file: String,
    /// From the first attempt to the last answer.
    pub window: Window,
    /// Number of calls.
    pub calls: u64,
    /// Number of attempts.
    pub sends: u64,
    /// Number of findings: errors, warnings, infos.
    pub findings: [u64; 3],
    /// Rate of each measure.
    pub measures: BTreeMap<Measure, Rate>,
    /// Measures that jumped from the earlier reports.
    pub jumps: Vec<Jump>,
}

/// A measure that jumped: in one report it is far from its median in the earlier reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Jump {
    /// The measure.
    pub measure: Measure,
    /// Whether it is above the median.
    pub up: bool,
    /// Its rate in this report.
    pub rate: f64,
    /// Its median in the earlier reports.
    pub median: f64,
    /// Number of earlier reports.
    pub reports: usize,
}

/// In which reports a problem occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// In the last report only.
    New,
    /// In the last report and an earlier one, but not in the one before.
    Back,
    /// In every report since its first, which is not the first of all.
    Since,
    /// In the last two reports, with gaps before.
    OnAndOff,
    /// In every report.
    Always,
    /// Not in the last report, which could not have shown it: its log lacks the field, or more of its calls failed.
    #[serde(rename = "untold")]
    Inconclusive,
    /// Not in the last report.
    Gone,
}

/// A problem over all reports.
#[derive(Clone, Debug, Serialize)]
pub struct ProblemTrend {
    /// In which reports it occurs.
    pub presence: Presence,
    /// Identity of the problem.
    #[serde(flatten)]
    pub key: ProblemKey,
    /// Name of the rule.
    pub name: String,
    /// Highest severity of its findings in any report.
    pub severity: Severity,
    /// Index of the first report it is in.
    pub first: usize,
    /// Index of the last report it is in.
    pub last: usize,
    /// Findings per call in each report.
    pub rates: Vec<Rate>,
}

impl ProblemTrend {
    /// Returns the number of findings in all reports.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.rates.iter().fold(0, |sum, rate| sum.saturating_add(rate.part))
    }

    /// Returns the number of reports it is in.
    #[must_use]
    pub fn reports(&self) -> usize {
        self.rates.iter().filter(|rate| rate.part > 0).count()
    }
}

impl Trend {
    /// Leaves out the problems below `min`; the verdict is unchanged.
    pub fn hide_below(&mut self, min: Severity) {
        self.problems_hidden += remove_below(&mut self.problems, min, |problem| problem.severity);
    }

    /// Returns the time from the first attempt of all reports to the last answer.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let first = self.reports.iter().map(|report| report.window.first).min()?;
        Some(Window { first, last: self.reports.iter().map(|report| report.window.last).max()? })
    }

    /// Returns the rates of a measure, one per report.
    pub fn rates(&self, measure: Measure) -> impl Iterator<Item = Rate> + Clone {
        self.reports.iter().map(move |report| report.measures.get(&measure).copied().unwrap_or(Rate::new(0, 0)))
    }
}

impl TrendReport {
    /// Returns the jump of a measure, if it jumped.
    #[must_use]
    pub fn jump(&self, measure: Measure) -> Option<&Jump> {
        self.jumps.iter().find(|jump| jump.measure == measure)
    }
}

/// Compares reports. Those without a time range cannot be ordered and are left out with a notice.
#[must_use]
pub fn trend(named: Vec<NamedReport>) -> Trend {
    let (mut with_time, without_time): (Vec<(Window, NamedReport)>, Vec<String>) = split_by_time(named);
    with_time.sort_by(|(a, left), (b, right)| (a, &left.file).cmp(&(b, &right.file)));
    let mut reports: Vec<TrendReport> = with_time.iter().map(|(window, report)| summary(*window, report)).collect();
    for at in 0..reports.len() {
        reports[at].jumps = jumps(&reports[..at], &reports[at]);
    }
    let pasts: Vec<&PastReport> = with_time.iter().map(|(_, report)| &report.past).collect();
    let problems = problems(&pasts);
    Trend {
        head: Head::new("trend", TREND_VERSION, verdict(&reports, &problems)),
        basis: TrendBasis { reports_from: MIN_BEFORE, deviations_from: MIN_DEVIATIONS, ratio_from: MIN_RATIO },
        notices: notices(&reports, &with_time, &without_time),
        reports,
        problems,
        problems_hidden: 0,
    }
}

fn split_by_time(reports: Vec<NamedReport>) -> (Vec<(Window, NamedReport)>, Vec<String>) {
    let (mut with_time, mut without_time) = (Vec::new(), Vec::new());
    for report in reports {
        match report.past.window {
            Some(window) => with_time.push((window, report)),
            None => without_time.push(report.file),
        }
    }
    (with_time, without_time)
}

fn summary(window: Window, report: &NamedReport) -> TrendReport {
    let totals = &report.past.totals;
    TrendReport {
        file: report.file.clone(),
        window,
        calls: totals.calls,
        sends: totals.sends,
        findings: [totals.errors, totals.warnings, totals.infos],
        measures: Measure::ALL.into_iter().map(|measure| (measure, measure.of(totals))).collect(),
        jumps: Vec::new(),
    }
}

fn jumps(before: &[TrendReport], report: &TrendReport) -> Vec<Jump> {
    let of = |report: &TrendReport, measure: &Measure| report.measures.get(measure).copied().filter(|rate| rate.of > 0);
    Measure::ALL
        .into_iter()
        .filter_map(|measure| {
            let before = before.iter().filter_map(|report| of(report, &measure));
            jump(measure, &before.map(|rate| rate.rate).collect::<Vec<f64>>(), of(report, &measure)?)
        })
        .collect()
}

/// Returns a jump if `now` is far from the rates of the earlier reports.
fn jump(measure: Measure, before: &[f64], now: Rate) -> Option<Jump> {
    if before.len() < MIN_BEFORE {
        return None;
    }
    let (median, scatter) = median_and_deviation(before)?;
    // The scatter expected from counting: the square root of the expected count, which is taken to be at least 1.
    let expected = (median * now.of as f64).max(1.0);
    let min_scatter = if measure.is_count() { expected.sqrt() / now.of as f64 } else { MIN_WAIT_MS };
    let is_far = (now.rate - median).abs() > MIN_DEVIATIONS * scatter.max(min_scatter);
    let is_large = now.rate >= median * MIN_RATIO || median >= now.rate * MIN_RATIO;
    let jump = Jump { measure, up: now.rate > median, rate: now.rate, median, reports: before.len() };
    (is_far && is_large).then_some(jump)
}

fn problems(pasts: &[&PastReport]) -> Vec<ProblemTrend> {
    let mut problems: BTreeMap<&ProblemKey, ProblemTrend> = BTreeMap::new();
    for (at, past) in pasts.iter().enumerate() {
        for (key, jump_direction) in by_key(past) {
            let problem = problems.entry(key).or_insert_with(|| ProblemTrend {
                presence: Presence::Always,
                key: key.clone(),
                name: jump_direction.name.clone(),
                severity: jump_direction.severity,
                first: at,
                last: at,
                rates: pasts.iter().map(|past| Rate::new(0, past.totals.calls)).collect(),
            });
            problem.last = at;
            problem.severity = problem.severity.max(jump_direction.severity);
            problem.rates[at] = Rate::new(jump_direction.count, past.totals.calls);
        }
    }
    let mut problems: Vec<ProblemTrend> = problems.into_values().collect();
    for problem in &mut problems {
        problem.presence = presence(problem, pasts);
    }
    problems.sort_by_key(|problem| {
        let is_over = matches!(problem.presence, Presence::Gone | Presence::Inconclusive);
        (is_over, std::cmp::Reverse((problem.severity, problem.findings())))
    });
    problems
}

fn presence(problem: &ProblemTrend, pasts: &[&PastReport]) -> Presence {
    let end = pasts.len() - 1;
    let is_in = |at: usize| problem.rates[at].part > 0;
    let (rule, last) = (&problem.key.rule, pasts[end]);
    if !is_in(end) && (last.cannot_judge(rule) || last.failed_instead(rule, pasts[problem.last])) {
        Presence::Inconclusive
    } else if !is_in(end) {
        Presence::Gone
    } else if problem.first == 0 && (0..=end).all(is_in) {
        Presence::Always
    } else if problem.first == end {
        Presence::New
    } else if !is_in(end - 1) {
        Presence::Back
    } else if (problem.first..=end).all(is_in) {
        Presence::Since
    } else {
        Presence::OnAndOff
    }
}

fn verdict(reports: &[TrendReport], problems: &[ProblemTrend]) -> String {
    let Some(last) = reports.last() else { return "No report to compare.".to_owned() };
    let count = thousands(reports.len() as u64);
    let mut parts = vec![if reports.len() <= MIN_BEFORE {
        let noun = plural(reports.len() as u64, "report");
        format!("{count} {noun}: too few to say that one departs, which takes {MIN_BEFORE} before it")
    } else if last.jumps.is_empty() {
        format!("the last of {count} reports is like those before")
    } else {
        let measures = last.jumps.iter().map(|jump| jump.measure.label()).collect::<Vec<_>>().join(", ");
        format!("the last of {count} reports departs from those before it in {measures}")
    }];
    if reports.len() > 1 {
        let of = |presence| problems.iter().filter(|problem| problem.presence == presence).count() as u64;
        let appeared = [(of(Presence::New), "new"), (of(Presence::Back), "back")];
        let appeared = appeared.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", thousands(*n)));
        let appeared = appeared.collect::<Vec<_>>().join(", ");
        parts.extend((!appeared.is_empty()).then(|| format!("problems of the last report: {appeared}")));
    }
    parts.iter().map(|part| format!("{}.", capitalized(part))).collect::<Vec<_>>().join(" ")
}

fn notices(reports: &[TrendReport], with_time: &[(Window, NamedReport)], without_time: &[String]) -> Vec<String> {
    let left_out = without_time.iter().map(|file| format!("{file} covers no time and is left out"));
    let overlaps = reports.windows(2).filter_map(|pair| {
        let [before, after] = pair else { return None };
        (after.window.first < before.window.last)
            .then(|| format!("{} and {} overlap in time: some calls may count in both", before.file, after.file))
    });
    let hidden_notice = with_time.iter().filter_map(|(_, report)| hidden_notice(&report.file, &report.past));
    left_out.chain(hidden_notice).chain(overlaps).collect()
}

impl Jump {
    /// Describes the jump: "failed calls 12% against a median of 2%".
    #[must_use]
    pub fn words(&self) -> String {
        let measure = self.measure;
        let (now, median) = (measure.without_unit(self.rate), measure.with_unit(self.median));
        format!("{} {now} against a median of {median}", measure.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jump_direction(before: &[u64], now: u64) -> Option<bool> {
        let before: Vec<f64> = before.iter().map(|part| Rate::new(*part, 1000).rate).collect();
        jump(Measure::FailedCalls, &before, Rate::new(now, 1000)).map(|jump| jump.up)
    }

    #[test]
    fn a_jump_is_far_from_the_median_and_large() {
        assert_eq!(jump_direction(&[20, 22, 19, 21, 20], 90), Some(true));
        assert_eq!(jump_direction(&[90, 95, 88, 91, 90], 9), Some(false));
        // Too few reports, a large scatter, the scatter of counting, and less than a factor of 2.
        assert_eq!(jump_direction(&[20, 22, 19, 21], 90), None);
        assert_eq!(jump_direction(&[5, 90, 20, 60, 30], 95), None);
        assert_eq!(jump_direction(&[0, 0, 0, 0, 0], 4), None);
        assert_eq!(jump_direction(&[20, 20, 20, 20, 20], 28), None);
        assert_eq!(jump_direction(&[400, 400, 401, 400, 399], 550), None);
    }

    #[test]
    fn one_outlier_does_not_hide_the_next() {
        assert_eq!(jump_direction(&[20, 22, 19, 400, 21, 20], 90), Some(true));
    }
}
