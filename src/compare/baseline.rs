//! A former report, as far as it tells what is known already.

use super::Rate;
use super::diff::{by_key, grew};
use super::past::{Past, ProblemKey};
use crate::model::units::{counted, per_thousand};
use crate::report::{Compared, Report};

/// Problems named in one notice, at most.
const NAMED: usize = 5;

/// A former report.
#[derive(Clone, Debug)]
pub struct Baseline {
    past: Past,
}

impl Baseline {
    /// Reads a report in its JSON form.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        Past::parse(text).map(|past| Baseline { past })
    }

    /// Marks the problems of `report` that are known, and notes those that grew and those that are gone. A problem
    /// grew where `diff` of the two reports would call it worse.
    pub fn mark(&self, report: &mut Report) {
        let mut former = by_key(&self.past);
        let mut grown = Vec::new();
        for problem in &mut report.problems {
            let key = ProblemKey::of(problem);
            let Some(was) = former.remove(&key) else { continue };
            let before = Rate::new(was.count, self.past.totals.calls);
            let now = Rate::new(problem.count, report.totals.calls);
            problem.grew = grew((before, was.severity), (now, problem.severity));
            problem.known = !problem.grew;
            if problem.grew {
                let rates = [before, now].map(|rate| per_thousand(rate.rate));
                grown.push(format!("{} ({} to {} per 1,000 calls)", key.words(), rates[0], rates[1]));
            }
        }
        let known = report.problems.iter().filter(|problem| problem.known).count() as u64;
        let gone: Vec<String> = former.into_keys().map(ProblemKey::words).collect();
        report.baseline = Some(Compared { known, grown: grown.len() as u64, gone: gone.len() as u64 });
        let notice = |list: Vec<String>, what: &str| {
            (!list.is_empty()).then(|| format!("{} {what}: {}", counted(list.len() as u64, "problem"), named(&list)))
        };
        report.notices.extend(notice(grown, "worse than in the baseline, beyond chance or in severity"));
        report.notices.extend(notice(gone, "of the baseline not found here"));
    }
}

fn named(list: &[String]) -> String {
    let mut names = list.iter().take(NAMED).cloned().collect::<Vec<_>>();
    if list.len() > NAMED {
        names.push(format!("{} more", list.len() - NAMED));
    }
    names.join(", ")
}
