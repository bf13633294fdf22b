//! How grave a finding is, how sure, and what kind of step mends it.

use serde::{Deserialize, Serialize};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; healthy systems show it.
    Info,
    /// Costs something, or may.
    Warning,
    /// Costs something now, and cannot be right.
    Error,
}

impl Severity {
    /// As written in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// How complete the evidence of a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Rests on guesses, each of them said.
    Low,
    /// One link is inferred.
    Medium,
    /// The log shows it.
    High,
}

impl Confidence {
    /// As written in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// How a piece of advice is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Nothing helps before a point in time.
    Wait,
    /// The request itself must become smaller.
    Shrink,
    /// Sending again cannot help.
    Stop,
    /// Code or configuration must change.
    Fix,
}
