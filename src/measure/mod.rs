//! Summaries that merge: whatever a run or fleet rule, or a table of the report, needs to know.
//!
//! Every summary is built call by call, and two summaries of disjoint calls merge into the summary of both,
//! in any order. Nothing here looks back at a table of all attempts.

mod backoff;
mod burst;
mod cap;
mod doomed;
mod drain;
mod fleet;
mod flow;
mod gate;
mod handling;
mod haste;
mod moments;
mod pace;
mod run;
mod scope;
mod spot;
mod starved;
mod tally;
#[cfg(test)]
mod tests;
mod waves;

pub use backoff::{Backoffs, Jitter, LoopKey, LoopTally, MOST_STEPS, Schedule, Shape, Step, Waits};
pub use burst::{Fanout, FanoutTerms, Starts};
pub use cap::{CapKey, CapTally, Capped, Holder};
pub use doomed::{Alike, Doomed, Refused};
pub use drain::{Drain, DrainTerms, Traffic, drains};
pub use fleet::{Fleet, Sums};
pub use flow::{Flow, Flows};
pub use gate::{Gate, Shut, Standing};
pub use handling::{Handling, Handlings};
pub use haste::Haste;
pub(crate) use haste::OwnWait;
pub use pace::{Kind, Pace, Paces, Quarter};
pub use run::RunTally;
pub use scope::ScopeTally;
pub use spot::Spot;
pub use starved::{Starved, Starving};
pub use tally::{ClassTally, Tally};
pub use waves::{Train, WaveTerms, Waves};
