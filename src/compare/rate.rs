//! The measures that reports are compared by, each a rate: more traffic is neither better nor worse.

use super::PastTotals;
use crate::model::units::{counted, per_thousand, percent, plural, seconds, thousands};
use serde::Serialize;

/// A count and what it is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// What was counted: calls, attempts, findings, or milliseconds.
    pub part: u64,
    /// In how many calls or attempts.
    pub of: u64,
    /// The one by the other, with six decimals; 0 of nothing.
    pub rate: f64,
}

impl Rate {
    /// `part` in `of`.
    #[must_use]
    pub fn new(part: u64, of: u64) -> Rate {
        let rate = if of == 0 { 0.0 } else { (part as f64 / of as f64 * 1e6).round() / 1e6 };
        Rate { part, of, rate }
    }
}

/// One measure of a report. Of all of them less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Calls that failed, of all calls.
    FailedCalls,
    /// Calls that had failed when the log ended and may have gone on, of all calls.
    OpenCalls,
    /// Attempts beyond the first of each call, by call: amplification less 1.
    Retries,
    /// Attempts that could not have helped, of all attempts.
    WastedSends,
    /// Milliseconds between attempts, by call.
    WaitMs,
    /// Attempts answered with a 429, of all attempts.
    RateLimited,
    /// Findings of severity error, by call.
    Errors,
    /// Findings of severity warning, by call.
    Warnings,
}

impl Measure {
    /// All of them, in the order they are shown.
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

    /// Its rate in a report with these totals.
    #[must_use]
    pub fn of(self, totals: &PastTotals) -> Rate {
        let (part, of) = match self {
            Measure::FailedCalls => (totals.calls_failed, totals.calls),
            Measure::OpenCalls => (totals.calls_open, totals.calls),
            Measure::Retries => (totals.retries, totals.calls),
            Measure::WastedSends => (totals.wasted_sends, totals.sends),
            // A cast of a float saturates, and takes what is no number for 0.
            Measure::WaitMs => ((totals.wait_s * 1000.0).round() as u64, totals.calls),
            Measure::RateLimited => (totals.rate_limited(), totals.sends),
            Measure::Errors => (totals.errors, totals.calls),
            Measure::Warnings => (totals.warnings, totals.calls),
        };
        Rate::new(part, of)
    }

    /// Whether it counts events, so that a test of chance applies.
    #[must_use]
    pub fn counts(self) -> bool {
        self != Measure::WaitMs
    }

    /// What it is called.
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

    /// A rate of it in short: "1.2%", "1.05", "340 ms a call", "3.1 per 1,000 calls".
    #[must_use]
    pub fn shown(self, rate: f64) -> String {
        let bare = self.bare(rate);
        match self.unit() {
            "" => bare,
            unit => format!("{bare} {unit}"),
        }
    }

    /// The same without its unit.
    #[must_use]
    pub fn bare(self, rate: f64) -> String {
        match self {
            Measure::FailedCalls | Measure::OpenCalls | Measure::WastedSends | Measure::RateLimited => percent(rate),
            Measure::Retries => format!("{:.2}", 1.0 + rate),
            Measure::WaitMs => seconds(rate / 1000.0),
            Measure::Errors | Measure::Warnings => per_thousand(rate),
        }
    }

    /// What it is a rate by, where its figure does not say so.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Measure::WaitMs => "a call",
            Measure::Errors | Measure::Warnings => "per 1,000 calls",
            _ => "",
        }
    }

    /// The count alone: "12", "43 retries", "4 min 4 s".
    #[must_use]
    pub fn part(self, rate: Rate) -> String {
        match self {
            Measure::WaitMs => seconds(rate.part as f64 / 1000.0),
            Measure::Retries => format!("{} {}", thousands(rate.part), plural(rate.part, "retry")),
            _ => thousands(rate.part),
        }
    }

    /// What the rate was counted from: "12 of 1,000 calls".
    #[must_use]
    pub fn counted(self, rate: Rate) -> String {
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
