//! How calls and runs end.

use serde::Serialize;

/// How a call or a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// In success.
    Ok,
    /// In failure.
    Failed,
    /// Its next attempt could lie beyond the data.
    Open,
}

/// One bar of a [`Histogram`].
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
    /// All calls of the bar.
    #[must_use]
    pub fn calls(self) -> u64 {
        self.ok + self.failed + self.open
    }
}

/// The call a finding is about, as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallFacts {
    /// How it ended.
    pub outcome: Outcome,
    /// Its sends.
    pub attempts: u32,
    /// Seconds from its first send to its last answer or failure.
    #[serde(serialize_with = "super::evidence::three_decimals")]
    pub elapsed_s: f64,
}
