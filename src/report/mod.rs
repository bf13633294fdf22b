//! The immutable result of an analysis, the only source of every renderer.
//!
//! Its JSON form is a contract: within one [`SCHEMA_VERSION`], fields are added, never renamed or removed.

mod advice;
mod backoff;
pub(crate) mod build;
mod by_name;
mod classes;
mod coverage;
mod finding;
mod hide_below;
mod incidents;
mod layers;
mod load;
mod notices;
mod recovery;
mod totals;
mod verdict;

pub use backoff::{Backoff, BackoffStep};
pub use build::build;
pub use by_name::NameRow;
pub use classes::{ClassRow, LastFailed};
pub use coverage::{Coverage, Undecided};
pub use finding::{AttemptRef, Finding, Problem, ProblemIdentity};
pub use incidents::{IncidentClass, IncidentEnd, IncidentRow};
pub use layers::LayerRow;
pub use load::{AmplifiedSpan, LoadPoint, LoadRow, LoadSeries};
pub use recovery::{RecoveryRow, RecoveryStep};
pub use totals::{Share, Totals};

use crate::model::{Bar, Cost, Input, Ledger, LimitKind, Outcome, Reject, Remedy, Time, Unreadable};
use crate::simulate::Counterfactual;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON form of a [`Report`].
pub const SCHEMA_VERSION: u32 = 2;

/// Result of one analysis.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of the JSON form; see [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name and version of the program that made the report.
    pub generator: String,
    /// Title, from `--title`.
    pub title: Option<String>,
    /// Outcome of the calls, problems and cost in a few sentences.
    pub verdict: String,
    /// Failure classes on which the calls that did not succeed ended: failed calls before open ones, most frequent
    /// class first.
    pub last_failed: Vec<LastFailed>,
    /// What became of every line.
    pub ledger: Ledger,
    /// Time from the first attempt to the last answer.
    pub window: Option<Window>,
    /// Figures of the whole fleet.
    pub totals: Totals,
    /// Notices about the judgement itself, such as suppressions without effect.
    pub notices: Vec<String>,
    /// Result of the comparison with `--baseline`; `None` without one.
    pub baseline: Option<BaselineChanges>,
    /// What to do, at most five steps, most costly first.
    pub advice: Vec<Advice>,
    /// Number of further steps.
    pub advice_omitted: u64,
    /// Findings grouped by rule, provider, model and class.
    pub problems: Vec<Problem>,
    /// Number of problems left out because they are below `--min-severity`; the totals count them.
    pub problems_hidden: u64,
    /// Single findings, at most [`crate::judge::KEPT_PER_PROBLEM`] per problem.
    pub findings: Vec<Finding>,
    /// Number of findings not kept, over all problems.
    pub findings_omitted: u64,
    /// The runs: those with a failed call first, then by findings and cost.
    pub runs: Vec<Run>,
    /// Attempts per call over all runs.
    pub histogram: Histogram,
    /// Outcome of the failures of each class.
    pub classes: Vec<ClassRow>,
    /// Schedule by which each retry loop waits.
    pub backoff: Vec<Backoff>,
    /// Headroom of each rate limit over time.
    pub headroom: Vec<Headroom>,
    /// Periods in which failures of one kind clustered, in time order.
    pub incidents: Vec<IncidentRow>,
    /// Number of incidents not kept.
    pub incidents_omitted: u64,
    /// Replay of the worst incident under other policies; `None` if it cannot be replayed.
    pub counterfactual: Option<Counterfactual>,
    /// Success of retries, by service and class of the first failure.
    pub recovery: Vec<RecoveryRow>,
    /// Load on each rate-limit scope.
    pub load: Vec<LoadRow>,
    /// Nested retry loops.
    pub layers: Vec<LayerRow>,
    /// Attempts by provider, model, client, layer, account, host and address, most problems first.
    pub who: Vec<NameRow>,
    /// Number of names not kept.
    pub who_omitted: u64,
    /// Rules without evidence, with the field they lack.
    pub coverage: Vec<Coverage>,
    /// Calls that single rules could not judge, with the field they lack.
    pub undecided: Vec<Undecided>,
    /// Values that could not be read, by field.
    pub unreadable: Vec<Unreadable>,
    /// The inputs, sorted by name.
    pub inputs: Vec<Input>,
    /// The first lines that could not be read.
    pub rejects: Vec<Reject>,
}

/// Time that the data covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Window {
    /// Time of the first attempt.
    pub first: Time,
    /// Time of the last answer or failure.
    pub last: Time,
}

/// Changes in the problems since the report given as `--baseline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BaselineChanges {
    /// Problems that the earlier report has too, at a rate within chance.
    pub known: u64,
    /// Problems that the earlier report has too and that grew by more than chance explains.
    pub grown: u64,
    /// Problems of the earlier report that this one does not have.
    pub gone: u64,
}

/// A recommended step.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Rule it comes from.
    pub rule: &'static str,
    /// Kind of step.
    pub remedy: Remedy,
    /// End of the wait, for [`Remedy::Wait`].
    pub until: Option<Time>,
    /// When the limit it is about was due to lift, if that is before the end of the log or the log has no date.
    pub ended: Option<Time>,
    /// The step in words.
    pub text: String,
    /// Cost of not taking it, in this log.
    pub cost: Cost,
    /// Number of findings it would settle.
    pub findings: u64,
}

/// Calls by number of attempts and by how they ended. Keys are attempt counts, in JSON as decimal text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Histogram {
    /// Calls that took `key` attempts.
    #[serde(flatten)]
    pub bars: BTreeMap<u32, Bar>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Id of the run; `file:NAME` if the log names none.
    pub run_id: String,
    /// Number of logical requests.
    pub calls: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// Attempts beyond the first of each call.
    pub retries: u64,
    /// Attempts per call.
    pub amplification: f64,
    /// Calls by number of attempts.
    pub histogram: BTreeMap<u32, u64>,
    /// Calls by number of attempts and by how they ended.
    pub bars: Histogram,
    /// Calls that succeeded on attempt `key`.
    pub success_by_attempt: BTreeMap<u32, u64>,
    /// `ok` if every call succeeded, `failed` if one did not, `open` if one may still succeed.
    pub outcome: Outcome,
    /// Number of calls that failed.
    pub calls_failed: u64,
    /// Time of the first attempt.
    pub first: Time,
    /// Time of the last answer.
    pub last: Time,
    /// Total wait between attempts of the same call, in seconds, over all calls.
    pub wait_s: f64,
    /// Attempts that could not have helped.
    pub wasted_sends: u64,
    /// Input and output tokens; `None` if the log has no token counts.
    pub tokens: Option<u64>,
    /// US dollars, from the log or by declared prices; `None` if neither gives a cost.
    pub usd: Option<f64>,
    /// Tokens of the attempts that could not have helped.
    pub wasted_tokens: Option<u64>,
    /// Cost of the attempts that could not have helped, US dollars.
    pub wasted_usd: Option<f64>,
    /// Most attempts one call took.
    pub worst_call_attempts: u32,
    /// Models that the run used.
    pub models: Vec<String>,
    /// Findings about the run or its calls, by severity: errors, warnings, infos.
    pub findings: [u64; 3],
    /// Whether every call succeeded and some needed more than one attempt.
    pub green_with_retries: bool,
}

/// One limit of one rate-limit scope over time.
#[derive(Clone, Debug, Serialize)]
pub struct Headroom {
    /// Provider, model and account that the limit applies to, as shown to users.
    pub scope: String,
    /// Kind of the limit.
    pub limit_kind: LimitKind,
    /// Limit at the last reading.
    pub limit: i64,
    /// Smallest remaining share of the limit.
    pub min_ratio: f64,
    /// Whether some readings were sentinels such as -1, which are not figures.
    pub bad_readings: bool,
    /// Width of one point in seconds.
    pub resolution_s: f64,
    /// Points in time order.
    pub points: Vec<HeadroomPoint>,
}

/// One time bucket of a headroom series.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeadroomPoint {
    /// Start of the bucket.
    pub at: Time,
    /// First reading in the bucket.
    pub first: i64,
    /// Lowest reading in the bucket.
    pub min: i64,
    /// Last reading in the bucket.
    pub last: i64,
    /// Limit at the lowest reading.
    pub limit: i64,
    /// 429s from the scope in the bucket.
    pub rejected: u64,
    /// Overloads from the scope in the bucket.
    pub overloaded: u64,
}
