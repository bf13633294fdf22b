//! Findings, and the problems they are grouped into.

use super::Report;
use crate::model::{CallFacts, Confidence, Cost, Evidence, Severity, Time};
use serde::{Serialize, Serializer};
use std::collections::HashMap;

/// An attempt that a finding is based on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptRef {
    /// Name of the input.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// Request id from the provider.
    pub request_id: Option<String>,
    /// Attempt number within its layer; if the log gives none, position within the call.
    pub attempt: u16,
    /// When it was sent.
    pub ts: Time,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
    /// Failure class; `None` for a success.
    pub class: Option<&'static str>,
}

/// One rule's verdict about one call, run or fleet.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Rule code.
    pub rule: &'static str,
    /// Rule name.
    pub name: &'static str,
    /// Severity of the finding.
    pub severity: Severity,
    /// How complete the evidence is.
    pub confidence: Confidence,
    /// What happened, with figures.
    pub message: String,
    /// Run it belongs to.
    pub run_id: Option<String>,
    /// Id of the call.
    pub call_id: Option<String>,
    /// Outcome of the call; `None` if the finding is not about a single call.
    pub call: Option<CallFacts>,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// Failure class it is about.
    pub class: Option<&'static str>,
    /// `explicit`, `counter`, `body` or `inferred`.
    pub grouping: Option<&'static str>,
    /// Attempts it is based on, in time order; long lists are cut in the middle.
    pub attempts: Vec<AttemptRef>,
    /// Figures that the rule compared.
    #[serde(serialize_with = "as_map")]
    pub evidence: Vec<(&'static str, Evidence)>,
    /// Cost.
    pub cost: Cost,
    /// Recommended change.
    pub fix: String,
}

fn as_map<S: Serializer>(pairs: &[(&'static str, Evidence)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// Findings of one rule about one provider, model and class.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// Rule code.
    pub rule: &'static str,
    /// Rule name.
    pub name: &'static str,
    /// Highest severity among its findings.
    pub severity: Severity,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// Failure class.
    pub class: Option<&'static str>,
    /// Number of findings.
    pub count: u64,
    /// Number of runs with such a finding.
    pub runs: u64,
    /// Time of the first finding.
    pub first_seen: Time,
    /// Time of the last finding.
    pub last_seen: Time,
    /// Total cost of the findings.
    pub cost: Cost,
    /// Message of the earliest finding.
    pub example: String,
    /// Up to three request ids to ask the provider about.
    pub request_ids: Vec<String>,
    /// Recommended change.
    pub fix: String,
    /// Whether the baseline has it at a rate within chance; if so, it does not make the program fail.
    pub known: bool,
    /// Whether it is in the baseline, and by now more severe or more frequent than chance explains.
    pub grew: bool,
}

impl Report {
    /// Groups the findings by the problem they belong to, in the order of the report.
    #[must_use]
    pub fn findings_by_problem(&self) -> HashMap<ProblemIdentity<'_>, Vec<&Finding>> {
        let mut groups: HashMap<ProblemIdentity<'_>, Vec<&Finding>> = HashMap::new();
        for finding in &self.findings {
            groups.entry(finding.problem_key()).or_default().push(finding);
        }
        groups
    }
}

impl Finding {
    /// Key of the problem that the finding belongs to.
    #[must_use]
    pub fn problem_key(&self) -> ProblemIdentity<'_> {
        (self.rule, self.provider.as_deref(), self.model.as_deref(), self.class)
    }
}

/// Key of a problem: rule, provider, model and class.
pub type ProblemIdentity<'r> = (&'static str, Option<&'r str>, Option<&'r str>, Option<&'static str>);

impl Problem {
    /// Key of the problem.
    #[must_use]
    pub fn key(&self) -> ProblemIdentity<'_> {
        (self.rule, self.provider.as_deref(), self.model.as_deref(), self.class)
    }
}
