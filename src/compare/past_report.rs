//! A report read back from its JSON: as much of it as comparing reports takes.

use crate::model::Severity;
use crate::report::{Problem, Report, SCHEMA_VERSION, Window};
use crate::untrusted::masked;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// Rules that speak of calls or runs that succeeded: where more calls fail, they fall silent, and nothing is mended.
const OF_SUCCESSES: [&str; 2] = ["RL504", "RL804"];

/// What makes two problems of different reports the same: nothing that changes from one log to the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProblemKey {
    /// Rule code.
    pub rule: String,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// The failure class.
    pub class: Option<String>,
}

impl ProblemKey {
    pub(super) fn of(problem: &Problem) -> ProblemKey {
        ProblemKey {
            rule: problem.rule.to_owned(),
            provider: problem.provider.clone(),
            model: problem.model.clone(),
            class: problem.class.map(str::to_owned),
        }
    }

    /// Where it is: provider, model and class, as far as known.
    pub fn place(&self) -> impl Iterator<Item = &str> {
        [&self.provider, &self.model, &self.class].into_iter().flatten().map(String::as_str)
    }

    pub(super) fn words(&self) -> String {
        std::iter::once(self.rule.as_str()).chain(self.place()).collect::<Vec<_>>().join(" ")
    }
}

/// A former report.
#[derive(Clone, Debug, Deserialize)]
pub struct PastReport {
    /// The program and version that made it.
    pub generator: String,
    /// First attempt to last answer.
    pub window: Option<Window>,
    /// The fleet in figures.
    pub totals: PastTotals,
    /// Findings folded by rule, provider, model and class.
    pub problems: Vec<PastProblem>,
    /// Problems that were left out when it was written (`--min-severity`).
    #[serde(default)]
    pub problems_hidden: u64,
    #[serde(default)]
    coverage: Vec<PastCoverage>,
    #[serde(default)]
    undecided: Vec<PastUndecided>,
}

/// The figures of a former report that reports are compared by.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PastTotals {
    /// Logical requests.
    pub calls: u64,
    /// Calls that ended in failure.
    pub calls_failed: u64,
    /// Calls that had failed when the log ended, and may have gone on.
    pub calls_open: u64,
    /// Runs.
    pub runs: u64,
    /// Attempts.
    pub sends: u64,
    /// Attempts beyond the first of each call.
    pub retries: u64,
    /// Attempts that could not have helped.
    pub wasted_sends: u64,
    /// Seconds between attempts of one call.
    pub wait_s: f64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity info.
    pub infos: u64,
    hinted_429: Whole,
}

/// The whole of a share.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Whole {
    of: u64,
}

impl PastTotals {
    /// Attempts answered with a 429.
    #[must_use]
    pub fn rate_limited(&self) -> u64 {
        self.hinted_429.of
    }
}

/// A problem of a former report.
#[derive(Clone, Debug, Deserialize)]
pub struct PastProblem {
    /// What it is known by.
    #[serde(flatten)]
    pub key: ProblemKey,
    /// Rule name.
    pub name: String,
    /// The worst of its findings.
    pub severity: Severity,
    /// Findings.
    pub count: u64,
    /// One finding's message.
    pub example: String,
    /// What to change.
    pub fix: String,
}

/// Rules that had no evidence.
#[derive(Clone, Debug, Deserialize)]
struct PastCoverage {
    rules: Vec<String>,
}

/// A rule that lacked a field of some calls.
#[derive(Clone, Debug, Deserialize)]
struct PastUndecided {
    rule: String,
}

/// What a file must say of itself before the rest is read.
#[derive(Deserialize)]
struct Label {
    schema_version: u32,
    kind: Option<String>,
}

/// What tells a report from a line of a log.
#[derive(Deserialize)]
struct Probe {
    schema_version: Option<IgnoredAny>,
    generator: Option<String>,
    problems: Option<IgnoredAny>,
}

impl PastReport {
    /// Reads a report in its JSON form.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(text: &str) -> Result<PastReport, String> {
        let mut past: PastReport = read(text)?;
        // Reports are masked when they are made; what was edited since need not be.
        for problem in &mut past.problems {
            let key = &mut problem.key;
            let places = [&mut key.provider, &mut key.model, &mut key.class].into_iter().flatten();
            let texts = [&mut key.rule, &mut problem.name, &mut problem.example, &mut problem.fix];
            places.chain(texts).for_each(|text| *text = masked(text));
        }
        Ok(past)
    }

    /// A report just made, as it would be read back.
    ///
    /// # Errors
    /// When the report has no JSON form.
    pub fn of(report: &Report) -> Result<PastReport, String> {
        let value = serde_json::to_value(report).map_err(|error| error.to_string())?;
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Whether the first JSON value of `file` is a report, of whatever version, rather than a record of a log.
    pub fn begins(file: impl std::io::Read) -> bool {
        let mut values = serde_json::Deserializer::from_reader(std::io::BufReader::new(file)).into_iter::<Probe>();
        let Some(Ok(probe)) = values.next() else { return false };
        let is_ours = probe.generator.is_some_and(|name| name.starts_with("retrylens"));
        probe.schema_version.is_some() && (is_ours || probe.problems.is_some())
    }

    /// Whether the log lacked what this rule needs to judge, of all calls or of some.
    #[must_use]
    pub fn cannot_judge(&self, rule: &str) -> bool {
        let lacks_all = self.coverage.iter().any(|gap| gap.rules.iter().any(|code| code == rule));
        lacks_all || self.undecided.iter().any(|gap| gap.rule == rule)
    }

    /// Whether what this rule speaks of is rarer than in `before`, since more calls failed.
    #[must_use]
    pub fn failed_instead(&self, rule: &str, before: &PastReport) -> bool {
        let (old, new) = (&before.totals, &self.totals);
        let not_ok = |totals: &PastTotals| u128::from(totals.calls_failed) + u128::from(totals.calls_open);
        let is_worse = not_ok(new) * u128::from(old.calls) > not_ok(old) * u128::from(new.calls);
        is_worse && OF_SUCCESSES.contains(&rule)
    }
}

/// Reads a part of a report in its JSON form.
///
/// # Errors
/// Why the text is no report that this program knows.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let none = |error: serde_json::Error| format!("no JSON report of retrylens: {error}");
    let label: Label = serde_json::from_str(text).map_err(none)?;
    if let Some(kind) = label.kind {
        return Err(format!(
            "a {} of retrylens, not a report: give what `analyze --output json=FILE` wrote",
            masked(&kind)
        ));
    }
    let version = label.schema_version;
    if version > SCHEMA_VERSION {
        return Err(format!(
            "a report of schema version {version}, which a newer retrylens wrote: this one reads versions up to \
             {SCHEMA_VERSION}; update it, or make the report again with this one"
        ));
    }
    // What is read here has not changed since version 1.
    if version == 0 {
        return Err("a report of schema version 0, which no retrylens wrote".to_owned());
    }
    serde_json::from_str(text).map_err(none)
}
