//! A former report, as far as it tells what is known already.

use super::{Problem, Report, SCHEMA_VERSION};
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
    known: BTreeSet<Fingerprint>,
}

/// What makes two problems the same: nothing that changes from night to night.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Fingerprint {
    rule: String,
    provider: Option<String>,
    model: Option<String>,
    class: Option<String>,
}

impl Fingerprint {
    fn of(problem: &Problem) -> Fingerprint {
        Fingerprint {
            rule: problem.rule.to_owned(),
            provider: problem.provider.clone(),
            model: problem.model.clone(),
            class: problem.class.map(str::to_owned),
        }
    }

    fn words(&self) -> String {
        let more = [&self.provider, &self.model, &self.class];
        let more = more.into_iter().flatten().map(String::as_str);
        std::iter::once(self.rule.as_str()).chain(more).collect::<Vec<_>>().join(" ")
    }
}

/// As much of a report as is needed.
#[derive(Debug, Deserialize)]
struct Former {
    schema_version: u32,
    problems: Vec<Fingerprint>,
}

impl Baseline {
    /// Reads a report in its JSON form.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        let former: Former =
            serde_json::from_str(text).map_err(|error| format!("no JSON report of retrylens: {error}"))?;
        if former.schema_version != SCHEMA_VERSION {
            let version = former.schema_version;
            return Err(format!("a report of schema version {version}; this program reads {SCHEMA_VERSION}"));
        }
        Ok(Baseline { known: former.problems.into_iter().collect() })
    }

    /// Marks the problems of `report` that are known, and notes the known ones that it does not have.
    pub fn mark(&self, report: &mut Report) {
        let mut gone = self.known.clone();
        for problem in &mut report.problems {
            let fingerprint = Fingerprint::of(problem);
            problem.known = self.known.contains(&fingerprint);
            gone.remove(&fingerprint);
        }
        let known = report.problems.iter().filter(|problem| problem.known).count() as u64;
        report.baseline = Some(Compared { known, gone: gone.len() as u64 });
        if !gone.is_empty() {
            let mut names: Vec<String> = gone.iter().take(NAMED).map(Fingerprint::words).collect();
            if gone.len() > NAMED {
                names.push(format!("{} more", gone.len() - NAMED));
            }
            let count = if gone.len() == 1 { "one problem".to_owned() } else { format!("{} problems", gone.len()) };
            report.notices.push(format!("the baseline knows {count} not found here: {}", names.join(", ")));
        }
    }
}
