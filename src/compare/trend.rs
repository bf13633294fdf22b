//! Many reports in the order of their time: how the measures ran, which nights depart, which problems come and go.

use super::chance::middle;
use super::diff::{by_key, hidden};
use super::past::{Past, ProblemKey};
use super::{Measure, Rate};
use crate::model::{
    Severity,
    units::{capital, plural, thousands},
};
use crate::report::Window;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON form of a [`Trend`].
const TREND_VERSION: u32 = 1;
/// Nights before one, at least, until it can be said to depart: of fewer, the scatter is a guess.
const LEAST_BEFORE: usize = 5;
/// Standard deviations from the median, by the median absolute deviation. Above the usual 3.5 of Iglewicz and
/// Hoaglin (1993), since a night has eight measures and so few nights before it tell their scatter badly.
const DEVIATIONS: f64 = 5.0;
/// A jump at least doubles or halves the median.
const RATIO: f64 = 2.0;
/// The least scatter of waiting, in ms a call: below five times this, waiting is nothing.
const LEAST_WAIT_MS: f64 = 20.0;

/// Nights, compared.
#[derive(Clone, Debug, Serialize)]
pub struct Trend {
    /// `trend`.
    pub kind: &'static str,
    /// Version of this form.
    pub schema_version: u32,
    /// The program and version that made it.
    pub generator: String,
    /// What the comparison is about, as `--title` says it.
    pub title: Option<String>,
    /// What is to be known first: whether the last night departs, and what came and went.
    pub verdict: String,
    /// When a night counts as departing from those before it.
    pub basis: TrendBasis,
    /// What is to be known about the comparison itself.
    pub notices: Vec<String>,
    /// The nights, oldest first.
    pub nights: Vec<Night>,
    /// Problems, those of the last night first.
    pub problems: Vec<Course>,
    /// Problems left out, for their severity.
    pub problems_hidden: u64,
}

/// When a night counts as departing: all must hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrendBasis {
    /// So many nights before it.
    pub nights_from: usize,
    /// So many standard deviations from their median, by the median absolute deviation, and never less than
    /// counting alone would scatter.
    pub deviations_from: f64,
    /// The larger of night and median is at least so many times the smaller.
    pub ratio_from: f64,
}

/// One report, on its way into a trend.
#[derive(Clone, Debug)]
pub struct NightReport {
    /// The file, as it was named.
    pub file: String,
    /// The report.
    pub past: Past,
}

/// One night: what one report covers, be it a night or not.
#[derive(Clone, Debug, Serialize)]
pub struct Night {
    /// The report.
    pub file: String,
    /// First send to last answer.
    pub window: Window,
    /// Calls.
    pub calls: u64,
    /// Sends.
    pub sends: u64,
    /// Findings: errors, warnings, infos.
    pub findings: [u64; 3],
    /// Each measure.
    pub measures: BTreeMap<Measure, Rate>,
    /// Measures that depart from the nights before.
    pub jumps: Vec<Jump>,
}

/// A measure of a night that departs from the nights before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Jump {
    /// Which.
    pub measure: Measure,
    /// Up or down.
    pub up: bool,
    /// What the night came to.
    pub rate: f64,
    /// The median of the nights before.
    pub median: f64,
    /// How many nights that were.
    pub nights: usize,
}

/// How a problem comes and goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// In the last night, and never before.
    New,
    /// In the last night, not in the one before, but earlier.
    Back,
    /// In every night since its first, which is not the first of all.
    Since,
    /// In the last nights, with gaps before.
    OnAndOff,
    /// In every night.
    Always,
    /// Not in the last night; its report says that it could not have shown.
    Untold,
    /// Not in the last night.
    Gone,
}

/// One problem over all nights.
#[derive(Clone, Debug, Serialize)]
pub struct Course {
    /// How it comes and goes.
    pub presence: Presence,
    /// What it is known by.
    #[serde(flatten)]
    pub key: ProblemKey,
    /// Rule name.
    pub name: String,
    /// The worst of its findings in any night.
    pub severity: Severity,
    /// The first night it is in, from 0.
    pub first: usize,
    /// The last night it is in, from 0.
    pub last: usize,
    /// Findings by call, night by night.
    pub rates: Vec<Rate>,
}

impl Course {
    /// Findings in all nights.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.rates.iter().fold(0, |sum, rate| sum.saturating_add(rate.part))
    }

    /// Nights it is in.
    #[must_use]
    pub fn nights(&self) -> usize {
        self.rates.iter().filter(|rate| rate.part > 0).count()
    }
}

impl Trend {
    /// Leaves out the problems below `least`; the verdict stays.
    pub fn show_from(&mut self, least: Severity) {
        let all = self.problems.len();
        self.problems.retain(|problem| problem.severity >= least);
        self.problems_hidden += (all - self.problems.len()) as u64;
    }

    /// From the first send of all to the last answer.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let first = self.nights.iter().map(|night| night.window.first).min()?;
        Some(Window { first, last: self.nights.iter().map(|night| night.window.last).max()? })
    }

    /// What a measure came to, night by night.
    pub fn rates(&self, measure: Measure) -> impl Iterator<Item = Rate> + Clone {
        self.nights.iter().map(move |night| night.measures.get(&measure).copied().unwrap_or(Rate::new(0, 0)))
    }
}

impl Night {
    /// Whether, and which way, a measure departs.
    #[must_use]
    pub fn jump(&self, measure: Measure) -> Option<&Jump> {
        self.jumps.iter().find(|jump| jump.measure == measure)
    }
}

/// Compares reports. Those that cover no time at all have no place in the order and are left out with a notice.
#[must_use]
pub fn trend(reports: Vec<NightReport>) -> Trend {
    let (mut placed, placeless): (Vec<(Window, NightReport)>, Vec<String>) = place(reports);
    placed.sort_by(|(a, left), (b, right)| (a, &left.file).cmp(&(b, &right.file)));
    let mut nights: Vec<Night> = placed.iter().map(|(window, report)| night(*window, report)).collect();
    for at in 0..nights.len() {
        nights[at].jumps = jumps(&nights[..at], &nights[at]);
    }
    let pasts: Vec<&Past> = placed.iter().map(|(_, report)| &report.past).collect();
    let problems = courses(&pasts);
    Trend {
        kind: "trend",
        schema_version: TREND_VERSION,
        generator: format!("retrylens {}", env!("CARGO_PKG_VERSION")),
        title: None,
        verdict: verdict(&nights, &problems),
        basis: TrendBasis { nights_from: LEAST_BEFORE, deviations_from: DEVIATIONS, ratio_from: RATIO },
        notices: notices(&nights, &placed, &placeless),
        nights,
        problems,
        problems_hidden: 0,
    }
}

fn place(reports: Vec<NightReport>) -> (Vec<(Window, NightReport)>, Vec<String>) {
    let (mut placed, mut placeless) = (Vec::new(), Vec::new());
    for report in reports {
        match report.past.window {
            Some(window) => placed.push((window, report)),
            None => placeless.push(report.file),
        }
    }
    (placed, placeless)
}

fn night(window: Window, report: &NightReport) -> Night {
    let totals = &report.past.totals;
    Night {
        file: report.file.clone(),
        window,
        calls: totals.calls,
        sends: totals.sends,
        findings: [totals.errors, totals.warnings, totals.infos],
        measures: Measure::ALL.into_iter().map(|measure| (measure, measure.of(totals))).collect(),
        jumps: Vec::new(),
    }
}

fn jumps(before: &[Night], night: &Night) -> Vec<Jump> {
    let of = |night: &Night, measure: &Measure| night.measures.get(measure).copied().filter(|rate| rate.of > 0);
    Measure::ALL
        .into_iter()
        .filter_map(|measure| {
            let before: Vec<f64> =
                before.iter().filter_map(|night| of(night, &measure)).map(|rate| rate.rate).collect();
            jump(measure, &before, of(night, &measure)?)
        })
        .collect()
}

/// Whether `now` departs from the nights before.
fn jump(measure: Measure, before: &[f64], now: Rate) -> Option<Jump> {
    if before.len() < LEAST_BEFORE {
        return None;
    }
    let (median, scatter) = middle(before)?;
    // What counting alone scatters: the root of the expected count, which is 1 at least.
    let expected = (median * now.of as f64).max(1.0);
    let least = if measure.counts() { expected.sqrt() / now.of as f64 } else { LEAST_WAIT_MS };
    let is_far = (now.rate - median).abs() > DEVIATIONS * scatter.max(least);
    let is_large = now.rate >= median * RATIO || median >= now.rate * RATIO;
    let jump = Jump { measure, up: now.rate > median, rate: now.rate, median, nights: before.len() };
    (is_far && is_large).then_some(jump)
}

fn courses(pasts: &[&Past]) -> Vec<Course> {
    let mut courses: BTreeMap<&ProblemKey, Course> = BTreeMap::new();
    for (at, past) in pasts.iter().enumerate() {
        for (key, problem) in by_key(past) {
            let course = courses.entry(key).or_insert_with(|| Course {
                presence: Presence::Always,
                key: key.clone(),
                name: problem.name.clone(),
                severity: problem.severity,
                first: at,
                last: at,
                rates: pasts.iter().map(|past| Rate::new(0, past.totals.calls)).collect(),
            });
            course.last = at;
            course.severity = course.severity.max(problem.severity);
            course.rates[at] = Rate::new(problem.count, past.totals.calls);
        }
    }
    let mut courses: Vec<Course> = courses.into_values().collect();
    for course in &mut courses {
        course.presence = presence(course, pasts);
    }
    courses.sort_by_key(|course| {
        let is_over = matches!(course.presence, Presence::Gone | Presence::Untold);
        (is_over, std::cmp::Reverse((course.severity, course.findings())))
    });
    courses
}

fn presence(course: &Course, pasts: &[&Past]) -> Presence {
    let end = pasts.len() - 1;
    let is_in = |at: usize| course.rates[at].part > 0;
    match () {
        () if !is_in(end) && pasts[end].cannot_judge(&course.key.rule) => Presence::Untold,
        () if !is_in(end) && pasts[end].failed_instead(&course.key.rule, pasts[course.last]) => Presence::Untold,
        () if !is_in(end) => Presence::Gone,
        () if course.first == 0 && (0..=end).all(is_in) => Presence::Always,
        () if course.first == end => Presence::New,
        () if !is_in(end - 1) => Presence::Back,
        () if (course.first..=end).all(is_in) => Presence::Since,
        () => Presence::OnAndOff,
    }
}

fn verdict(nights: &[Night], problems: &[Course]) -> String {
    let Some(last) = nights.last() else { return "No night to compare.".to_owned() };
    let mut parts = vec![if nights.len() <= LEAST_BEFORE {
        let count = nights.len() as u64;
        format!(
            "{} {}: too few to say that one departs, which takes {LEAST_BEFORE} before it",
            thousands(count),
            plural(count, "night")
        )
    } else if last.jumps.is_empty() {
        format!("the last of {} nights is like those before", thousands(nights.len() as u64))
    } else {
        format!(
            "the last of {} nights departs from those before it in {}",
            thousands(nights.len() as u64),
            last.jumps.iter().map(|jump| jump.measure.label()).collect::<Vec<_>>().join(", ")
        )
    }];
    let count = |presence: Presence| problems.iter().filter(|course| course.presence == presence).count() as u64;
    if nights.len() > 1 {
        let came = [(Presence::New, "new"), (Presence::Back, "back")];
        let came: Vec<String> = came
            .iter()
            .filter(|(way, _)| count(*way) > 0)
            .map(|(way, word)| format!("{} {word}", thousands(count(*way))))
            .collect();
        if !came.is_empty() {
            parts.push(format!("problems of the last night: {}", came.join(", ")));
        }
    }
    parts.iter().map(|part| format!("{}.", capital(part))).collect::<Vec<_>>().join(" ")
}

fn notices(nights: &[Night], placed: &[(Window, NightReport)], placeless: &[String]) -> Vec<String> {
    let left_out = placeless.iter().map(|file| format!("{file} covers no time and is left out"));
    let overlaps = nights.windows(2).filter_map(|pair| {
        let [before, after] = pair else { return None };
        (after.window.first < before.window.last)
            .then(|| format!("{} and {} overlap in time: some calls may count in both", before.file, after.file))
    });
    let hidden = placed.iter().filter_map(|(_, report)| hidden(&report.file, &report.past));
    left_out.chain(hidden).chain(overlaps).collect()
}

impl Jump {
    /// "failed calls 12% against a median of 2%".
    #[must_use]
    pub fn words(&self) -> String {
        let measure = self.measure;
        let (now, median) = (measure.bare(self.rate), measure.shown(self.median));
        format!("{} {now} against a median of {median}", measure.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(before: &[u64], now: u64) -> Option<bool> {
        let before: Vec<f64> = before.iter().map(|part| Rate::new(*part, 1000).rate).collect();
        jump(Measure::FailedCalls, &before, Rate::new(now, 1000)).map(|jump| jump.up)
    }

    #[test]
    fn a_jump_is_far_from_the_median_and_large() {
        assert_eq!(found(&[20, 22, 19, 21, 20], 90), Some(true));
        assert_eq!(found(&[90, 95, 88, 91, 90], 9), Some(false));
        // Too few nights, scatter of its own, what counting scatters, and no doubling.
        assert_eq!(found(&[20, 22, 19, 21], 90), None);
        assert_eq!(found(&[5, 90, 20, 60, 30], 95), None);
        assert_eq!(found(&[0, 0, 0, 0, 0], 4), None);
        assert_eq!(found(&[20, 20, 20, 20, 20], 28), None);
        assert_eq!(found(&[400, 400, 401, 400, 399], 550), None);
    }

    #[test]
    fn one_wild_night_does_not_hide_the_next() {
        assert_eq!(found(&[20, 22, 19, 400, 21, 20], 90), Some(true));
    }
}
