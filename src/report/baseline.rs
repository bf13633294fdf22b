//! A former report, as far as it tells what is known already.

use super::Report;
use super::past::{ProblemKey, read};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Problems named in one notice, at most.
const NAMED: usize = 5;

/// What became of the problems of a former report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Problems of this report that the former one has too.
    pub known: u64,
    /// Problems of the former report that this one does not have.
    pub gone: u64,
}

/// The problems of a former report.
#[derive(Clone, Debug)]
pub struct Baseline {
    known: BTreeSet<ProblemKey>,
}

/// As much of a report as is needed.
#[derive(Debug, Deserialize)]
struct Former {
    problems: Vec<ProblemKey>,
}

impl Baseline {
    /// Reads a report in its JSON form.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        let former: Former = read(text)?;
        Ok(Baseline { known: former.problems.into_iter().collect() })
    }

    /// Marks the problems of `report` that are known, and notes the known ones that it does not have.
    pub fn mark(&self, report: &mut Report) {
        let mut gone = self.known.clone();
        for problem in &mut report.problems {
            let key = ProblemKey::of(problem);
            problem.known = self.known.contains(&key);
            gone.remove(&key);
        }
        let known = report.problems.iter().filter(|problem| problem.known).count() as u64;
        report.baseline = Some(Compared { known, gone: gone.len() as u64 });
        if !gone.is_empty() {
            let mut names: Vec<String> = gone.iter().take(NAMED).map(ProblemKey::words).collect();
            if gone.len() > NAMED {
                names.push(format!("{} more", gone.len() - NAMED));
            }
            let count = if gone.len() == 1 { "one problem".to_owned() } else { format!("{} problems", gone.len()) };
            report.notices.push(format!("the baseline knows {count} not found here: {}", names.join(", ")));
        }
    }
}
