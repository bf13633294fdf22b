//! The measures by which reports are compared, as rates, so that the amount of traffic does not matter.

use super::PastTotals;
use crate::model::units::{counted, per_thousand, percent, plural, seconds, thousands};
use serde::Serialize;

/// A count and its base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// What was counted: calls, attempts, findings, or milliseconds.
    pub part: u64,
    /// Number of calls or attempts that `part` relates to.
    pub of: u64,
    /// `part` per `of`, rounded to six decimals; 0 if `of` is 0.
    pub rate: f64,
}

impl Rate {
    /// Creates the rate of `part` per `of`.
    #[must_use]
    pub fn new(part: u64, of: u64) -> Rate {
        let rate = if of == 0 { 0.0 } else { (part as f64 / of as f64 * 1e6).round() / 1e6 };
        Rate { part, of, rate }
    }
}

/// A measure of a report; for all of them, less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Failed calls per call.
    FailedCalls,
    /// Calls whose last attempt had failed when the log ended and which may have continued, per call.
    OpenCalls,
    /// Attempts beyond the first of each call, per call: amplification less 1.
    Retries,
    /// Attempts that could not have succeeded, per attempt.
    WastedSends,
    /// Milliseconds between attempts, per call.
    WaitMs,
    /// Attempts answered with a 429, per attempt.
    RateLimited,
    /// Findings of severity error, per call.
    Errors,
    /// Findings of severity warning, per call.
    Warnings,
}

impl Measure {
    /// All measures, in the order in which they are shown.
    pub const ALL: [Measure; 8] = [
        Measure::FailedCalls,
        Measure::OpenCalls,
        Measure::Retries,
        Measure::WastedSends,
        Measure::WaitMs,
        Measure::RateLimited,
        Measure::Errors,
        Measure::Warnings,
    ];

    /// Returns its rate in a report with these totals.
    #[must_use]
    pub fn of(self, totals: &PastTotals) -> Rate {
        let (part, of) = match self {
            Measure::FailedCalls => (totals.calls_failed, totals.calls),
            Measure::OpenCalls => (totals.calls_open, totals.calls),
            Measure::Retries => (totals.retries, totals.calls),
            Measure::WastedSends => (totals.wasted_sends, totals.sends),
            // A cast of a float saturates and turns NaN into 0.
            Measure::WaitMs => ((totals.wait_s * 1000.0).round() as u64, totals.calls),
            Measure::RateLimited => (totals.rate_limited(), totals.sends),
            Measure::Errors => (totals.errors, totals.calls),
            Measure::Warnings => (totals.warnings, totals.calls),
        };
        Rate::new(part, of)
    }

    /// Returns whether it counts events, to which a statistical test applies.
    #[must_use]
    pub fn is_count(self) -> bool {
        self != Measure::WaitMs
    }

    /// Returns its name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Measure::FailedCalls => "failed calls",
            Measure::OpenCalls => "open calls",
            Measure::Retries => "amplification",
            Measure::WastedSends => "wasted attempts",
            Measure::WaitMs => "waiting",
            Measure::RateLimited => "429s",
            Measure::Errors => "RL errors",
            Measure::Warnings => "RL warnings",
        }
    }

    /// Formats a rate with its unit: "1.2%", "1.05", "340 ms a call", "3.1 per 1,000 calls".
    #[must_use]
    pub fn with_unit(self, rate: f64) -> String {
        let figure = self.without_unit(rate);
        match self.unit() {
            "" => figure,
            unit => format!("{figure} {unit}"),
        }
    }

    /// Formats a rate without its unit.
    #[must_use]
    pub fn without_unit(self, rate: f64) -> String {
        match self {
            Measure::FailedCalls | Measure::OpenCalls | Measure::WastedSends | Measure::RateLimited => percent(rate),
            Measure::Retries => format!("{:.2}", 1.0 + rate),
            Measure::WaitMs => seconds(rate / 1000.0),
            Measure::Errors | Measure::Warnings => per_thousand(rate),
        }
    }

    /// Returns what the rate relates to, if the figure does not show it; else an empty string.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Measure::WaitMs => "a call",
            Measure::Errors | Measure::Warnings => "per 1,000 calls",
            _ => "",
        }
    }

    /// Formats the count alone: "12", "43 retries", "4 min 4 s".
    #[must_use]
    pub fn count_text(self, rate: Rate) -> String {
        match self {
            Measure::WaitMs => seconds(rate.part as f64 / 1000.0),
            Measure::Retries => format!("{} {}", thousands(rate.part), plural(rate.part, "retry")),
            _ => thousands(rate.part),
        }
    }

    /// Formats the count with its base: "12 of 1,000 calls".
    #[must_use]
    pub fn count_with_base(self, rate: Rate) -> String {
        let (part, calls) = (thousands(rate.part), counted(rate.of, "call"));
        match self {
            Measure::FailedCalls | Measure::OpenCalls => format!("{part} of {calls}"),
            Measure::Retries => format!("{} in {calls}", counted(rate.part.saturating_add(rate.of), "attempt")),
            Measure::WastedSends | Measure::RateLimited => format!("{part} of {}", counted(rate.of, "attempt")),
            Measure::WaitMs => format!("{} in {calls}", seconds(rate.part as f64 / 1000.0)),
            Measure::Errors | Measure::Warnings => format!("{part} in {calls}"),
        }
    }
}
