//! The one immutable result of an analysis. Every renderer draws from it and from nothing else.
//!
//! Its JSON form is a contract: fields are added, never renamed or removed, within one
//! [`SCHEMA_VERSION`].

mod advice;
mod anonymize;
mod backoff;
mod baseline;
mod build;
pub(crate) mod chance;
mod coverage;
mod diff;
mod finding;
mod frames;
mod incidents;
mod layers;
mod load;
mod past;
mod rate;
mod recovery;
mod shown;
mod totals;
mod trace;
mod trend;
mod verdict;
mod who;

pub use anonymize::Anonymizer;
pub use backoff::{Backoff, BackoffStep};
pub use baseline::{Baseline, Compared};
pub use build::build;
pub use coverage::{Coverage, Undecided, Unreadable};
pub use diff::{Basis, Change, Changed, Diff, Shift, Side, diff};
pub use finding::{CallFacts, Cost, Evidence, Finding, Problem, ProblemIdentity, Sighting};
pub(crate) use finding::{rounded, sum_of_known};
pub use frames::{Cells, Frame, frames};
pub use incidents::{Ending, IncidentRow};
pub use layers::LayerRow;
pub use load::{AmplifiedSpan, LoadCourse, LoadPoint, LoadRow};
pub use past::{Past, PastProblem, PastTotals, ProblemKey};
pub use rate::{Measure, Rate};
pub use recovery::{RecoveryRow, RecoveryStep};
pub use totals::{Share, Totals};
pub use trace::{
    Dictator, Failures, HeadroomAround, LimitReading, PeerMeasure, Peers, Reading, SupportCase, Surroundings,
    TRACE_SCHEMA_VERSION, Trace, TracedCall, TracedSend, Traces, Unresolved, traces,
};
pub use trend::{Course, Jump, Night, NightReport, Presence, Trend, TrendBasis, trend};
pub use who::WhoRow;

use crate::attempt::{LimitKind, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON form of a [`Report`].
pub const SCHEMA_VERSION: u32 = 1;

/// Everything one analysis found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The program and version that made it.
    pub generator: String,
    /// What the report is about, as `--title` says it.
    pub title: Option<String>,
    /// How the calls ended, what is wrong, what it cost.
    pub verdict: String,
    /// What became of every line.
    pub ledger: Ledger,
    /// First send to last answer.
    pub window: Option<Window>,
    /// The fleet in figures.
    pub totals: Totals,
    /// What is to be known about the judgement itself: suppressions that do nothing, and the like.
    pub notices: Vec<String>,
    /// What a comparison with `--baseline` came to; `None` without one.
    pub baseline: Option<Compared>,
    /// What to do, most costly first, at most five.
    pub advice: Vec<Advice>,
    /// Steps beyond those.
    pub advice_omitted: u64,
    /// Findings folded by rule, provider, model and class.
    pub problems: Vec<Problem>,
    /// Problems left out because they are below `--min-severity`; the totals count them.
    pub problems_hidden: u64,
    /// Single findings; at most [`crate::judge::KEPT_PER_PROBLEM`] of one problem.
    pub findings: Vec<Finding>,
    /// Findings of a problem beyond those kept, over all problems.
    pub findings_omitted: u64,
    /// Run by run, the costliest first.
    pub runs: Vec<Run>,
    /// Attempts per call over all runs.
    pub histogram: Histogram,
    /// How failures of each class fared.
    pub classes: Vec<ClassRow>,
    /// The schedule each retry loop waits by.
    pub backoff: Vec<Backoff>,
    /// Remaining against limit over time.
    pub headroom: Vec<Headroom>,
    /// Stretches of time in which failures of one class clustered, in time order.
    pub incidents: Vec<IncidentRow>,
    /// Incidents beyond those kept.
    pub incidents_omitted: u64,
    /// Do retries help? By service and class of the first failure.
    pub recovery: Vec<RecoveryRow>,
    /// The load on each rate-limit scope.
    pub load: Vec<LoadRow>,
    /// Loops around loops.
    pub layers: Vec<LayerRow>,
    /// Who sent what: by provider, model, client, layer, account, host and address, the most troubled first.
    pub who: Vec<WhoRow>,
    /// Names beyond those kept.
    pub who_omitted: u64,
    /// Rules that had no evidence, and the field they lack.
    pub coverage: Vec<Coverage>,
    /// Calls that single rules could not judge, and the field that would have told.
    pub undecided: Vec<Undecided>,
    /// Values that could not be read, by field.
    pub unreadable: Vec<Unreadable>,
    /// The inputs, in the order of their names.
    pub inputs: Vec<Input>,
    /// The first lines that could not be read.
    pub rejects: Vec<Reject>,
}

/// `lines = attempts + skipped + rejected + blank + duplicates`, always. A line with two records counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Lines read.
    pub lines: u64,
    /// Lines that are attempts and count once.
    pub attempts: u64,
    /// Lines that are no attempts.
    pub skipped: u64,
    /// Lines that could not be read.
    pub rejected: u64,
    /// Empty lines.
    pub blank: u64,
    /// Further deliveries of an attempt already counted.
    pub duplicates: u64,
    /// Attempts of calls left out by `--since`, `--run` and their like; part of `skipped`. Of one input it is
    /// not told apart from `attempts`.
    pub filtered: u64,
}

/// The time the data covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Window {
    /// First send.
    pub first: Time,
    /// Last answer or failure.
    pub last: Time,
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

/// One thing to do.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// The rule it comes from.
    pub rule: &'static str,
    /// What kind of step it is.
    pub remedy: Remedy,
    /// For [`Remedy::Wait`]: until when.
    pub until: Option<Time>,
    /// The step, in words.
    pub text: String,
    /// What leaving it costs, in this log.
    pub cost: Cost,
    /// Findings it would settle.
    pub findings: u64,
}

/// Attempts per call, split by how the call ended. Keys are attempt counts as decimal text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Histogram {
    /// Calls that took `key` attempts.
    #[serde(flatten)]
    pub bars: BTreeMap<u32, Bar>,
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

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The run's id; `file:NAME` where the log names none.
    pub run_id: String,
    /// Logical requests.
    pub calls: u64,
    /// Sends.
    pub attempts: u64,
    /// Sends beyond the first of each call.
    pub retries: u64,
    /// Sends per call.
    pub amplification: f64,
    /// Calls by number of attempts.
    pub histogram: BTreeMap<u32, u64>,
    /// The same, split by how the calls ended.
    pub bars: Histogram,
    /// Calls that succeeded on attempt `key`.
    pub success_by_attempt: BTreeMap<u32, u64>,
    /// `ok`: every call succeeded; `failed`: one did not; `open`: one may yet.
    pub outcome: Outcome,
    /// Calls that failed.
    pub calls_failed: u64,
    /// First send.
    pub first: Time,
    /// Last answer.
    pub last: Time,
    /// Seconds between attempts of one call, summed.
    pub wait_s: f64,
    /// Sends that could not have helped.
    pub wasted_sends: u64,
    /// Input and output tokens; `None` where the log gives none.
    pub tokens: Option<u64>,
    /// US dollars, from the log or by declared prices; `None` where neither tells.
    pub usd: Option<f64>,
    /// Tokens of the attempts that could not have helped.
    pub wasted_tokens: Option<u64>,
    /// What those cost.
    pub wasted_usd: Option<f64>,
    /// Most attempts one call took.
    pub worst_call_attempts: u32,
    /// Models the run used.
    pub models: Vec<String>,
    /// Findings about the run or its calls, by severity: errors, warnings, infos.
    pub findings: [u64; 3],
    /// Green, and more than one attempt somewhere.
    pub green_with_retries: bool,
}

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

/// How the failures of one class fared.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRow {
    /// Failure class.
    pub class: &'static str,
    /// Where it belongs.
    pub bucket: &'static str,
    /// Attempts that failed so.
    pub attempts: u64,
    /// Calls with such a failure.
    pub calls: u64,
    /// Of them, calls that succeeded in the end.
    pub recovered: u64,
}

/// One limit of one rate-limit scope over time.
#[derive(Clone, Debug, Serialize)]
pub struct Headroom {
    /// Provider, model and account the limit holds for, as people say it.
    pub scope: String,
    /// Which limit.
    pub limit_kind: LimitKind,
    /// The limit at the last reading.
    pub limit: i64,
    /// The least that was left of it, as a share of the limit.
    pub min_ratio: f64,
    /// Readings that are sentinels or otherwise no data.
    pub bad_readings: bool,
    /// Width of one point in seconds.
    pub resolution_s: f64,
    /// The series, in time order.
    pub points: Vec<HeadroomPoint>,
}

/// One stretch of a headroom series.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeadroomPoint {
    /// Start of the stretch.
    pub at: Time,
    /// First reading in it.
    pub first: i64,
    /// Least reading in it.
    pub min: i64,
    /// Last reading in it.
    pub last: i64,
    /// The limit at the least reading.
    pub limit: i64,
    /// 429s answered on the scope in it.
    pub rejected: u64,
    /// Overloads answered on the scope in it.
    pub overloaded: u64,
}

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// As it was named.
    pub path: String,
    /// Format, told by content.
    pub format: &'static str,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// What became of its lines.
    pub ledger: Ledger,
    /// Why it could not be read, or not to its end; what was read before that is judged.
    pub failure: Option<String>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reject {
    /// Input.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in bytes, from 1; 0 where the whole line is meant.
    pub column: u64,
    /// What was wrong.
    pub reason: String,
}
