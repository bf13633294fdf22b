//! Severity and confidence of a finding, and the kind of remedy.

use serde::{Deserialize, Serialize};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; occurs in healthy systems.
    Info,
    /// Has a cost, or may have one.
    Warning,
    /// Has a cost now and is certainly a defect.
    Error,
}

impl Severity {
    /// Returns the name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Completeness of the evidence for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Rests on assumptions, each of which is stated.
    Low,
    /// One step of the evidence is inferred.
    Medium,
    /// The log shows it directly.
    High,
}

impl Confidence {
    /// Returns the name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// Kind of remedy for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Wait: nothing helps before a certain time.
    Wait,
    /// Make the request smaller.
    Shrink,
    /// Stop: sending again cannot help.
    Stop,
    /// Change code or configuration.
    Fix,
}
