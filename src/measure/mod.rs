//! Mergeable summaries of calls, for the rules on runs and the fleet and for the tables of the report.
//!
//! Every summary is built call by call, and two summaries of disjoint calls merge into the summary of both, in any
//! order. None needs access to a table of all attempts.
//!
//! A new summary is tested only if `described` in `tests.rs` prints it and `busy_log` has events for it. A summary that
//! keeps rows also needs `each_row`.

mod amplification;
mod answers;
mod backoff;
mod by_service;
mod call_terms;
mod cap;
pub(crate) mod chance;
mod charge;
mod classes;
mod closed_windows;
mod covered;
mod direct_cache;
mod distinct;
mod failure_clusters;
mod fanout;
mod fleet;
mod fleet_successes;
mod flow;
mod gate;
mod handling;
mod headroom_exhaustion;
mod immediate_retries;
mod in_order;
mod late;
mod layers;
mod load;
mod loops;
mod overloaded_calls;
mod pace;
mod peaks;
mod pressure;
mod ramp;
mod recovery;
mod refusals;
mod row_ref;
mod run;
mod scope;
mod sender;
mod service;
mod short_window;
mod single_successes;
mod sorted;
mod spent;
mod starts;
mod tally;
mod terminal_failures;
#[cfg(test)]
mod tests;
mod time_buckets;
mod time_queue;
mod under_way;
mod waves;
mod worst_incidents;

pub use amplification::{Amplified, WaitGrowth, most_amplified, windows_over};
pub use answers::{AnswerSource, Answers, AnswersBy, AnswersWithoutEnd, EARLIEST};
pub use backoff::{
    Backoffs, EqualWaits, EqualWaitsCall, Jitter, LoopKey, LoopTally, MAX_STEPS, Schedule, Shape, Step, Waits,
};
pub use call_terms::CallTerms;
pub use cap::{CapKey, CapTally, CappedCalls, Holder};
pub use classes::{ClassTally, Classes, LastFailures};
pub use closed_windows::{GateTerms, IgnoredWindows};
pub use covered::Covered;
pub use failure_clusters::{FailureClusters, Incident, WorstIncidents};
pub use fanout::{Fanout, FanoutTerms};
pub use fleet::{Fleet, FleetStats};
pub use flow::{Flow, Flows};
pub use handling::{Handling, Handlings};
pub use headroom_exhaustion::{ExhaustionTerms, HeadroomExhaustion, Traffic, exhaustions};
pub use immediate_retries::{ImmediateRetries, LoopImmediateRetries};
pub use late::Late;
pub use layers::{LayerTally, Layering, Layers, sorted_layers};
pub use load::Load;
pub(crate) use loops::{Loops, Sign, loops_of};
pub use overloaded_calls::{OverloadedCall, OverloadedCalls};
pub use pace::{Pace, Paces, Quarter, SpeedKind};
pub use peaks::{MINUTE_US, Peak, PeakPoint, Peaks};
pub use pressure::{OverLimitPeriod, worst_over_limit};
pub use ramp::{Ramp, RampTerms};
pub use recovery::{MAX_RETRY_STEPS, NextSends, Recoveries, Recovery};
pub use refusals::{RefusalCount, Refusals};
pub use row_ref::RowRef;
pub use run::RunTally;
pub use scope::ScopeTally;
pub use sender::SenderTally;
pub use service::Service;
pub use short_window::{ShortWindow, Terms};
pub use spent::Spent;
pub use tally::Tally;
pub use terminal_failures::{MatchedBy, TerminalFailures, TerminalStreak};
pub use under_way::UnderWay;
pub use waves::{Train, WaveTerms};
