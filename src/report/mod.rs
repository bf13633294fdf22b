//! The one immutable result of an analysis. Every renderer draws from it and from nothing else.
//!
//! Its JSON form is a contract: fields are added, never renamed or removed, within one
//! [`SCHEMA_VERSION`].

mod advice;
mod backoff;
pub(crate) mod build;
mod classes;
mod coverage;
mod finding;
mod incidents;
mod layers;
mod load;
mod notices;
mod recovery;
mod shown;
mod totals;
mod verdict;
mod who;

pub use backoff::{Backoff, BackoffStep};
pub use build::build;
pub use classes::{ClassRow, LastFailed};
pub use coverage::{Coverage, Undecided};
pub use finding::{Finding, Problem, ProblemIdentity, Sighting};
pub use incidents::{Ending, IncidentClass, IncidentRow};
pub use layers::LayerRow;
pub use load::{AmplifiedSpan, LoadCourse, LoadPoint, LoadRow};
pub use recovery::{RecoveryRow, RecoveryStep};
pub use totals::{Share, Totals};
pub use who::WhoRow;

use crate::model::{Bar, Cost, Input, Ledger, LimitKind, Outcome, Reject, Remedy, Time, Unreadable};
use crate::simulate::Counterfactual;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON form of a [`Report`].
pub const SCHEMA_VERSION: u32 = 2;

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
    /// What the calls that did not succeed failed on last: failed calls before open ones, the most frequent class first.
    pub last_failed: Vec<LastFailed>,
    /// What became of every line.
    pub ledger: Ledger,
    /// First attempt to last answer.
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
    /// Run by run: those with a failed call first, the costliest of them in front.
    pub runs: Vec<Run>,
    /// Attempts per call over all runs.
    pub histogram: Histogram,
    /// How failures of each class fared.
    pub classes: Vec<ClassRow>,
    /// The schedule each retry loop waits by.
    pub backoff: Vec<Backoff>,
    /// Remaining against limit over time.
    pub headroom: Vec<Headroom>,
    /// Stretches of time in which failures of one kind clustered, in time order.
    pub incidents: Vec<IncidentRow>,
    /// Incidents beyond those kept.
    pub incidents_omitted: u64,
    /// What the worst of them would have been under other policies; `None` where it cannot be replayed.
    pub counterfactual: Option<Counterfactual>,
    /// Do retries help? By service and class of the first failure.
    pub recovery: Vec<RecoveryRow>,
    /// The load on each rate-limit scope.
    pub load: Vec<LoadRow>,
    /// Loops around loops.
    pub layers: Vec<LayerRow>,
    /// Attempts by provider, model, client, layer, account, host and address, the most troubled first.
    pub who: Vec<WhoRow>,
    /// Names beyond those kept.
    pub who_omitted: u64,
    /// Rules that had no evidence, and the field they lack.
    pub coverage: Vec<Coverage>,
    /// Calls that single rules could not judge, and the field they lack.
    pub undecided: Vec<Undecided>,
    /// Values that could not be read, by field.
    pub unreadable: Vec<Unreadable>,
    /// The inputs, in the order of their names.
    pub inputs: Vec<Input>,
    /// The first lines that could not be read.
    pub rejects: Vec<Reject>,
}

/// The time the data covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Window {
    /// First attempt.
    pub first: Time,
    /// Last answer or failure.
    pub last: Time,
}

/// What became of the problems of a former report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Problems of this report that the former one has too, at a rate that chance explains.
    pub known: u64,
    /// Problems that the former one has too, and of which there is more than chance explains.
    pub grown: u64,
    /// Problems of the former report that this one does not have.
    pub gone: u64,
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
    /// When what it speaks of was due to end, where that is before the end of the log, or the log has no date.
    pub ended: Option<Time>,
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

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The run's id; `file:NAME` where the log names none.
    pub run_id: String,
    /// Logical requests.
    pub calls: u64,
    /// Attempts.
    pub attempts: u64,
    /// Attempts beyond the first of each call.
    pub retries: u64,
    /// Attempts per call.
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
    /// First attempt.
    pub first: Time,
    /// Last answer.
    pub last: Time,
    /// Seconds between attempts of one call, summed.
    pub wait_s: f64,
    /// Attempts that could not have helped.
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
