//! Traces: the calls behind given ids. Their JSON form is a contract, versioned by [`TRACE_SCHEMA_VERSION`].

mod around;
mod follow;
mod peers;
mod search;
mod support;
mod wait;

pub use around::{Failures, HeadroomAround, LimitReading, Surroundings};
pub use follow::traces;
pub use peers::{PeerMeasure, Peers};
pub use search::{Answer, Candidate, Found, Kind, MAX_IDS, Near, Place, Query, Searched, search};
pub use support::{Clock, SupportCase};
pub use wait::WaitSource;

use crate::model::{Outcome, Time};
use crate::report::{AttemptRef, Finding};
use serde::Serialize;

/// Version of the JSON form of [`Traces`]. Within a version, fields are added but never renamed or removed.
pub const TRACE_SCHEMA_VERSION: u32 = 1;

/// Maximum number of calls shown for one id.
pub(super) const CALLS_SHOWN: usize = 50;

/// Result of a trace for all ids asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Traces {
    /// See [`TRACE_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name and version of the program that wrote it.
    pub generator: String,
    /// Ids that were found, in the order asked for.
    pub traces: Vec<Trace>,
    /// Ids that were not found, or that are ambiguous.
    pub unresolved: Vec<Unresolved>,
    /// What was searched and parsed.
    pub searched: SearchExtent,
}

/// Extent of a search.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SearchExtent {
    /// The inputs, in the order they were given.
    pub inputs: Vec<Searched>,
    /// Size of the inputs in bytes, after unpacking. All of it was searched.
    pub bytes: u64,
    /// Bytes of the lines that were parsed: lines with hits, other attempts of the same calls, and the attempts sent
    /// around them.
    pub bytes_parsed: u64,
    /// Bytes searched for near misses of ids that were not found; the latest part of the logs.
    pub bytes_compared: u64,
    /// Number of attempts in the parsed lines.
    pub attempts: u64,
}

/// An id for which there is no trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unresolved {
    /// The id as given, keys masked.
    pub id: String,
    /// Ids that begin with it, if there are several.
    pub candidates: Vec<Candidate>,
    /// Whether there are more candidates than those listed.
    pub more: bool,
    /// Similar ids, if it was not found.
    pub near: Vec<Near>,
    /// Options that leave out the calls it was found on, such as `--since`; empty if it was found on none.
    pub left_out_by: Vec<String>,
    /// Whether it was found, but only on lines that record no attempt.
    pub is_no_attempt: bool,
}

/// The calls that one id leads to.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// The id as given, keys masked.
    pub id: String,
    /// What the id names.
    pub matched: Kind,
    /// Index of an earlier trace with the same attempts, if any.
    pub same_as: Option<usize>,
    /// The calls, in time order. If there are more than 50, those with the worst findings and outcomes.
    pub calls: Vec<TracedCall>,
    /// Number of calls left out.
    pub calls_omitted: u64,
    /// Other traffic around the calls; `None` if it was too large to be read without being asked for.
    pub surroundings: Option<Surroundings>,
    /// Failed requests to report to the provider.
    pub support: Vec<SupportCase>,
}

/// One call, its attempts and its findings.
#[derive(Clone, Debug, Serialize)]
pub struct TracedCall {
    /// Run id, as logged.
    pub run_id: Option<String>,
    /// Call id, as logged.
    pub call_id: Option<String>,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// Organisation, workspace and API key, as logged; a rate limit applies to them.
    pub account: Option<String>,
    /// The client and its version, as logged.
    pub client: Option<String>,
    /// How its attempts were grouped.
    pub grouping: &'static str,
    /// Other calls of the same run with the same id, whose attempts are too far away in time to be retries of this one.
    pub namesakes: u64,
    /// How the call ended.
    pub outcome: Outcome,
    /// Number of attempts, including those without a record that only a counter reports.
    pub attempts_implied: u64,
    /// Sum of the waits between attempts, in seconds.
    pub waited_s: f64,
    /// Input and output tokens; `None` if the log records none.
    pub tokens: Option<u64>,
    /// Cost in US dollars, as logged or by declared prices; `None` if neither is known.
    pub usd: Option<f64>,
    /// The attempts, in order.
    #[serde(rename = "sends")]
    pub attempts: Vec<TracedAttempt>,
    /// Findings about the call, and those about its run or the fleet that cite one of its attempts.
    pub findings: Vec<Finding>,
    /// Number of findings suppressed by the configuration.
    pub suppressed: u64,
    /// Comparison with similar calls; `None` if too few were read.
    pub peers: Option<Peers>,
}

impl TracedCall {
    /// Whether every wait is known to exclude the duration of the attempt before it.
    #[must_use]
    pub fn waits_are_measured(&self) -> bool {
        let waits = self.attempts.iter().zip(self.attempts.iter().skip(1));
        waits.filter(|(_, after)| after.waited_s.is_some()).all(|(before, _)| before.duration_ms.is_some())
    }
}

/// Record of the same attempt in another log.
#[derive(Clone, Debug, Serialize)]
pub struct TracedView {
    /// Position and contents of the record.
    #[serde(flatten)]
    pub attempt_ref: AttemptRef,
    /// Name of the log's format.
    pub format: &'static str,
    /// Layer that wrote it, as logged.
    pub layer: Option<String>,
    /// Time from sending to the answer, in milliseconds.
    pub duration_ms: Option<f64>,
}

/// One attempt of a traced call.
#[derive(Clone, Debug, Serialize)]
pub struct TracedAttempt {
    /// Position and contents of its record.
    #[serde(flatten)]
    pub attempt_ref: AttemptRef,
    /// Whether its record contains the id asked for.
    pub named: bool,
    /// Request id given by the platform, in addition to the provider's.
    pub platform_id: Option<String>,
    /// Layer that sent it, as logged.
    pub layer: Option<String>,
    /// Attempts beneath it without a record, as counted by a gateway or by instrumentation.
    pub unseen_beneath: u64,
    /// Records of it in other logs.
    pub views: Vec<TracedView>,
    /// Retry counter of the SDK that sent it.
    pub sdk_retry_count: Option<u8>,
    /// Time from sending to the answer, in milliseconds.
    pub duration_ms: Option<f64>,
    /// When the answer or the failure was complete, if logged.
    pub answered: Option<Time>,
    /// Name of the bucket of its failure: what resolves it.
    pub bucket: Option<&'static str>,
    /// The action that was right after its failure.
    pub action: Option<&'static str>,
    /// `error.type`.
    pub error_type: Option<String>,
    /// `error.code`.
    pub error_code: Option<String>,
    /// Error message.
    pub message: Option<String>,
    /// Wait the server asked for after it, in seconds.
    pub hint_s: Option<f64>,
    /// Source of `hint_s`: a header name, `body`, `message`, `estimate` or `rate-limit reset`.
    pub hint_source: Option<&'static str>,
    /// Whether the error arrived inside a stream that had begun successfully.
    pub mid_stream: bool,
    /// Wait before it, in seconds.
    pub waited_s: Option<f64>,
    /// What determined that wait.
    #[serde(rename = "dictated_by")]
    pub wait_source: Option<WaitSource>,
    /// Text of the record with keys masked, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Index of the input, and line number.
    #[serde(skip)]
    pub(crate) place: (u32, u32),
}
