//! A report read from JSON, limited to the fields needed to compare reports.

use crate::model::Severity;
use crate::report::{Problem, Report, SCHEMA_VERSION, Window};
use crate::untrusted::masked;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// Rules about calls or runs that succeeded: if more calls fail, they have fewer findings although nothing improved.
const RULES_ON_SUCCESSES: [&str; 2] = ["RL504", "RL804"];

/// Identity of a problem across reports, without anything that differs from log to log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProblemKey {
    /// Code of the rule.
    pub rule: String,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// Failure class.
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

    /// Returns provider, model and class, as far as known.
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
    /// Name and version of the program that wrote it.
    pub generator: String,
    /// From the first attempt to the last answer.
    pub window: Option<Window>,
    /// Totals over all runs.
    pub totals: PastTotals,
    /// Findings grouped by rule, provider, model and class.
    pub problems: Vec<PastProblem>,
    /// Number of problems left out when it was written (`--min-severity`).
    #[serde(default)]
    pub problems_hidden: u64,
    #[serde(default)]
    coverage: Vec<PastCoverage>,
    #[serde(default)]
    undecided: Vec<PastUndecided>,
}

/// The figures of a former report used for comparison.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PastTotals {
    /// Calls, that is logical requests.
    pub calls: u64,
    /// Calls that failed.
    pub calls_failed: u64,
    /// Calls whose last attempt had failed when the log ended, and which may have continued.
    pub calls_open: u64,
    /// Runs.
    pub runs: u64,
    /// Attempts.
    pub sends: u64,
    /// Attempts beyond the first of each call.
    pub retries: u64,
    /// Attempts that could not have succeeded.
    pub wasted_sends: u64,
    /// Total wait between attempts of one call, in seconds.
    pub wait_s: f64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity info.
    pub infos: u64,
    hinted_429: Whole,
}

/// The whole of a share, without its part.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Whole {
    of: u64,
}

impl PastTotals {
    /// Returns the number of attempts answered with a 429.
    #[must_use]
    pub fn rate_limited(&self) -> u64 {
        self.hinted_429.of
    }
}

/// A problem of a former report.
#[derive(Clone, Debug, Deserialize)]
pub struct PastProblem {
    /// Identity of the problem.
    #[serde(flatten)]
    pub key: ProblemKey,
    /// Name of the rule.
    pub name: String,
    /// Highest severity of its findings.
    pub severity: Severity,
    /// Number of findings.
    pub count: u64,
    /// Message of one finding.
    pub example: String,
    /// What to change.
    pub fix: String,
}

/// Rules that could not judge for lack of a field.
#[derive(Clone, Debug, Deserialize)]
struct PastCoverage {
    rules: Vec<String>,
}

/// A rule that lacked a field in some calls.
#[derive(Clone, Debug, Deserialize)]
struct PastUndecided {
    rule: String,
}

/// The fields that are checked before the rest is read.
#[derive(Deserialize)]
struct Header {
    schema_version: u32,
    kind: Option<String>,
}

/// The fields that distinguish a report from a line of a log.
#[derive(Deserialize)]
struct Probe {
    schema_version: Option<IgnoredAny>,
    generator: Option<String>,
    problems: Option<IgnoredAny>,
}

impl PastReport {
    /// Parses a report in JSON.
    ///
    /// # Errors
    /// Returns a message if the text is not a report.
    pub fn parse(text: &str) -> Result<PastReport, String> {
        let mut past: PastReport = read(text)?;
        // Reports are masked when they are written, but may have been edited since.
        for problem in &mut past.problems {
            let key = &mut problem.key;
            let places = [&mut key.provider, &mut key.model, &mut key.class].into_iter().flatten();
            let texts = [&mut key.rule, &mut problem.name, &mut problem.example, &mut problem.fix];
            places.chain(texts).for_each(|text| *text = masked(text));
        }
        Ok(past)
    }

    /// Converts a new report to the form in which it would be read back.
    ///
    /// # Errors
    /// Returns an error if the report cannot be converted to JSON.
    pub fn of(report: &Report) -> Result<PastReport, String> {
        let value = serde_json::to_value(report).map_err(|error| error.to_string())?;
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Returns whether the first JSON value of `file` is a report of any version, rather than a record of a log.
    pub fn is_report(file: impl std::io::Read) -> bool {
        let mut values = serde_json::Deserializer::from_reader(std::io::BufReader::new(file)).into_iter::<Probe>();
        let Some(Ok(probe)) = values.next() else { return false };
        let is_ours = probe.generator.is_some_and(|name| name.starts_with("retrylens"));
        probe.schema_version.is_some() && (is_ours || probe.problems.is_some())
    }

    /// Returns whether the log lacked what this rule needs, in all calls or in some.
    #[must_use]
    pub fn cannot_judge(&self, rule: &str) -> bool {
        let lacks_all = self.coverage.iter().any(|gap| gap.rules.iter().any(|code| code == rule));
        lacks_all || self.undecided.iter().any(|gap| gap.rule == rule)
    }

    /// Returns whether findings of this rule may be fewer than in `before` because more calls failed.
    #[must_use]
    pub fn failed_instead(&self, rule: &str, before: &PastReport) -> bool {
        let (old, new) = (&before.totals, &self.totals);
        let not_ok = |totals: &PastTotals| u128::from(totals.calls_failed) + u128::from(totals.calls_open);
        let is_worse = not_ok(new) * u128::from(old.calls) > not_ok(old) * u128::from(new.calls);
        is_worse && RULES_ON_SUCCESSES.contains(&rule)
    }
}

/// Parses parts of a report in JSON.
///
/// # Errors
/// Returns a message if the text is not a report of a known version.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let not_a_report = |error: serde_json::Error| {
        format!("no JSON report of retrylens, as `analyze --output json=FILE` writes: {error}")
    };
    let header: Header = serde_json::from_str(text).map_err(not_a_report)?;
    if let Some(kind) = header.kind {
        return Err(format!(
            "a {} of retrylens, not a report: give what `analyze --output json=FILE` wrote",
            masked(&kind)
        ));
    }
    let version = header.schema_version;
    if version > SCHEMA_VERSION {
        return Err(format!(
            "a report of schema version {version}, which a newer retrylens wrote: this one reads versions up to \
             {SCHEMA_VERSION}; update it, or make the report again with this one"
        ));
    }
    // The fields read here have not changed since version 1.
    if version == 0 {
        return Err("a report of schema version 0, which no retrylens wrote".to_owned());
    }
    serde_json::from_str(text).map_err(not_a_report)
}
