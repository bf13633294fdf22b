//! Findings and the problems they fold into.

use crate::model::{CallFacts, Confidence, Cost, Evidence, Severity, Time};
use serde::{Serialize, Serializer};

/// One attempt a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sighting {
    /// Input.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The provider's id of it.
    pub request_id: Option<String>,
    /// Number in its layer, or its place in the call where the log gives none.
    pub attempt: u16,
    /// When it was sent.
    pub ts: Time,
    /// HTTP status, where one came.
    pub status: Option<u16>,
    /// Why it failed; `None` for a success.
    pub class: Option<&'static str>,
}

/// One rule's verdict about one call, run or fleet.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Rule code.
    pub rule: &'static str,
    /// Rule name.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// How complete the evidence is.
    pub confidence: Confidence,
    /// What happened, with its figures.
    pub message: String,
    /// The run.
    pub run_id: Option<String>,
    /// The call.
    pub call_id: Option<String>,
    /// How the call went; `None` of findings about more or less than a call.
    pub call: Option<CallFacts>,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// The failure class it is about.
    pub class: Option<&'static str>,
    /// `explicit`, `counter` or `inferred`.
    pub grouping: Option<&'static str>,
    /// The attempts it rests on, in time order; long ones are cut in the middle.
    pub attempts: Vec<Sighting>,
    /// The figures it compared.
    #[serde(serialize_with = "as_map")]
    pub evidence: Vec<(&'static str, Evidence)>,
    /// What it cost.
    pub cost: Cost,
    /// What to change.
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
    /// The worst of its findings.
    pub severity: Severity,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// The failure class.
    pub class: Option<&'static str>,
    /// Findings.
    pub count: u64,
    /// Runs they are in.
    pub runs: u64,
    /// First of them.
    pub first_seen: Time,
    /// Last of them.
    pub last_seen: Time,
    /// What they cost together.
    pub cost: Cost,
    /// One finding's message, the earliest.
    pub example: String,
    /// Up to three request ids to ask the provider about.
    pub request_ids: Vec<String>,
    /// What to change.
    pub fix: String,
    /// The baseline has it already, at a rate that chance explains: it fails no one.
    pub known: bool,
    /// The baseline has it, and there is more of it now than chance explains, or it is graver.
    pub grew: bool,
}

impl Finding {
    /// The problem it is folded into.
    #[must_use]
    pub fn problem_key(&self) -> ProblemIdentity<'_> {
        (self.rule, self.provider.as_deref(), self.model.as_deref(), self.class)
    }
}

/// What tells one problem from another: rule, provider, model and class.
pub type ProblemIdentity<'r> = (&'static str, Option<&'r str>, Option<&'r str>, Option<&'static str>);

impl Problem {
    /// What tells it from others.
    #[must_use]
    pub fn key(&self) -> ProblemIdentity<'_> {
        (self.rule, self.provider.as_deref(), self.model.as_deref(), self.class)
    }
}
