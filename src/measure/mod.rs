//! Summaries that merge: whatever a run or fleet rule, or a table of the report, needs to know.
//!
//! Every summary is built call by call, and two summaries of disjoint calls merge into the summary of both,
//! in any order. Nothing here looks back at a table of all attempts.

mod amplification;
mod backoff;
mod burst;
mod cap;
mod covered;
mod distinct;
mod doomed;
mod drain;
mod fanout;
mod fleet;
mod flow;
mod gate;
mod handling;
mod haste;
mod instants;
mod late;
mod lately;
mod layers;
mod load;
mod loops;
mod moments;
mod outbreak;
mod pace;
mod peaks;
mod pressure;
mod ramp;
mod recovery;
mod refusals;
mod run;
mod scope;
mod service;
mod shut;
mod spot;
mod starved;
mod tally;
#[cfg(test)]
mod tests;
mod under_way;
mod waves;

pub use amplification::{Amplified, Spacing, most_amplified, spans_over};
pub use backoff::{Backoffs, Jitter, LoopKey, LoopTally, MOST_STEPS, Schedule, Shape, Step, Waits};
pub use cap::{CapKey, CapTally, Capped, Holder};
pub use covered::Covered;
pub use doomed::{Alike, Doomed, Refused};
pub use drain::{Drain, DrainTerms, Traffic, drains};
pub use fanout::{Fanout, FanoutTerms};
pub use fleet::{Fleet, Sums};
pub use flow::{Flow, Flows};
pub use handling::{Handling, Handlings};
pub use haste::Haste;
pub(crate) use haste::OwnWait;
pub use instants::{Instants, Terms};
pub use late::{LATE, Late};
pub use layers::{LayerTally, Layering, Layers, sorted_layers};
pub use load::Load;
pub(crate) use loops::{Loops, Sign, loops_of};
pub use outbreak::{Incident, Outbreaks};
pub use pace::{Kind, Pace, Paces, Quarter};
pub use peaks::{MINUTE_US, Peak, PeakPoint, Peaks};
pub use pressure::{Pressed, most_pressed};
pub use ramp::{Ramp, RampTerms};
pub use recovery::{MOST_RETRIES, Recoveries, Recovery};
pub use refusals::{Refusal, Refusals};
pub use run::RunTally;
pub use scope::ScopeTally;
pub use service::Service;
pub use shut::{GateTerms, Ignored};
pub use spot::Spot;
pub use starved::{Starved, Starving};
pub use tally::{ClassTally, Tally};
pub use under_way::UnderWay;
pub use waves::{Train, WaveTerms};
