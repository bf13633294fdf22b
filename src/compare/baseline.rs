//! Comparison of a report with a baseline, a former report whose problems are known.

use super::diff::{by_key, failed_calls, got_worse};
use super::past_report::{PastReport, ProblemKey};
use super::{Measure, Rate};
use crate::model::Severity;
use crate::model::units::{capitalized, counted, per_thousand, thousands};
use crate::report::{BaselineChanges, Problem, Report};

/// Maximum number of problems named in a notice.
const MAX_NAMED: usize = 5;

/// A former report to compare with.
#[derive(Clone, Debug)]
pub struct Baseline {
    past: PastReport,
}

impl Baseline {
    /// Parses a report in JSON.
    ///
    /// # Errors
    /// Returns a message if the text is not a report.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        PastReport::parse(text).map(|past| Baseline { past })
    }

    /// Describes what is new compared with the baseline; a changed rate of failed calls comes first.
    fn summary(&self, report: &Report) -> String {
        let before = Measure::FailedCalls.of(&self.past.totals);
        let now = Rate::new(report.totals.calls_failed, report.totals.calls);
        let problems = problems_sentence(&report.problems);
        let all = failed_calls(before, now).into_iter().chain([problems]);
        all.map(|part| format!("{}.", capitalized(&part))).collect::<Vec<_>>().join(" ")
    }

    /// Marks the problems of `report` that are known, adds notices about those that grew or are gone, and puts a
    /// summary at the front of the verdict. A problem grew if `diff` of the two reports would call it worse.
    pub fn mark(&self, report: &mut Report) {
        let mut former = by_key(&self.past);
        let mut grown = Vec::new();
        for problem in &mut report.problems {
            let key = ProblemKey::of(problem);
            let Some(past_problem) = former.remove(&key) else { continue };
            let before = Rate::new(past_problem.count, self.past.totals.calls);
            let now = Rate::new(problem.count, report.totals.calls);
            problem.grew = got_worse((before, past_problem.severity), (now, problem.severity));
            problem.known = !problem.grew;
            if problem.grew {
                let rates = [before, now].map(|rate| per_thousand(rate.rate));
                grown.push(format!("{} ({} to {} per 1,000 calls)", key.words(), rates[0], rates[1]));
            }
        }
        let known = report.problems.iter().filter(|problem| problem.known).count() as u64;
        let gone: Vec<String> = former.into_keys().map(ProblemKey::words).collect();
        report.baseline = Some(BaselineChanges { known, grown: grown.len() as u64, gone: gone.len() as u64 });
        report.verdict = format!("{} {}", self.summary(report), report.verdict);
        let notice = |list: Vec<String>, what: &str| {
            (!list.is_empty())
                .then(|| format!("{} {what}: {}", counted(list.len() as u64, "problem"), join_names(&list)))
        };
        report.notices.extend(notice(grown, "worse than in the baseline, beyond chance or in severity"));
        report.notices.extend(notice(gone, "of the baseline not found here"));
    }
}

/// Summarises the problems: "nothing new: all 9 problems are known from the baseline", or how many are new, with infos
/// counted separately.
fn problems_sentence(problems: &[Problem]) -> String {
    const KNOWN: &str = "known from the baseline";
    let count = |holds: &dyn Fn(&Problem) -> bool| problems.iter().filter(|problem| holds(problem)).count() as u64;
    let is_info = |problem: &Problem| problem.severity == Severity::Info;
    let known = count(&|problem| problem.known);
    let infos = count(&|problem| !problem.known && is_info(problem));
    let new = count(&|problem| !problem.known && !problem.grew && !is_info(problem));
    let worse = count(&|problem| problem.grew && !is_info(problem));
    let list = |parts: &[(u64, &str)]| {
        let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", thousands(*n)));
        parts.collect::<Vec<_>>().join(", ")
    };
    match (new + worse, infos, known) {
        (0, 0, 0) => "nothing new: no problem found".to_owned(),
        (0, 0, 1) => format!("nothing new: the problem found is {KNOWN}"),
        (0, 0, _) => format!("nothing new: all {} problems are {KNOWN}", thousands(known)),
        (0, ..) => {
            format!("nothing new above info: {}", list(&[(infos, "new or worse of severity info"), (known, KNOWN)]))
        }
        _ => format!(
            "problems: {}",
            list(&[(new, "new"), (worse, "worse"), (infos, "new or worse infos"), (known, KNOWN)])
        ),
    }
}

fn join_names(list: &[String]) -> String {
    let mut names = list.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>();
    if list.len() > MAX_NAMED {
        names.push(format!("{} more", list.len() - MAX_NAMED));
    }
    names.join(", ")
}
