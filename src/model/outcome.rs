//! Outcomes of calls and runs.

use serde::Serialize;

/// How a call or a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// Undecided: its next attempt may lie beyond the end of the data.
    Open,
}

/// One bar of a histogram of calls: number of calls by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// Calls that succeeded.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls still open at the end of the data.
    pub open: u64,
}

impl Bar {
    /// Returns the number of calls of any outcome.
    #[must_use]
    pub fn calls(self) -> u64 {
        self.ok + self.failed + self.open
    }
}

/// Facts about the whole call that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallFacts {
    /// How the call ended.
    pub outcome: Outcome,
    /// Sends of the call.
    pub attempts: u32,
    /// Seconds from the first send to the last answer or failure.
    #[serde(serialize_with = "super::evidence::three_decimals")]
    pub elapsed_s: f64,
}
