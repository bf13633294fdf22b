//! Forensics: what ids asked for led to. The JSON form is a contract of its own: [`TRACE_SCHEMA_VERSION`].

mod around;
mod follow;
mod peers;
mod search;
mod support;
mod wait;

pub use around::{Failures, HeadroomAround, LimitReading, Surroundings};
pub use follow::traces;
pub use peers::{PeerMeasure, Peers};
pub use search::{Answer, Candidate, Found, Kind, MOST_IDS, Near, Place, Query, Searched, search};
pub use support::{Clock, SupportCase};
pub use wait::WaitSource;

use crate::model::{Outcome, Time};
use crate::report::{Finding, Sighting};
use serde::Serialize;

/// Version of the JSON form of [`Traces`]: fields are added, never renamed or removed, within one.
pub const TRACE_SCHEMA_VERSION: u32 = 1;

/// Calls shown of one id.
pub(super) const CALLS_SHOWN: usize = 50;

/// What all ids asked for led to.
#[derive(Clone, Debug, Serialize)]
pub struct Traces {
    /// See [`TRACE_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The program and version that made it.
    pub generator: String,
    /// Ids that were found, in the order asked for.
    pub traces: Vec<Trace>,
    /// Ids that were not, or not one thing's.
    pub unresolved: Vec<Unresolved>,
    /// What was read for it.
    pub searched: Reading,
}

/// What was searched and read.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reading {
    /// The inputs.
    pub inputs: Vec<Searched>,
    /// Their bytes, after unpacking: all of them were searched.
    pub bytes: u64,
    /// Bytes of the lines that were parsed: those found, the rest of their calls, and what was sent around them.
    pub bytes_parsed: u64,
    /// Bytes looked through for ids that look like one that is nowhere: the latest.
    pub bytes_compared: u64,
    /// Attempts in what was parsed.
    pub attempts: u64,
}

/// An id that leads nowhere.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unresolved {
    /// As given.
    pub id: String,
    /// Ids that begin so, where there are several.
    pub candidates: Vec<Candidate>,
    /// There are more candidates than these.
    pub more: bool,
    /// Ids that look like it, where it stands nowhere.
    pub near: Vec<Near>,
    /// It was found, on attempts of calls that the filters leave out.
    pub filtered: bool,
    /// It was found, but only on lines that are no attempts.
    pub is_no_attempt: bool,
}

/// What an id led to.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// As given.
    pub id: String,
    /// What it names.
    pub matched: Kind,
    /// The id before it that led to the same calls, by its place.
    pub same_as: Option<usize>,
    /// The calls, in time order, the ones that went wrong of a large run.
    pub calls: Vec<TracedCall>,
    /// Calls left out.
    pub calls_omitted: u64,
    /// What else went on; absent where it was too much to read unasked.
    pub surroundings: Option<Surroundings>,
    /// What to tell the provider.
    pub support: Vec<SupportCase>,
}

/// One call and everything that happened to it.
#[derive(Clone, Debug, Serialize)]
pub struct TracedCall {
    /// The run.
    pub run_id: Option<String>,
    /// The call.
    pub call_id: Option<String>,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// Organisation, workspace or key, as logged: what its rate limit holds for.
    pub account: Option<String>,
    /// The client and its version, as logged.
    pub client: Option<String>,
    /// How its attempts were brought together.
    pub grouping: &'static str,
    /// Other calls of its run that carry the same id: attempts too far off to be retries of this one.
    pub namesakes: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Its attempts with those that have no record, and that only a counter tells of.
    pub attempts_implied: u64,
    /// Seconds between its attempts.
    pub waited_s: f64,
    /// Input and output tokens; `None` where the log gives none.
    pub tokens: Option<u64>,
    /// US dollars, from the log or by declared prices; `None` where neither tells.
    pub usd: Option<f64>,
    /// Its attempts, in order.
    #[serde(rename = "sends")]
    pub attempts: Vec<TracedAttempt>,
    /// What the rules say of it, and of what it took part in.
    pub findings: Vec<Finding>,
    /// Findings that are known and accepted.
    pub suppressed: u64,
    /// How it compares with its peers; absent where too few were read.
    pub peers: Option<Peers>,
}

impl TracedCall {
    /// Whether none of its waits may include the time an attempt took.
    #[must_use]
    pub fn waits_are_measured(&self) -> bool {
        let waits = self.attempts.iter().zip(self.attempts.iter().skip(1));
        waits.filter(|(_, after)| after.waited_s.is_some()).all(|(before, _)| before.duration_ms.is_some())
    }
}

/// What another log says of an attempt.
#[derive(Clone, Debug, Serialize)]
pub struct TracedView {
    /// Where it stands and what it says.
    #[serde(flatten)]
    pub sighting: Sighting,
    /// The format of the log.
    pub format: &'static str,
    /// The layer that wrote it, as logged.
    pub layer: Option<String>,
    /// From sending it to its answer, ms.
    pub duration_ms: Option<f64>,
}

/// One attempt.
#[derive(Clone, Debug, Serialize)]
pub struct TracedAttempt {
    /// Where it stands and what it was.
    #[serde(flatten)]
    pub sighting: Sighting,
    /// The id given stands in its record.
    pub named: bool,
    /// The platform's id of it, beside the provider's.
    pub platform_id: Option<String>,
    /// The layer that sent it, as logged.
    pub layer: Option<String>,
    /// Attempts beneath it that have no record: a gateway or the instrumentation counts them.
    pub unseen_beneath: u64,
    /// What other logs say of it.
    pub views: Vec<TracedView>,
    /// The inner SDK counter.
    pub sdk_retry_count: Option<u8>,
    /// From sending it to its answer, ms.
    pub duration_ms: Option<f64>,
    /// When the answer or the failure was complete, where the log tells.
    pub answered: Option<Time>,
    /// How its failure heals.
    pub bucket: Option<&'static str>,
    /// What was right to do next.
    pub action: Option<&'static str>,
    /// `error.type`.
    pub error_type: Option<String>,
    /// `error.code`.
    pub error_code: Option<String>,
    /// The failure's own words.
    pub message: Option<String>,
    /// The server's wait after it, s.
    pub hint_s: Option<f64>,
    /// Where that wait was read: a header's name, `body`, `message`, `estimate` or `rate-limit reset`.
    pub hint_source: Option<&'static str>,
    /// The error came inside a stream that had begun with a success.
    pub mid_stream: bool,
    /// The wait before it, s.
    pub waited_s: Option<f64>,
    /// What that wait follows.
    #[serde(rename = "dictated_by")]
    pub wait_source: Option<WaitSource>,
    /// The record as it stands, keys masked; where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Input and line, by number.
    #[serde(skip)]
    pub(crate) place: (u32, u32),
}
